"""The counters behind `Node.stats()`."""

from __future__ import annotations

from mypy_extensions import i64


class Counters:
    """Counters of one engine; they only grow."""

    sent: i64  # messages accepted and handed to the core
    delivered: i64  # messages handed to the inbox
    datagrams_in: i64
    bytes_in: i64
    datagrams_out: i64
    bytes_out: i64
    stray: i64  # datagrams for unknown sessions
    refused: i64  # forged, damaged or replayed datagrams
    misbehaved: i64  # frames of authenticated peers that no correct process sends

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self.datagrams_in = 0
        self.bytes_in = 0
        self.datagrams_out = 0
        self.bytes_out = 0
        self.stray = 0
        self.refused = 0
        self.misbehaved = 0
