"""The search through all reachable worlds, in reading order.

- `search.py`: the loop. Take a block of worlds, expand it, run missing local steps, keep what is new.
- `frontier.py`: worlds yet to be expanded; `visited.py`: fingerprints of those seen;
  `predecessors.py`: how each was first reached, to reconstruct the shortest run to a problem.
- `reductions/`: symmetry, and where partial-order reduction happens.
- `partition.py`: a program split into parts that Spark tasks explore separately.
- `estimate.py`: how large an exploration will be, extrapolated from small ones.
- `gc_control.py`: keeps Python's garbage collector away from the states that stay.
"""
