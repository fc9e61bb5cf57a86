"""Measurements of a run, in constant memory.

instruments.py   histogram, gauge, samples, and their summaries
meters.py        all counters and instruments of one run
noncausal.py     how much of a delivery's latency causal order did not require
"""
