"""Causal broadcast on an overlay whose links come and go (Nédelec, Molli and Mostéfaoui).

Read `core.py` (joining, leaving, opening and closing, with the tables of
`links.py` and `opening.py`),
`link_memory.py` (the idea, with the memory of links in `expected.py`), `prc.py` (links that are
opened while messages are in flight) and `preventive.py` (the alternative with version vectors).
`frames.py` and `codec.py` are what travels, `checks.py` refuses what no correct peer could send.

A broadcast: `OverlayCore._broadcast`, `Prc._receive_relayed` at every process: `ExpectedCopies.receive`
decides whether this copy is the first; if so, it is forwarded over all links, then delivered.
"""
