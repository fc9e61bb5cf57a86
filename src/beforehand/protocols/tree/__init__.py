"""Causal order by topology alone: messages travel along a tree of FIFO links.

Read `core.py` (how messages travel), `routes.py` (who is behind which neighbour) over `topology.py` (the
tree at the start), then `slide.py` and `slides.py` (how a subtree moves while messages are on their
way); `frames.py` and `codec.py` are what travels, docs/tree.md explains why it is correct.
"""
