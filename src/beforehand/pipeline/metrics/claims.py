"""Table 1 of Almeida's hybrid-buffering paper as data: what it claims for each protocol.

n processes, i senders to a process and o receivers of it, b messages buffered, p permits missing, u
unacknowledged messages, r round trips of the sender to its peers. Space is in integers.
"""

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Claim:
    """A column of the paper's table."""

    protocol: str
    failures: str  # that it tolerates
    order: str  # that it needs from the network
    message_space: str
    process_space: str
    sender_work: str
    receiver_work: str
    noncausal: str  # where latency beyond what causal order needs arises, and how much
    in_transit: str
    liveness: str
    control: str  # control messages


# The table as printed: a row for each field of `Claim`, a column for each protocol.
_TABLE: Final = {
    "protocol": ("rst", "ks", "newtop", "mattern", "cykas", "hybrid"),
    "failures": ("reliable", "reliable", "reliable", "any", "reliable", "any"),
    "order": ("any", "FIFO", "FIFO", "any", "any", "any"),
    "message_space": ("O(n^2)", "O(n^2)", "O(1)", "O(1)", "O(1)", "O(1)"),
    "process_space": ("O(n^2 b)", "O(n^2 b)", "O(n+b)", "O(b)", "O(n o + b)", "O(i+o+b+p+u)"),
    "sender_work": ("O(1), O(n^2) to serialise", "O(n^2)", "O(1)", "O(1)", "O(n o)", "O(1)"),
    "receiver_work": ("O(n^2)", "O(n^2)", "O(n)", "O(1)", "O(1)", "O(1)"),
    "noncausal": (
        "no, 0",
        "no, 0",
        "receiver, unbounded",
        "sender, O(b r)",
        "sender, unbounded",
        "sender, O(r)",
    ),
    "in_transit": ("unlimited", "unlimited", "unlimited", "1", "1 per receiver", "unlimited"),
    "liveness": ("yes", "yes", "no", "yes", "no", "yes"),
    "control": ("no", "no", "no", "ACK", "ACK, YCT", "ACK, PERMIT"),
}
_COLUMNS: Final = [
    Claim(**dict(zip(_TABLE, column, strict=True))) for column in zip(*_TABLE.values(), strict=True)
]
CLAIMS: Final = (*_COLUMNS, replace(_COLUMNS[-1], protocol="hybrid-sps"))
