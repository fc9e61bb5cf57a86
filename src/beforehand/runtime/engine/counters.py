"""The counters behind `Node.stats()`."""

from mypy_extensions import i64


class Counters:
    """Counters of one engine; they only grow."""

    sent: i64 = 0  # messages accepted and handed to the core
    delivered: i64 = 0  # messages handed to the inbox
    datagrams_in: i64 = 0
    bytes_in: i64 = 0
    datagrams_out: i64 = 0
    bytes_out: i64 = 0
    stray: i64 = 0  # datagrams for unknown sessions
    refused: i64 = 0  # forged, damaged or replayed datagrams
    misbehaved: i64 = 0  # frames of authenticated peers that no correct process sends
