"""Reordering thresholds: how late a packet may be before it is declared lost, learned from mistakes.

A packet is declared lost when enough packets sent later have arrived, or enough time after one of
them. Both thresholds start as in RFC 9002: 3 packets, and 9/8 of a round trip (`Rtt.patience`). On a
network that reorders, these would be wrong again and again. So losses are remembered for a while, and
one that arrives after all (a spurious loss) raises the thresholds half way to where it would not have
been declared lost, so that a single outlier does not count too much.

The thresholds decay slowly: every few thousand packets, by an eighth of the distance to what the
packets of that period needed.
"""

from typing import Final

from mypy_extensions import i64

FEWEST_PACKETS: Final = 3
MAX_PACKETS: Final = 128  # also bounds how many packets in flight an ack examines
PERIOD: Final = 4096  # acknowledged packets; one spurious loss in so many is harmless
MAX_REMEMBERED: Final = 128  # losses; more at once are not reordering


class Loss:
    """A packet that was declared lost."""

    def __init__(self, number: i64, sent_at: i64, detected_at: i64, event: i64) -> None:
        self.number: Final = number
        self.sent_at: Final = sent_at
        self.detected_at: Final = detected_at
        self.event: Final = event  # of the congestion window


class Reordering:
    """The thresholds of one path, and the losses that may still prove spurious."""

    def __init__(self) -> None:
        # One is lost once a number higher by this much has arrived.
        self.packets: i64 = FEWEST_PACKETS
        self.slack: i64 = 0  # nanoseconds added to the usual time threshold
        self._widest: i64 = 0  # the largest distance by which a packet of this period was late
        self._slow: bool = False  # a packet of this period exceeded the time threshold
        self._left: i64 = PERIOD  # packets of this period still to come
        self.losses: list[Loss] = []  # by number, which is also the order of detection

    def remember(self, loss: Loss) -> None:
        """Record a loss; numbers increase."""
        if len(self.losses) >= MAX_REMEMBERED:
            del self.losses[0]
        self.losses.append(loss)

    def spurious(self, ranges: list[tuple[int, int]], since: i64) -> list[Loss]:
        """The losses that these acknowledgements disprove; those older than `since` are forgotten."""
        spurious: list[Loss] = []
        kept: list[Loss] = []
        index: i64 = len(ranges) - 1
        for loss in self.losses:
            while index > 0 and ranges[index][1] < loss.number:
                index -= 1
            if ranges[index][0] <= loss.number <= ranges[index][1]:
                spurious.append(loss)
            elif loss.detected_at >= since:
                kept.append(loss)
        self.losses = kept
        return spurious

    def adapt(self, distance: i64, excess: i64, most_slack: i64) -> None:
        """Raise the thresholds for a spurious loss: `distance` numbers late, `excess` ns over."""
        self.came_late(distance)
        needed = distance + 1
        if needed > MAX_PACKETS:
            needed = MAX_PACKETS
        if needed > self.packets:
            self.packets += (needed - self.packets + 1) >> 1
        if excess > 0:
            self._slow = True
            self.slack = min(self.slack + ((excess + 1) >> 1), most_slack)

    def came_late(self, distance: i64) -> None:
        """A packet arrived after one with a number higher by `distance`."""
        if distance > self._widest:
            self._widest = distance

    def passed(self, count: i64) -> None:
        """Count acknowledged packets; at the end of a period, let the thresholds decay."""
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
