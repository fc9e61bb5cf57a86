"""The counters behind `Node.stats()`."""

from mypy_extensions import i64


class Counters:
    """Counters of one engine; they only grow."""

    def __init__(self) -> None:
        self.sent: i64 = 0  # messages accepted and handed to the core
        self.delivered: i64 = 0  # messages handed to the inbox
        self.datagrams_in: i64 = 0
        self.bytes_in: i64 = 0
        self.datagrams_out: i64 = 0
        self.bytes_out: i64 = 0
        self.stray: i64 = 0  # datagrams for unknown sessions
        self.refused: i64 = 0  # forged, damaged or replayed datagrams
        self.misbehaved: i64 = 0  # frames of authenticated peers that no correct process sends
