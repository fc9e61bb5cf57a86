"""A cluster of real processes on this machine, with faults on purpose, and a verdict at the end.

`plan.py` decides from a seed who does what; `worker.py` is what runs in each process, `traffic.py` what
it sends; `child.py` and `conduct.py` are the parent, which starts, kills and restarts processes;
`verdict.py` puts their traces together and lets the oracle judge.
"""
