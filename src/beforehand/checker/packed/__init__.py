"""Worlds as rows of integers: the fast twin of `world.py`, expanded by loops that numba compiles.

From a real core to a successor:

- `program_events.py` numbers the steps of programs and ticks; `local_steps.py` runs each event once per
  local state on a copy of the real core, and remembers the outcome; `tables.py` turns outcomes into
  arrays.
- `world_row.py`: the layout of a row, and how a local step changes it.
- `enabled.py` lists the events that are enabled at a process; `successors.py` expands worlds, with
  partial-order reduction; `fingerprints.py` identifies a world up to renaming; `hash_tables.py` looks up
  local steps and visited fingerprints.
- `buffers.py`: the arrays that a worker fills, and the codes in them.
"""
