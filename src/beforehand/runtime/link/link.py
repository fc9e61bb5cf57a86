"""One session with one incarnation of a peer: many frames per datagram, each of them gets there.

A link is reliable and unordered. Frames wait in a queue until the congestion window lets them go; a
datagram takes as many as it holds, gets a packet number and is sealed. The other side acknowledges
packet numbers. The frames of a lost packet go out again, in a new packet with a new number: what
arrived is never sent again. So a number arrives once or is a replay, and is ignored.

Acknowledgements and credit ride along with whatever goes out at the end of a turn of the loop. What
only control frames ask for may wait a little for company.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.runtime.link.datagrams import DATA, HEADER
from beforehand.runtime.link.fragments import Pieces, fragment_frames
from beforehand.runtime.link.frames import MOST_RANGES, PING_FRAME, ack_frame
from beforehand.runtime.link.received import Received
from beforehand.runtime.link.recovery import Packet, Recovery
from beforehand.runtime.link.sealing import Opener, Sealer
from beforehand.wire import codec
from beforehand.wire.hybrid import encode_message
from beforehand.wire.varint import PLAIN, size_of

COMPANY: Final = 96  # bytes of a datagram left for what rides along: ack, credit, permits
RUN_HEAD: Final = 24  # bytes of a run beside lengths and payloads, at most
ACK_PATIENCE: Final = 5_000_000  # ns that the ack of a control frame waits for company
LATE: Final = 256  # packet numbers: how late a packet may come and still be used
SOONEST: Final = 1_000_000  # ns: timers of event loops are not finer, and a late one must not spin
MOST_AT_ONCE: Final = 256  # datagrams per turn to one peer: the others want their turn too

NOTHING: Final = 0  # what is owed to the peer: no acknowledgement,
LATER: Final = 1  # one that may wait for company,
NOW: Final = 2  # or one at the end of this turn


class Link:
    """The sending and the receiving end of a session."""

    connection: Final[bytes]  # what the peer writes into its datagrams to us
    prefix: Final[bytes]  # what we write at the start of ours
    preferred: Final[bool]  # should there be two sessions with one peer, both sides keep this one
    address: Hashable
    sealer: Sealer
    opener: Opener
    recovery: Recovery
    received: Received
    pieces: Pieces
    room: Final[i64]  # bytes of frames in a datagram
    next_number: i64
    cuts: i64  # frames that were sent in fragments
    # Frames that wait to go:
    urgent: deque[bytes]  # small ones that others wait for, like acks and permits of the core,
    again: deque[bytes]  # those of packets that were lost,
    queue: deque[bytes]  # and all others, in order
    waiting: i64  # bytes in all of these
    ack_owed: i64
    ack_deadline: i64
    arrived_at: i64  # when the newest packet came
    heard_at: i64
    sent_at: i64
    probes: i64  # packets to send regardless of the window
    silent: bool
    closed: bool
    scheduled: i64  # the time for which the engine has a timer for this link, 0 for none
    dirty: bool  # is in the engine's list of links to write
    resent: i64  # frames that went out more than once

    def __init__(
        self,
        connection: bytes,
        theirs: bytes,
        address: Hashable,
        sealer: Sealer,
        opener: Opener,
        datagram: int,
        overhead: int,
        limit: int,
        preferred: bool,
        now: i64,
    ) -> None:
        self.connection = connection
        self.prefix = bytes([DATA]) + theirs
        self.preferred = preferred
        self.address = address
        self.sealer = sealer
        self.opener = opener
        self.recovery = Recovery(datagram)
        self.received = Received()
        self.pieces = Pieces(limit)
        self.room = datagram - HEADER - overhead
        self.next_number = 0
        self.cuts = 0
        self.urgent = deque()
        self.again = deque()
        self.queue = deque()
        self.waiting = 0
        self.ack_owed = NOTHING
        self.ack_deadline = 0
        self.arrived_at = now
        self.heard_at = now
        self.sent_at = now
        self.probes = 0
        self.silent = False
        self.closed = False
        self.scheduled = 0
        self.dirty = False
        self.resent = 0

    # ---- what goes out ----

    def post(self, frame: Frame) -> None:
        """Queue a frame of the core."""
        if isinstance(frame, HybridMessage):
            self._post_run(frame)
        elif frame.messages():
            self.post_bytes(codec.encode(frame))
        else:
            self.post_urgent(codec.encode(frame))

    def post_urgent(self, frame: bytes) -> None:
        """Queue an encoded frame that is small and that somebody waits for."""
        if len(frame) > COMPANY:
            self.post_bytes(frame)
            return
        self.urgent.append(frame)
        self.waiting += len(frame)

    def post_bytes(self, frame: bytes) -> None:
        """Queue an encoded frame, in fragments if it must be."""
        most = self.room - COMPANY
        if len(frame) <= most:
            self.queue.append(frame)
            self.waiting += len(frame)
            return
        self.cuts += 1
        for piece in fragment_frames(self.cuts, frame, most):
            self.queue.append(piece)
            self.waiting += len(piece)

    def _post_run(self, frame: HybridMessage) -> None:
        """A run travels as pieces that fill a datagram each; a single message as it is."""
        payloads = frame.payloads
        count: i64 = len(payloads)
        if count == 1:
            self.post_bytes(encode_message(frame))
            return
        most = self.room - COMPANY - RUN_HEAD
        start: i64 = 0
        prev = frame.prev
        while start < count:
            stop = _stop(payloads, start, count, most)
            piece = frame
            if stop - start < count:
                piece = HybridMessage(
                    frame.first + start, prev, frame.flagged, payloads[start:stop]
                )
            self.post_bytes(encode_message(piece))
            prev = frame.first + stop - 1
            start = stop

    def write(self, now: i64, most: i64 = MOST_AT_ONCE) -> list[bytes]:
        """The datagrams that may go now, with whatever acknowledgement is owed."""
        out: list[bytes] = []
        # The length of the first one, which the others are padded to if that takes little.
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
        for queue in (self.urgent, self.again, self.queue):
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
            packet.told = self.received.largest
        self.recovery.sent(packet, now)
        self.sent_at = now
        return datagram

    def alone(self, frame: bytes, now: i64) -> bytes:
        """A datagram with just this frame, for those that go out of turn."""
        number = self.next_number
        self.next_number = number + 1
        datagram = self.sealer.seal(number, self._header(number), frame)
        if not self.closed:
            # Should it be lost, it is not sent again: not to this address, and not out of turn.
            self.recovery.sent(Packet(number, now, len(datagram), True, NO_FRAMES), now)
        return datagram

    def _header(self, number: i64) -> bytes:
        whole: int = number
        return self.prefix + whole.to_bytes(8, "big")

    def _ack(self, now: i64) -> bytes:
        if self.ack_owed == NOTHING:
            return b""
        self.ack_owed = NOTHING
        return ack_frame(self.received.ranges(MOST_RANGES), now - self.arrived_at)

    # ---- what comes in ----

    def open(self, datagram: bytes, number: i64, now: i64) -> bytes | None:
        """The body of a datagram, once; None if it is forged or a replay."""
        body = self.opener.open(number, datagram[:HEADER], datagram)
        if body is None or not self.received.add(number):
            return None
        if number == self.received.largest:
            self.arrived_at = now
        self.heard_at = now
        return body

    def owe_ack(self, urgency: i64, now: i64) -> None:
        """A packet came that wants to be acknowledged, now or later."""
        if urgency > self.ack_owed:
            self.ack_owed = urgency
            if urgency == LATER:
                self.ack_deadline = now + ACK_PATIENCE

    def acknowledged(self, ranges: list[tuple[int, int]], delay: i64, now: i64) -> None:
        """The peer has these packets; what seems lost waits to go again."""
        told: i64 = -1
        for packet in self.recovery.acknowledged(ranges, delay, now):
            told = max(told, packet.told)
        if told > LATE:
            # The peer knows what arrived; what did not, it sends again under other numbers.
            self.received.forget_below(told - LATE)
        self._resend()

    def _resend(self) -> None:
        for packet in self.recovery.take_lost():
            for frame in packet.content:
                self.again.append(frame)
                self.waiting += len(frame)
                self.resent += 1

    # ---- time ----

    def deadline(self, now: i64, heartbeat: i64) -> i64:
        """When `expired` wants to be called next."""
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
        return max(soonest, now + SOONEST)

    def expired(self, now: i64, heartbeat: i64) -> None:
        """Time has passed: find losses, probe, keep the peer awake."""
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
        """Nothing was heard for too long: send the oldest frames again, to provoke an answer."""
        self.probes = 2
        oldest = self.recovery.oldest()
        if oldest is not None:
            for frame in oldest.content:
                self.again.append(frame)
                self.waiting += len(frame)
                self.resent += 1
            oldest.content = (
                NO_FRAMES  # should it count as lost one day, there is nothing left to do
            )

    def ping(self) -> None:
        """Ask for a sign of life."""
        if not self.has_frames():
            self.post_urgent(PING_FRAME)

    def has_frames(self) -> bool:
        """Something waits to go."""
        return self.waiting > 0

    def retire(self) -> None:
        """The session is over: what waits is forgotten, and nothing is remembered of what went out."""
        self.closed = True
        self.urgent.clear()
        self.again.clear()
        self.queue.clear()
        self.waiting = 0
        self.recovery = Recovery(int(self.room))

    def inherit(self, old: Link) -> None:
        """Take over what another session with the same incarnation has not brought to its end."""
        self.pieces = old.pieces  # fragments come over both; their numbers go on
        self.cuts = old.cuts
        packet = old.recovery.oldest()
        while packet is not None:
            self._take_over(packet.content)
            packet = packet.newer
        for queue in (old.urgent, old.again, old.queue):
            self._take_over(queue)

    def _take_over(self, frames: Iterable[bytes]) -> None:
        for frame in frames:
            self.queue.append(frame)
            self.waiting += len(frame)

    def done(self) -> bool:
        """Everything that was sent has been acknowledged, or nobody will."""
        return self.closed or (not self.has_frames() and self.recovery.in_flight == 0)


def _stop(payloads: tuple[bytes, ...], start: i64, count: i64, most: i64) -> i64:
    """Where the piece that begins at `start` ends: it has one payload, or fits into `most` bytes."""
    length: i64 = len(payloads[start])
    each = length + size_of(length, PLAIN)
    size = each
    stop = start + 1
    while stop < count:
        length = len(payloads[stop])
        size += length + size_of(length, PLAIN)
        if size > most:
            break
        stop += 1
    return stop


NO_FRAMES: Final[list[bytes]] = []  # shared, never changed
