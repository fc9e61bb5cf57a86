"""The auditor's loops over plain arrays of integers, compiled by numba.

Processes are numbered 0, 1, 2, ... and so are the messages of a run, sender by sender in the order of
their sending: `base` holds where those of each sender begin. Events are causal-sends and deliveries,
process by process in the order of each: `start` holds where those of each process begin, and an event is
the number of its message, or the complement of that for a delivery. Steps are the same events in an
order in which every message is sent before it is delivered. `arrays.py` declares both, and then in the
order in which they run: `assembly.py`, `linearise.py`, `clocks.py`, `chains.py`.
"""
