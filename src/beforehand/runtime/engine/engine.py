"""A node without I/O: a core, the peers it talks to, and what waits for the application.

Datagrams and the time come in; datagrams, messages, events and the time of the next timer come out.
`node.py` puts it on an event loop. Everything here happens once per run, frame or datagram; per
message there is only a payload, and the object that the application gets.
"""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Final

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.peer import CREDIT_STEPS, Peer
from beforehand.runtime.engine.sessions import Meeting
from beforehand.runtime.engine.state import NO_RANGES, Late
from beforehand.runtime.link import frames
from beforehand.runtime.link.datagrams import DATA, HEADER, PREFIX
from beforehand.runtime.link.link import LATER, NOW, Link
from beforehand.runtime.recording.frame_events import record_received
from beforehand.wire.codec import decode, decode_at

FARTHEST: Final = 10_000_000_000  # ns: timers that are never needed do not pile up for longer


UNREAD: Final = 1  # there are messages for the application
EASED: Final = 2  # somebody who waits for room or for a delivery may go on
NOTICED: Final = 4  # peers have come, gone, moved or misbehaved


class Engine(Meeting):
    """The turns of a node: what came in, what goes out, and what time it is."""

    def receive(self, datagrams: list[bytes], address: Hashable, now: i64) -> None:
        """Datagrams came from an address."""
        self.now = now
        if self.later:
            self.catch_up()
        if self.pending:
            self._send_pending()
        counters = self.counters
        for datagram in datagrams:
            size: i64 = len(datagram)
            counters.datagrams_in += 1
            counters.bytes_in += size
            if size <= HEADER or datagram[0] != DATA:
                self.strange.append((datagram, address))
                continue
            peer = self.links.get(datagram[1:PREFIX])
            if peer is None or peer.link is None:
                counters.stray += 1
                continue
            link = peer.link
            if datagram[PREFIX] >= 0x10:  # beyond 2**60: no session lives that long
                counters.refused += 1
                continue
            number = packet_number(datagram)
            body = link.open(datagram, number, now)
            if body is None:
                counters.refused += 1
                continue
            if peer.gone:
                self.ghosts.append(peer)
                continue
            if not peer.proven:
                self.prove(peer)
                known = self.links.get(link.connection)
                if known is None or known.gone:  # there is a better session, or none is wanted
                    continue
                peer = known
            if link.silent:
                link.silent = False
                self.woken.append(peer)
            if (
                address != link.address
                and number == link.received.largest
                and size >= HEADER + link.sealer.overhead + len(frames.PING_FRAME)
            ):
                self.moved.append((peer, address))
            self._frames(peer, link, body, now)
        if self.drops != len(self.core.drop_log()):
            self._note_drops()

    def news(self) -> i64:
        """What has happened that others have to see to: UNREAD, EASED and NOTICED, as bits."""
        found: i64 = 0
        if self.inbox.unread > 0:
            found |= UNREAD
        if self.eased:
            found |= EASED
        if (
            self.strange
            or self.spoken
            or self.dropped
            or self.proven
            or self.woken
            or self.moved
            or self.ghosts
            or self.misbehaved
        ):
            found |= NOTICED
        return found

    def _frames(self, peer: Peer, link: Link, body: bytes, now: i64) -> None:
        """Use the frames of one body; after one that makes no sense, the rest is not looked at."""
        urgency: i64 = 0
        at: i64 = 0
        end: i64 = len(body)
        hurry = False  # somebody waits for a message in it
        try:
            while at < end:
                tag: i64 = body[at]
                if tag == frames.PADDING:
                    break
                elif tag == frames.ACK:
                    reader = Reader(body, at + 1, peer.name)
                    ranges, delay = frames.read_ack(reader)
                    self.later.append(Late(peer, link, now, None, ranges, delay))
                    at = reader.position
                elif frames.is_link_frame(tag):
                    reader = Reader(body, at + 1, peer.name)
                    self._link_frame(peer, link, tag, reader, now)
                    urgency = max(urgency, LATER if tag == frames.CREDIT else NOW)
                    at = reader.position
                else:
                    frame, at = decode_at(body, at, peer.name)
                    if frame.messages():
                        urgency = NOW
                        hurry = True
                    else:
                        urgency = max(urgency, LATER)
                        if frame.deferrable():
                            self.later.append(Late(peer, link, now, frame, NO_RANGES, 0))
                            continue
                    self._take_frame(peer, frame, now)
        except RemoteProtocolError as problem:
            self._complain(peer, problem)
            urgency = NOW
        if urgency:
            link.owe_ack(urgency, now)
        if not hurry:
            self.catch_up()
        self.touch(link)

    def catch_up(self) -> None:
        """Use the acknowledgements that came along with messages: those were more urgent."""
        later = self.later
        self.later = []
        for late in later:
            link = late.link
            if late.peer.gone or (link.closed and late.frame is None):
                continue
            try:
                if late.frame is not None:
                    self._take_frame(late.peer, late.frame, late.now)
                else:
                    link.acknowledged(late.ranges, late.delay, late.now)
            except RemoteProtocolError as problem:
                self._complain(late.peer, problem)
            if link.has_frames():
                self.touch(link)

    def _complain(self, peer: Peer, problem: RemoteProtocolError) -> None:
        self.counters.misbehaved += 1
        self.misbehaved.append((peer, problem.problem))

    def _take_frame(self, peer: Peer, frame: Frame, now: i64) -> None:
        """A frame for the core."""
        effects = self.core.receive(peer.process, frame, now)
        if self.trace is not None:
            record_received(self.trace, self.me.process, peer.process, frame)
        self._carry_out(effects)

    def _link_frame(self, peer: Peer, link: Link, tag: i64, reader: Reader, now: i64) -> None:
        """Use a frame of the link that is no acknowledgement."""
        if tag == frames.CREDIT:
            delivered = reader.varint()
            taken = reader.varint()
            if not peer.credited(delivered, taken, reader.varint()):
                raise reader.problem("credit for messages that it was never sent")
            if self.watched:
                self.eased.append(peer)
        elif tag == frames.FRAGMENT:
            whole = link.reassembly.add(reader)
            if whole is not None:
                self._take_frame(peer, decode(whole, peer.name), now)
        elif tag == frames.CHALLENGE or tag == frames.RESPONSE:
            self.spoken.append((peer, tag, reader.take(frames.TOKEN)))
        elif tag == frames.CLOSE:
            reason = reader.take(1)
            if reason[0] != frames.LEAVING and reason[0] != frames.DROPPED:
                raise reader.problem(f"a farewell for the reason {reason[0]}")
            self.spoken.append((peer, tag, reason))
        elif tag == frames.PING:
            reader.take(frames.TOKEN)
        else:
            raise reader.problem(f"no frame starts with {tag:#04x}")

    # ---- the end of a turn ----

    def flush(self, now: i64) -> list[tuple[Hashable, list[bytes]]]:
        """What goes out at the end of a turn of the loop: datagrams, by address."""
        self.now = now
        self.ripe = False
        if self.later and not self.pending:
            self.catch_up()
        if self.pending:
            self._send_pending()
        self._carry_out(self.core.flush())
        if self.inbox.owed:
            self._grant()
        out: list[tuple[Hashable, list[bytes]]] = []
        dirty = self.dirty
        self.dirty = []
        for link in dirty:
            link.dirty = False
            if link.closed:
                continue
            datagrams = link.write(now)
            if datagrams:
                self.counters.datagrams_out += len(datagrams)
                for datagram in datagrams:
                    self.counters.bytes_out += len(datagram)
                out.append((link.address, datagrams))
                if link.has_frames() and link.recovery.room(now) > 0:
                    self.touch(link)  # it has had its turn
            self._schedule(link, now)
        return out

    def _grant(self) -> None:
        """Tell the peers how far we are: when it matters, or when something goes there anyway."""
        owed = self.inbox.owed
        self.inbox.owed = []
        for peer in owed:
            peer.owed = False
            if peer is self.me:
                peer.credited(peer.got, peer.taken, peer.taken_bytes)
                if self.watched:
                    self.eased.append(peer)
                continue
            link = peer.link
            if link is None or peer.gone:
                continue
            if peer.got == peer.told_got and (
                (peer.taken - peer.told_taken) * CREDIT_STEPS < self.me.window
                and (peer.taken_bytes - peer.told_bytes) * CREDIT_STEPS < self.me.window_bytes
                and not link.dirty
            ):
                continue
            peer.told_got = peer.got
            peer.told_taken = peer.taken
            peer.told_bytes = peer.taken_bytes
            link.post_urgent(frames.credit_frame(peer.got, peer.taken, peer.taken_bytes))
            self.touch(link)

    # ---- time ----

    def _schedule(self, link: Link, now: i64) -> None:
        when = min(link.deadline(now, self.heartbeat), now + FARTHEST)
        if link.scheduled == 0 or when < link.scheduled:
            link.scheduled = when
            self.ticks += 1
            heappush(self.timers, (int(when), int(self.ticks), link))

    def next_timer(self) -> i64:
        """When `expire` wants to be called, 0 for never."""
        return self.timers[0][0] if self.timers else 0

    def expire(self, now: i64) -> list[Link]:
        """Time has passed; the links whose timers ran out, for those who watch over silence."""
        self.now = now
        self.catch_up()
        expired: list[Link] = []
        while self.timers and self.timers[0][0] <= now:
            when, _, link = heappop(self.timers)
            if link.closed or link.scheduled != when:
                continue
            link.scheduled = 0
            link.expired(now, self.heartbeat)
            expired.append(link)
            self.touch(link)
        return expired

    def forgive(self, late: i64) -> None:
        """This process stood still for a while: the silence of that time was its own."""
        for peer in self.links.values():
            if peer.link is not None:
                peer.link.heard_at = min(self.now, peer.link.heard_at + late)

    def tick(self, now: i64) -> None:
        """The papers' "periodically", for the cores that need it."""
        self._carry_out(self.core.tick(now))


def packet_number(datagram: bytes) -> i64:
    """The number in the header of a datagram: eight bytes, of which the first is small."""
    number: i64 = 0
    at: i64 = PREFIX
    while at < HEADER:
        number = number << 8 | datagram[at]
        at += 1
    return number
