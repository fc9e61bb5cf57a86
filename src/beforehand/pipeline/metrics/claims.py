"""Table 1 of Almeida's hybrid-buffering paper as data: what it claims for each protocol.

n processes, i senders to a process and o receivers of it, b messages buffered, p permits missing, u
unacknowledged messages, r round trips of the sender to its peers. Space is in integers.
"""

from __future__ import annotations

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


_NONE: Final = "no, 0"
_HYBRID: Final = Claim(
    protocol="hybrid",
    failures="any",
    order="any",
    message_space="O(1)",
    process_space="O(i+o+b+p+u)",
    sender_work="O(1)",
    receiver_work="O(1)",
    noncausal="sender, O(r)",
    in_transit="unlimited",
    liveness="yes",
    control="ACK, PERMIT",
)

CLAIMS: Final = (
    Claim(
        protocol="rst",
        failures="reliable",
        order="any",
        message_space="O(n^2)",
        process_space="O(n^2 b)",
        sender_work="O(1), O(n^2) to serialise",
        receiver_work="O(n^2)",
        noncausal=_NONE,
        in_transit="unlimited",
        liveness="yes",
        control="no",
    ),
    Claim(
        protocol="ks",
        failures="reliable",
        order="FIFO",
        message_space="O(n^2)",
        process_space="O(n^2 b)",
        sender_work="O(n^2)",
        receiver_work="O(n^2)",
        noncausal=_NONE,
        in_transit="unlimited",
        liveness="yes",
        control="no",
    ),
    Claim(
        protocol="newtop",
        failures="reliable",
        order="FIFO",
        message_space="O(1)",
        process_space="O(n+b)",
        sender_work="O(1)",
        receiver_work="O(n)",
        noncausal="receiver, unbounded",
        in_transit="unlimited",
        liveness="no",
        control="no",
    ),
    Claim(
        protocol="mattern",
        failures="any",
        order="any",
        message_space="O(1)",
        process_space="O(b)",
        sender_work="O(1)",
        receiver_work="O(1)",
        noncausal="sender, O(b r)",
        in_transit="1",
        liveness="yes",
        control="ACK",
    ),
    Claim(
        protocol="cykas",
        failures="reliable",
        order="any",
        message_space="O(1)",
        process_space="O(n o + b)",
        sender_work="O(n o)",
        receiver_work="O(1)",
        noncausal="sender, unbounded",
        in_transit="1 per receiver",
        liveness="no",
        control="ACK, YCT",
    ),
    _HYBRID,
    replace(_HYBRID, protocol="hybrid-sps"),
)
