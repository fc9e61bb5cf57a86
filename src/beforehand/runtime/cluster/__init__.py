"""A cluster of real processes on this machine, with injected faults, judged by the oracle.

`plan.py` decides from a seed who does what; `worker.py` runs in each process and sends what
`traffic.py` chooses, or acts in one of the `programs/`; `supervisor.py` and `child.py` are the parent,
which starts, kills and restarts processes; `verdict.py` merges their traces and has the oracle judge
them; `costs.py` measures latency and bytes.
"""
