"""Reductions: fewer states to visit, the same verdict.

- `symmetry.py`: the renamings of processes that map a program onto itself; states that are renamings of
  each other count as one.
- `images.py`: the images of local states and frames under those renamings, learnt by running both.

Partial-order reduction (postponing silent steps) is part of expanding a world: `packed/successors.py`.
"""
