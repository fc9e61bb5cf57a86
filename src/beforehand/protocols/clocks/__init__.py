"""Protocols that release at once and make the receiver wait, by clocks of a fixed membership.

`membership.py` numbers the processes, `holdback.py` is the hold-back queue, and `core.py` has what
three of the protocols share. `vector.py` (vector clocks) is the one to read first; `rst.py` (matrix
clocks) has unicast and multicast too; `ks.py` sends only the dependencies that matter (`ks_log.py`)
and needs a flush when a peer is dropped (`ks_flush.py`); `newtop.py` makes do with Lamport clocks.
The codecs are in `codec.py` and `ks_codec.py`.
"""
