"""The packets in flight: a linked list from the oldest to the newest unacknowledged packet.

Acknowledged packets leave the list anywhere, but mostly near its old end; lost ones only at the very
end. So the cost of an acknowledgement is what it newly acknowledges, its ranges, and the few packets
that were overtaken but not yet declared lost, however many are in flight.
"""

from __future__ import annotations

from mypy_extensions import i64


class Packet:
    """A packet that was sent."""

    def __init__(
        self, number: i64, sent_at: i64, size: i64, eliciting: bool, content: list[bytes]
    ) -> None:
        # The newest packet of the peer that it acknowledges, -1 for none.
        self.largest_acked: i64 = -1
        self.newer: Packet | None = None  # the next packet in flight
        # A packet sent after the previous one in flight was acknowledged.
        self.after_acked: bool = False
        self.number = number
        self.sent_at = sent_at
        self.size = size
        self.eliciting = eliciting  # must be acknowledged
        self.content = content  # frames to retransmit if it is lost


class Flight:
    """The packets that are neither acknowledged nor lost."""

    def __init__(self) -> None:
        self.oldest: Packet | None = None
        self.size: i64 = 0  # bytes of all of them
        self._newest: Packet | None = None
        self._acked_last: bool = False  # a packet sent after the newest in flight was acknowledged

    def add(self, packet: Packet) -> None:
        """Append a packet, newer than all others."""
        newest = self._newest
        if newest is None:
            self.oldest = packet
        else:
            newest.newer = packet
        self._newest = packet
        self.size += packet.size
        packet.after_acked = self._acked_last
        self._acked_last = False

    def take(self, ranges: list[tuple[int, int]]) -> list[Packet]:
        """Remove and return the packets in these ranges (newest range first), oldest packet first."""
        taken: list[Packet] = []
        first: i64 = 0
        last: i64 = -1
        index: i64 = len(ranges)
        before: Packet | None = None
        packet = self.oldest
        while packet is not None:
            while packet.number > last:
                if index == 0:
                    return taken
                index -= 1
                first, last = ranges[index]
            newer = packet.newer
            if packet.number < first:
                before = packet
            else:
                taken.append(packet)
                self._unlink(packet, before)
                if newer is None:
                    self._acked_last = True
                else:
                    newer.after_acked = True
            packet = newer
        return taken

    def lose(self, packet: Packet) -> None:
        """Remove the oldest packet, which is lost."""
        self._unlink(packet, None)

    def _unlink(self, packet: Packet, before: Packet | None) -> None:
        newer = packet.newer
        packet.newer = None
        self.size -= packet.size
        if before is None:
            self.oldest = newer
        else:
            before.newer = newer
        if newer is None:
            self._newest = before
