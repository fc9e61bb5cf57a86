"""Hybrid buffering (Almeida): messages wait at their sender for permits, at their receiver for FIFO.

Read `core.py` (the algorithm that the variants share), then `csps.py` and `sps.py` (which copies may be
released, and how far permits reach), then `records.py` (peers, runs of messages and their copies),
`frames.py` (message, ack, permit, and their bytes) and `checks.py` (what no correct peer could send).

A message: `HybridCore._send_to` puts it into a run, `_release` transmits it once the permits it depends
on have come, `_receive_message` delivers it in FIFO order and owes an ack, `_receive_ack` closes its
copy, and `_shrink` grants the permits that became due.
"""
