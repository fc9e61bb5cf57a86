"""What is claimed: Table 1 of Almeida, "Hybrid Buffering" (paper 000), as data.

n processes, i senders to a process and o receivers of it, b messages buffered, p permits missing, u
unacknowledged messages, r round trips of the sender to its peers. Space is in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Claim:
    """A column of the paper's table."""

    protocol: str
    failures: str  # that the network may have
    order: str  # that the network must keep
    message_space: str
    process_space: str
    sender_work: str
    receiver_work: str
    noncausal: str  # where latency that causal order does not ask for is caused, and how much
    in_transit: str
    liveness: str
    control: str  # messages besides the application's


_THIS_PAPER: Final = (
    *("any", "any", "O(1)", "O(i+o+b+p+u)", "O(1)", "O(1)"),
    *("sender, O(r)", "unlimited", "yes", "ACK, PERMIT"),
)
_NONE: Final = "no, 0"

CLAIMS: Final = (
    Claim(
        *("rst", "reliable", "any", "O(n^2)", "O(n^2 b)", "O(1), O(n^2) to serialise", "O(n^2)"),
        *(_NONE, "unlimited", "yes", "no"),
    ),
    Claim(
        *("ks", "reliable", "FIFO", "O(n^2)", "O(n^2 b)", "O(n^2)", "O(n^2)"),
        *(_NONE, "unlimited", "yes", "no"),
    ),
    Claim(
        *("newtop", "reliable", "FIFO", "O(1)", "O(n+b)", "O(1)", "O(n)"),
        *("receiver, unbounded", "unlimited", "no", "no"),
    ),
    Claim(
        *("mattern", "any", "any", "O(1)", "O(b)", "O(1)", "O(1)"),
        *("sender, O(b r)", "1", "yes", "ACK"),
    ),
    Claim(
        *("cykas", "reliable", "any", "O(1)", "O(n o + b)", "O(n o)", "O(1)"),
        *("sender, unbounded", "1 per receiver", "no", "ACK, YCT"),
    ),
    Claim("hybrid", *_THIS_PAPER),
    Claim("hybrid-sps", *_THIS_PAPER),
)
