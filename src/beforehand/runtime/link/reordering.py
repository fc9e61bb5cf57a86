"""How late a packet may be before it counts as lost, learned from the losses that were none.

A packet is lost when some number of packets sent later have arrived, or some time after one of them
has. Both limits start as in RFC 9002: 3 packets, 9/8 of a round trip (`Rtt.patience`) and no more. On
a network that reorders they would be wrong again and again. So lost packets are remembered for a
while. One that arrives after all raises the limits: half the way to where it would not have been a
loss, so that a single odd packet does not count too much.

The limits come down slowly again: after every few thousand packets, by an eighth of the way towards
what was needed for the latest of these packets.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

FEWEST_PACKETS: Final = 3
MOST_PACKETS: Final = 128  # also bounds how many packets in flight a single ack looks at
PERIOD: Final = 4096  # packets acknowledged; one mistake in so many costs nothing
MOST_REMEMBERED: Final = 128  # losses; when more are lost at once, they are no mistakes


class Loss:
    """A packet that counts as lost."""

    __slots__ = ("found_at", "number", "sent_at", "spell")
    number: Final[i64]
    sent_at: Final[i64]
    found_at: Final[i64]
    spell: Final[i64]  # of the congestion window

    def __init__(self, number: i64, sent_at: i64, found_at: i64, spell: i64) -> None:
        self.number = number
        self.sent_at = sent_at
        self.found_at = found_at
        self.spell = spell


class Reordering:
    """The limits for one path, and the losses that may still prove to be mistakes."""

    packets: i64  # a packet is lost when one with a number higher by this much has arrived
    slack: i64  # nanoseconds that it may take in addition to the usual patience
    losses: list[Loss]  # by number, which is also the order in which they were found
    _widest: i64  # by how many numbers a packet of this period came late, at most
    _slow: bool  # a packet of this period needed more time than was allowed
    _left: i64  # packets of this period still to come

    def __init__(self) -> None:
        self.packets = FEWEST_PACKETS
        self.slack = 0
        self.losses = []
        self._widest = 0
        self._slow = False
        self._left = PERIOD

    def remember(self, loss: Loss) -> None:
        """A packet with a higher number than all before was found lost."""
        if len(self.losses) >= MOST_REMEMBERED:
            del self.losses[0]
        self.losses.append(loss)

    def mistakes(self, ranges: list[tuple[int, int]], since: i64) -> list[Loss]:
        """The losses that these acknowledgements disprove; those found before `since` are forgotten."""
        found: list[Loss] = []
        kept: list[Loss] = []
        index: i64 = len(ranges) - 1
        for loss in self.losses:
            while index > 0 and ranges[index][1] < loss.number:
                index -= 1
            if ranges[index][0] <= loss.number <= ranges[index][1]:
                found.append(loss)
            elif loss.found_at >= since:
                kept.append(loss)
        self.losses = kept
        return found

    def mistake(self, distance: i64, excess: i64, most_slack: i64) -> None:
        """A lost packet came after all, so many numbers late, in so much more time than allowed."""
        self.came_late(distance)
        needed = distance + 1
        if needed > MOST_PACKETS:
            needed = MOST_PACKETS
        if needed > self.packets:
            self.packets += (needed - self.packets + 1) >> 1
        if excess > 0:
            self._slow = True
            self.slack = min(self.slack + ((excess + 1) >> 1), most_slack)

    def came_late(self, distance: i64) -> None:
        """A packet came when one with a number higher by this much had come already."""
        if distance > self._widest:
            self._widest = distance

    def passed(self, count: i64) -> None:
        """That many packets were acknowledged: a period may be over."""
        self._left -= count
        if self._left > 0:
            return
        needed = max(self._widest + 1, FEWEST_PACKETS)
        if self.packets > needed:
            self.packets -= (self.packets - needed + 7) >> 3
        if not self._slow:
            self.slack -= (self.slack + 7) >> 3
        self._left = PERIOD
        self._widest = 0
        self._slow = False
