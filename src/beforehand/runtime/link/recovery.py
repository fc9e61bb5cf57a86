"""Loss detection and recovery (RFC 9002): what arrived, what is lost, when to probe, how much to send.

Packet numbers are used once and the peer acknowledges ranges of them. A packet is lost when a newer
one was acknowledged and the thresholds of `Reordering` are exceeded. When nothing is acknowledged at
all, a probe is sent after the probe timeout, which doubles each time, whatever the window allows.

Send times increase with the numbers, so whatever makes a packet lost makes all older packets lost:
only the oldest is ever examined. Packets that elicit no acknowledgement have a number but are not
tracked.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.link.congestion import Congestion
from beforehand.runtime.link.flight import Flight, Packet
from beforehand.runtime.link.pacing import Pacer
from beforehand.runtime.link.reordering import Loss, Reordering
from beforehand.runtime.link.rtt import MILLISECOND, Rtt

MAX_TIMEOUT: Final = 2_000 * MILLISECOND  # a peer that comes back is noticed within this time
MAX_DOUBLINGS: Final = 8  # of the shortest timeout, 11 ms: enough to exceed the longest
PERSISTENT: Final = 3  # timeouts without an acknowledgement: persistent congestion
SPURIOUS_WINDOW: Final = 2  # timeouts for which a loss may still prove spurious


class Recovery:
    """The sender's view of one path."""

    def __init__(self, datagram: int) -> None:
        self.packets_lost: i64 = 0
        self.packets_spurious: i64 = 0  # of these, how many arrived after all
        self.timeouts: i64 = 0
        self._next: i64 = 0  # number of the next packet
        self._largest: i64 = -1  # the largest number acknowledged, -1 for none
        # When the oldest packet will be lost; 0 if no newer one was acknowledged.
        self._loss_at: i64 = 0
        self._waiting_since: i64 = 0  # when the last ack-eliciting packet was sent or was due
        self._doublings: i64 = 0  # of the probe timeout
        # Peak bytes in flight in this round trip and in the previous one: is the window used?
        self._peak: i64 = 0
        self._peak_before: i64 = 0
        # A round trip ends when a packet with at least this number is acknowledged.
        self._round: i64 = 0
        self._first_sample: i64 = 0  # time of the first round-trip sample, 0 for none
        # When the first packet of the current run of losses was sent, or -1.
        self._silence_from: i64 = -1
        self.rtt = Rtt()
        self.congestion = Congestion(datagram)
        self.reordering = Reordering()
        self.lost: list[Packet] = []  # detected since `take_lost`
        self._pacer = Pacer(datagram)
        self._flight = Flight()
        self._pace()

    # ---- sending ----

    @property
    def in_flight(self) -> i64:
        """Bytes of ack-eliciting packets that are neither acknowledged nor lost."""
        return self._flight.size

    def sent(self, packet: Packet, now: i64) -> None:
        """Track a sent packet; numbers are consecutive from 0."""
        if packet.number != self._next:
            raise LocalProtocolError(
                f"packet {packet.number} cannot be sent now: the next number is {self._next}"
            )
        self._next += 1
        if not packet.eliciting:
            return
        flight = self._flight
        flight.add(packet)
        if flight.size > self._peak:
            self._peak = flight.size
        self._waiting_since = now
        self._pacer.sent(packet.size, now)

    def room(self, now: i64) -> i64:
        """How many bytes may be sent now; 0 or less for none."""
        free = self.congestion.window - self._flight.size
        if free <= 0:
            return free
        allowed = self._pacer.allowed(now)
        return allowed if allowed < free else free

    def when_room(self, now: i64) -> i64:
        """When pacing will allow a datagram, if only pacing prevents it; 0 otherwise."""
        if self.congestion.window <= self._flight.size:
            return 0
        return self._pacer.when(now)

    def oldest(self) -> Packet | None:
        """The oldest packet in flight: what a probe should retransmit."""
        return self._flight.oldest

    # ---- acknowledgements ----

    def acknowledged(self, ranges: list[tuple[int, int]], delay: i64, now: i64) -> list[Packet]:
        """The packets in flight that these ranges, newest first, newly acknowledge.

        `delay` is how long the peer waited after receiving the newest. Acknowledging packets that cannot
        have been received raises RemoteProtocolError and changes nothing.
        """
        self._check(ranges)
        known = self._largest
        if ranges and ranges[0][1] > known:
            self._largest = ranges[0][1]
        acked = self._flight.take(ranges)
        if self.reordering.losses and ranges:
            self._undo_spurious(ranges, known, now)
        if acked:
            newest = acked[-1]
            if newest.number == self._largest:
                self._sample(now - newest.sent_at, delay, now)
            if acked[0].number < known:
                self.reordering.came_late(known - acked[0].number)
            self.reordering.passed(len(acked))
            self._doublings = 0
            self._grow(acked)
        if acked or self._largest > known:
            self._find_lost(now)
            self._pace()
        return acked

    def _check(self, ranges: list[tuple[int, int]]) -> None:
        """Raise RemoteProtocolError unless these ranges are in order and were all sent."""
        below: i64 = self._next
        for first, last in ranges:
            if last >= self._next:
                raise RemoteProtocolError("", f"acknowledges packet {last}, which was never sent")
            if last >= below or first > last or first < 0:
                raise RemoteProtocolError(
                    "", f"acknowledges packets {first} to {last}, which is out of order"
                )
            below = first

    def _undo_spurious(self, ranges: list[tuple[int, int]], known: i64, now: i64) -> None:
        """Some packets that were declared lost may have arrived after all."""
        rtt, reordering = self.rtt, self.reordering
        for loss in reordering.spurious(ranges, now - SPURIOUS_WINDOW * rtt.timeout()):
            self.packets_spurious += 1
            self._silence_from = -1
            excess = now - loss.sent_at - rtt.patience() - reordering.slack
            reordering.adapt(known - loss.number, excess, rtt.most_slack())
            self.congestion.undo_loss(loss.event)

    def _sample(self, elapsed: i64, delay: i64, now: i64) -> None:
        self.rtt.sample(elapsed, delay)
        if self._first_sample == 0:
            self._first_sample = now

    def _grow(self, acked: list[Packet]) -> None:
        """Let the window grow, if it was used."""
        congestion = self.congestion
        if congestion.used(max(self._peak, self._peak_before)):
            size: i64 = 0
            for packet in acked:
                if packet.sent_at > congestion.shrunk_at:
                    size += packet.size
            congestion.grow(size)
        if self._largest >= self._round:
            self._round = self._next
            self._peak_before = self._peak
            self._peak = self._flight.size

    def _pace(self) -> None:
        congestion = self.congestion
        self._pacer.set_rate(congestion.window, self.rtt.smoothed, congestion.in_slow_start())

    # ---- losses ----

    def take_lost(self) -> list[Packet]:
        """The packets declared lost since the last call."""
        lost = self.lost
        self.lost = []
        return lost

    def timer(self) -> i64:
        """When `expired` must be called; 0 for never."""
        if self._loss_at != 0:
            return self._loss_at
        if self._flight.oldest is None:
            return 0
        timeout = self.rtt.timeout() << self._doublings
        return self._waiting_since + (timeout if timeout < MAX_TIMEOUT else MAX_TIMEOUT)

    def expired(self, now: i64) -> bool:
        """Handle the timer; True if one or two ack-eliciting probes must be sent at once."""
        when = self.timer()
        if when == 0 or now < when:
            return False
        if self._loss_at != 0:
            self._find_lost(now)
            self._pace()
            return False
        self.timeouts += 1
        if self._doublings < MAX_DOUBLINGS:
            self._doublings += 1
        self._waiting_since = now
        return True

    def _find_lost(self, now: i64) -> None:
        """Move packets that are lost by now from the flight to `lost`."""
        patience = self.rtt.patience() + self.reordering.slack
        overtaken = self._largest - self.reordering.packets
        known: i64 = len(self.lost)
        silence: i64 = 0
        while True:
            packet = self._flight.oldest
            if packet is None or packet.number > self._largest:
                self._loss_at = 0
                break
            if packet.number > overtaken and packet.sent_at + patience > now:
                self._loss_at = packet.sent_at + patience
                break
            self._flight.lose(packet)
            self.lost.append(packet)
            silence = max(silence, self._silence(packet))
        if len(self.lost) > known:
            self._react(known, now)
            if silence > PERSISTENT * self.rtt.timeout():
                self.congestion.collapse()
                self._silence_from = -1

    def _silence(self, packet: Packet) -> i64:
        """How long everything sent was lost, up to this packet."""
        if packet.after_acked or self._silence_from < 0:
            self._silence_from = packet.sent_at
        # Without a sample there is nothing to compare with.
        if self._first_sample == 0 or self._silence_from < self._first_sample:
            return 0
        return packet.sent_at - self._silence_from

    def _react(self, known: i64, now: i64) -> None:
        """Shrink the window for the losses from an index on, and remember them."""
        count: i64 = len(self.lost) - known
        self.packets_lost += count
        self.congestion.lost(count, self.lost[-1].sent_at, now)
        event = self.congestion.event
        for packet in self.lost[known:]:
            self.reordering.remember(Loss(packet.number, packet.sent_at, now, event))
