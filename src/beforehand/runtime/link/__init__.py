"""One session with one peer: frames in, sealed datagrams out, over a network that loses and reorders.

In reading order: `link.py` queues frames and packs them into datagrams; `sealing.py` encrypts their
bodies; `received.py` records what arrived; `recovery.py` finds losses, with `flight.py` (packets in
flight), `rtt.py`, `reordering.py`, `congestion.py` and `pacing.py`; `fragments.py` splits what is
larger than a datagram; `frames.py` has the link's own frames, `datagrams.py` the header.

A frame is queued by `Link.post`, leaves in a packet of `Link.write`, and is opened on the other side
by `Link.open`. If its packet is lost, it is queued again.
"""
