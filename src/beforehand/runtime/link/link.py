"""One session with one incarnation of a peer: reliable, unordered delivery of frames.

Frames wait in a queue until the congestion window has room. A datagram carries as many as fit, gets a
packet number and is sealed; the other side acknowledges packet numbers. The frames of a lost packet
are retransmitted in a new packet with a new number, so a packet number that arrives twice is a replay
and is ignored.

Acknowledgements and credit are piggybacked on whatever is written at the end of an event-loop turn.
Acknowledgements of control frames may be delayed a little, in the hope of a packet to ride on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.link.datagrams import DATA, HEADER
from beforehand.runtime.link.flight import Packet
from beforehand.runtime.link.fragments import Reassembly, fragment_frames
from beforehand.runtime.link.frames import MAX_RANGES, PING_FRAME, ack_frame
from beforehand.runtime.link.received import Received
from beforehand.runtime.link.recovery import Recovery
from beforehand.runtime.link.sealing import Opener, Sealer
from beforehand.wire import codec

PIGGYBACK: Final = 96  # bytes of a datagram reserved for ack, credit and permits
MAX_ACK_DELAY: Final = 5_000_000  # ns that the ack of a control frame may be delayed
REPLAY_WINDOW: Final = 256  # packet numbers by which a packet may be late and still be accepted
MIN_TIMER: Final = 1_000_000  # ns: event loops have no finer ones, and overdue ones must not spin
MAX_BURST: Final = 256  # datagrams per turn to one peer, so that other peers get their turn

# Urgency of the acknowledgement that is owed to the peer:
NOTHING: Final = 0
LATER: Final = 1  # may be delayed by MAX_ACK_DELAY
NOW: Final = 2  # due at the end of this turn


class Link:
    """The sending and the receiving end of a session."""

    def __init__(
        self,
        connection: bytes,
        theirs: bytes,
        address: Hashable,
        sealer: Sealer,
        opener: Opener,
        datagram: int,
        limit: int,
        *,
        preferred: bool,
        now: i64,
    ) -> None:
        self.next_number: i64 = 0
        self.fragmented: i64 = 0  # frames sent in fragments so far
        self.waiting: i64 = 0  # bytes in all three queues
        self.ack_owed: i64 = NOTHING
        self.ack_deadline: i64 = 0
        self.probes: i64 = 0  # packets to send regardless of the window
        self.silent: bool = False
        self.closed: bool = False
        self.scheduled: i64 = 0  # when the engine's timer for this link expires, 0 for no timer
        self.dirty: bool = False  # listed in the engine's links to write
        self.resent: i64 = 0  # frames sent more than once
        self.connection: Final = connection  # the connection id in datagrams to us
        self.prefix: Final = bytes([DATA]) + theirs  # the start of every datagram we send
        self.preferred: Final = preferred  # of two sessions with one peer, both sides keep this one
        self.address = address
        self.sealer = sealer
        self.opener = opener
        self.recovery = Recovery(datagram)
        self.received = Received()
        self.reassembly = Reassembly(limit)
        self.room: Final[i64] = datagram - HEADER - sealer.overhead  # bytes of frames in a datagram
        # Encoded frames to send, in order of priority:
        self.urgent: deque[bytes] = deque()  # small ones that unblock the peer: acks, permits
        self.retransmits: deque[bytes] = deque()  # frames of lost packets
        self.queue: deque[bytes] = deque()  # everything else
        self.arrived_at = now  # when the newest packet arrived
        self.heard_at = now
        self.sent_at = now

    # ---- sending ----

    def post(self, frame: Frame) -> None:
        """Queue a frame of the core."""
        count = frame.messages()
        if count == 0:
            self.post_urgent(codec.encode(frame))
        elif count == 1:
            self.post_bytes(codec.encode(frame))
        else:
            for part in frame.split_to_fit(self.room - PIGGYBACK):
                self.post_bytes(codec.encode(part))

    def post_urgent(self, frame: bytes) -> None:
        """Queue an encoded frame ahead of the others, if it is small enough to be piggybacked."""
        if len(frame) > PIGGYBACK:
            self.post_bytes(frame)
            return
        self.urgent.append(frame)
        self.waiting += len(frame)

    def post_bytes(self, frame: bytes) -> None:
        """Queue an encoded frame, in fragments if it doesn't fit into a datagram."""
        most = self.room - PIGGYBACK
        if len(frame) <= most:
            self.queue.append(frame)
            self.waiting += len(frame)
            return
        self.fragmented += 1
        for fragment in fragment_frames(self.fragmented, frame, most):
            self.queue.append(fragment)
            self.waiting += len(fragment)

    def write(self, now: i64, most: i64 = MAX_BURST) -> list[bytes]:
        """The datagrams that may be sent now, with the acknowledgement that is owed."""
        out: list[bytes] = []
        # Equal lengths travel in one system call, so later datagrams are padded if that costs little.
        target: i64 = 0
        while self.has_frames() and len(out) < most:
            if self.probes == 0 and self.recovery.room(now) <= 0:
                break
            ack = self._ack(now) if not out else b""
            content, size = self._gather(self.room - len(ack))
            if content and self.probes > 0:
                self.probes -= 1
            padding: i64 = 0
            if out and size < target and target - size <= target >> 4:
                padding = target - size
            elif not out:
                target = size + len(ack)
            out.append(self._packet(ack, content, padding, now))
        if self.probes > 0 and not out:
            self.probes = 0
            out.append(self._packet(self._ack(now), [PING_FRAME], 0, now))
        if self.ack_owed == NOW and not out:
            out.append(self._packet(self._ack(now), NO_FRAMES, 0, now))
        return out

    def _gather(self, room: i64) -> tuple[list[bytes], i64]:
        """Frames for one datagram, the most urgent first."""
        frames: list[bytes] = []
        size: i64 = 0
        for queue in (self.urgent, self.retransmits, self.queue):
            while queue:
                length: i64 = len(queue[0])
                if size + length > room:
                    break
                frames.append(queue.popleft())
                size += length
            if queue:
                break
        self.waiting -= size
        return frames, size

    def _packet(self, ack: bytes, content: list[bytes], padding: i64, now: i64) -> bytes:
        number = self.next_number
        self.next_number = number + 1
        if padding or ack:
            body = ack + b"".join(content) + bytes(padding)
        elif len(content) == 1:
            body = content[0]
        else:
            body = b"".join(content)
        datagram = self.sealer.seal(number, self._header(number), body)
        size: i64 = len(datagram)
        packet = Packet(number, now, size, len(content) > 0, content)
        if ack:
            packet.largest_acked = self.received.largest
        self.recovery.sent(packet, now)
        self.sent_at = now
        return datagram

    def alone(self, frame: bytes, now: i64) -> bytes:
        """A datagram with this frame only, sent outside the regular flush."""
        number = self.next_number
        self.next_number = number + 1
        datagram = self.sealer.seal(number, self._header(number), frame)
        if not self.closed:
            # If lost, the frame is not retransmitted: the next packet may go to another address.
            self.recovery.sent(Packet(number, now, len(datagram), True, NO_FRAMES), now)
        return datagram

    def _header(self, number: i64) -> bytes:
        whole: int = number
        return self.prefix + whole.to_bytes(8, "big")

    def _ack(self, now: i64) -> bytes:
        if self.ack_owed == NOTHING:
            return b""
        self.ack_owed = NOTHING
        return ack_frame(self.received.ranges(MAX_RANGES), now - self.arrived_at)

    # ---- receiving ----

    def open(self, datagram: bytes, number: i64, now: i64) -> bytes | None:
        """The body of a datagram; None if it is forged or a replay."""
        body = self.opener.open(number, datagram[:HEADER], datagram)
        if body is None or not self.received.add(number):
            return None
        if number == self.received.largest:
            self.arrived_at = now
        self.heard_at = now
        return body

    def owe_ack(self, urgency: i64, now: i64) -> None:
        """Acknowledge what arrived: LATER, or at the end of this turn (NOW)."""
        if urgency > self.ack_owed:
            self.ack_owed = urgency
            if urgency == LATER:
                self.ack_deadline = now + MAX_ACK_DELAY

    def acknowledged(self, ranges: list[tuple[int, int]], delay: i64, now: i64) -> None:
        """The peer acknowledged these packets; queue what is lost for retransmission."""
        largest_acked: i64 = -1
        for packet in self.recovery.acknowledged(ranges, delay, now):
            largest_acked = max(largest_acked, packet.largest_acked)
        if largest_acked > REPLAY_WINDOW:
            # The peer knows what arrived, and retransmits the rest under other numbers.
            self.received.forget_below(largest_acked - REPLAY_WINDOW)
        self._resend()

    def _resend(self) -> None:
        for packet in self.recovery.take_lost():
            self._retransmit(packet.content)

    def _retransmit(self, frames: list[bytes]) -> None:
        for frame in frames:
            self.retransmits.append(frame)
            self.waiting += len(frame)
            self.resent += 1

    # ---- time ----

    def deadline(self, now: i64, heartbeat: i64) -> i64:
        """When `expired` must be called next."""
        soonest = max(self.heard_at, self.sent_at) + heartbeat
        if self.silent:
            soonest = self.sent_at + heartbeat
        when = self.recovery.timer()
        if when and when < soonest:
            soonest = when
        if self.ack_owed == LATER and self.ack_deadline < soonest:
            soonest = self.ack_deadline
        if self.has_frames():
            when = self.recovery.when_room(now)
            if when and when < soonest:
                soonest = when
        return max(soonest, now + MIN_TIMER)

    def expired(self, now: i64, heartbeat: i64) -> None:
        """Detect losses, send probes and heartbeats that are due."""
        when = self.recovery.timer()
        if when and when <= now:
            if self.recovery.expired(now):
                self._probe()
            self._resend()
        if self.ack_owed == LATER and self.ack_deadline <= now:
            self.ack_owed = NOW
        if now - self.sent_at >= heartbeat and now - self.heard_at >= heartbeat:
            self.ping()

    def _probe(self) -> None:
        """Retransmit the oldest frames to elicit an acknowledgement."""
        self.probes = 2
        oldest = self.recovery.oldest()
        if oldest is not None:
            self._retransmit(oldest.content)
            oldest.content = NO_FRAMES  # already retransmitted, should it be declared lost

    def ping(self) -> None:
        """Send a heartbeat, unless other frames are queued anyway."""
        if not self.has_frames():
            self.post_urgent(PING_FRAME)

    def has_frames(self) -> bool:
        """Whether frames are queued."""
        return self.waiting > 0

    def retire(self) -> None:
        """End the session: discard queued frames and forget packets in flight."""
        self.closed = True
        self.urgent.clear()
        self.retransmits.clear()
        self.queue.clear()
        self.waiting = 0
        self.recovery = Recovery(int(self.room))

    def inherit(self, old: Link) -> None:
        """Take over the unfinished work of another session with the same incarnation."""
        self.reassembly = old.reassembly  # fragments arrive over both sessions
        self.fragmented = old.fragmented
        packet = old.recovery.oldest()
        while packet is not None:
            self._take_over(packet.content)
            packet = packet.newer
        for queue in (old.urgent, old.retransmits, old.queue):
            self._take_over(queue)

    def _take_over(self, frames: Iterable[bytes]) -> None:
        for frame in frames:
            self.queue.append(frame)
            self.waiting += len(frame)

    def done(self) -> bool:
        """Whether everything sent has been acknowledged, or never will be."""
        return self.closed or (not self.has_frames() and self.recovery.in_flight == 0)


NO_FRAMES: Final[list[bytes]] = []  # shared, never changed
