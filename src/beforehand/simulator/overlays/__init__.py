"""Overlays: which processes are neighbours, for protocols that relay messages.

layouts.py         the links at the start of a run, from the name of an overlay
churn.py           the syntax of changes: churn, opened and closed links, new parents
dynamics.py        the changes during a run: the cores open and close the links
peer_sampling.py   which neighbours two processes exchange
"""
