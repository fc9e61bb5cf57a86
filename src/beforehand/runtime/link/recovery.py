"""Which packets got there and which are lost, when to ask, and how much may be sent (RFC 9002).

Packet numbers are used once and the peer acknowledges ranges of them. A packet is lost when a newer
one was acknowledged and the limits of `Reordering` are exceeded. When nothing comes back at all there
is no telling what is lost: after the probe timeout, which doubles each time, something is sent to
provoke an answer, whatever the window says.

Send times grow with the numbers, so whatever makes a packet lost makes all older ones in flight lost:
only the oldest is ever looked at. Packets that want no acknowledgement have a number, but nobody
waits for them: they are not kept.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.link.congestion import Congestion
from beforehand.runtime.link.flight import Flight, Packet
from beforehand.runtime.link.pacing import Pacer
from beforehand.runtime.link.reordering import Loss, Reordering
from beforehand.runtime.link.rtt import MILLISECOND, Rtt

__all__ = ["Packet", "Recovery"]

MAX_TIMEOUT: Final = 2_000 * MILLISECOND  # a peer that comes back is found within that time
MOST_DOUBLINGS: Final = 8  # from the shortest timeout, 11 ms, these lead beyond the longest
PERSISTENT: Final = 3  # timeouts in which nothing got through: persistent congestion
MEMORY: Final = 2  # timeouts for which a loss may still prove to be a mistake


class Recovery:
    """The sender's view of one path."""

    rtt: Rtt
    congestion: Congestion
    reordering: Reordering
    lost: list[Packet]  # found since `take_lost`
    packets_lost: i64
    packets_spurious: i64  # of these, how many came after all
    timeouts: i64
    _pacer: Pacer
    _next: i64  # number of the next packet
    _largest: i64  # the largest number acknowledged, -1 for none
    _flight: Flight
    _loss_at: i64  # when the oldest packet will be lost, 0 if no newer one has been acknowledged
    _waiting_since: i64  # the last time that something went out to be acknowledged, or should have
    _doublings: i64  # of the probe timeout
    # Is the window used? Bytes in flight at most, in this round trip and in the one before.
    _peak: i64
    _peak_before: i64
    _round: i64  # the round trip is over when a packet from this number on is acknowledged
    _first_sample: i64  # when the round trip was first known, 0: not yet
    _silence_from: i64  # send time of the first of the latest lost packets in a row, -1 for none

    def __init__(self, datagram: int) -> None:
        self.rtt = Rtt()
        self.congestion = Congestion(datagram)
        self.reordering = Reordering()
        self.lost = []
        self.packets_lost = 0
        self.packets_spurious = 0
        self.timeouts = 0
        self._pacer = Pacer(datagram)
        self._next = 0
        self._largest = -1
        self._flight = Flight()
        self._loss_at = 0
        self._waiting_since = 0
        self._doublings = 0
        self._peak = 0
        self._peak_before = 0
        self._round = 0
        self._first_sample = 0
        self._silence_from = -1
        self._pace()

    # ---- sending ----

    @property
    def in_flight(self) -> i64:
        """Bytes of packets that want an acknowledgement and are neither acknowledged nor lost."""
        return self._flight.size

    def sent(self, packet: Packet, now: i64) -> None:
        """A packet goes out; numbers follow each other from 0."""
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
        """When there will be room for a datagram if only pacing is in the way; 0 otherwise."""
        if self.congestion.window <= self._flight.size:
            return 0
        return self._pacer.when(now)

    def oldest(self) -> Packet | None:
        """The oldest packet in flight: what a probe should carry again."""
        return self._flight.oldest

    # ---- acknowledgements ----

    def acknowledged(self, ranges: list[tuple[int, int]], delay: i64, now: i64) -> list[Packet]:
        """The packets in flight that these ranges, newest first, newly acknowledge.

        The peer sent the acknowledgement `delay` after it got the newest of them. What no peer can have
        received raises RemoteProtocolError and changes nothing.
        """
        self._check(ranges)
        known = self._largest
        if ranges and ranges[0][1] > known:
            self._largest = ranges[0][1]
        acked = self._flight.take(ranges)
        if self.reordering.losses and ranges:
            self._admit_mistakes(ranges, known, now)
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
        """Raise RemoteProtocolError unless the peer can have received all of these."""
        below: i64 = self._next
        for first, last in ranges:
            if last >= self._next:
                raise RemoteProtocolError("", f"acknowledges packet {last}, which was never sent")
            if last >= below or first > last or first < 0:
                raise RemoteProtocolError(
                    "", f"acknowledges packets {first} to {last}, which is out of order"
                )
            below = first

    def _admit_mistakes(self, ranges: list[tuple[int, int]], known: i64, now: i64) -> None:
        """Some packets that were found lost may have come after all."""
        rtt, reordering = self.rtt, self.reordering
        for loss in reordering.mistakes(ranges, now - MEMORY * rtt.timeout()):
            self.packets_spurious += 1
            self._silence_from = -1
            excess = now - loss.sent_at - rtt.patience() - reordering.slack
            reordering.mistake(known - loss.number, excess, rtt.most_slack())
            self.congestion.mistaken(loss.spell)

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
        self._pacer.set_rate(congestion.window, self.rtt.smoothed, congestion.starting())

    # ---- losses ----

    def take_lost(self) -> list[Packet]:
        """The packets that were found lost since the last call."""
        lost = self.lost
        self.lost = []
        return lost

    def timer(self) -> i64:
        """When `expired` wants to be called; 0 for never."""
        if self._loss_at != 0:
            return self._loss_at
        if self._flight.oldest is None:
            return 0
        timeout = self.rtt.timeout() << self._doublings
        return self._waiting_since + (timeout if timeout < MAX_TIMEOUT else MAX_TIMEOUT)

    def expired(self, now: i64) -> bool:
        """Time has passed. True: send one or two packets that want an acknowledgement, at once."""
        when = self.timer()
        if when == 0 or now < when:
            return False
        if self._loss_at != 0:
            self._find_lost(now)
            self._pace()
            return False
        self.timeouts += 1
        if self._doublings < MOST_DOUBLINGS:
            self._doublings += 1
        self._waiting_since = now
        return True

    def _find_lost(self, now: i64) -> None:
        """Move what is lost by now from the flight to `lost`."""
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
        """For how long everything that was sent got lost, up to a packet that is lost now."""
        if packet.after_acked or self._silence_from < 0:
            self._silence_from = packet.sent_at
        # Before the first sample nobody knows what is long.
        if self._first_sample == 0 or self._silence_from < self._first_sample:
            return 0
        return packet.sent_at - self._silence_from

    def _react(self, known: i64, now: i64) -> None:
        """Shrink the window for the losses from an index on, and remember them."""
        found: i64 = len(self.lost) - known
        self.packets_lost += found
        self.congestion.lost(found, self.lost[-1].sent_at, now)
        spell = self.congestion.spell
        for packet in self.lost[known:]:
            self.reordering.remember(Loss(packet.number, packet.sent_at, now, spell))
