"""A node without I/O: a core, the peers it talks to, and what waits for the application.

Datagrams and the time come in; datagrams, messages, events and the time of the next timer come out.
`node.py` puts it on an event loop. Everything here happens once per run, frame or datagram; per
message there is only a payload and the object that the application gets.

Sends that follow each other, to the same receivers and with nothing received in between, wait in
`pending` and reach the core as one run. They are numbered when they are accepted, so nobody can tell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Any, Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.base import Core, Deliver, DeliverRun, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.runtime import frames
from beforehand.runtime.counters import Counters
from beforehand.runtime.datagrams import DATA, HEADER, PREFIX
from beforehand.runtime.link import LATER, NOW, Link
from beforehand.runtime.message import Batch, Message, Parcel
from beforehand.runtime.notes import note_holds, note_received, note_sent
from beforehand.runtime.peer import CREDIT_STEPS, Peer
from beforehand.runtime.tracing import NodeTrace
from beforehand.wire.codec import decode, decode_at
from beforehand.wire.hybrid import decode_message
from beforehand.wire.reader import Reader
from beforehand.wire.tags import MARKER

MAX_PAYLOAD: Final = 16 * 2**20  # what a receiver has to put together from fragments, at most
MOST_PENDING: Final = (
    1024  # sends that wait to become one run: as many as a record of the core holds
)
MOST_ROUTES: Final = 4096  # sets of receivers that are remembered

PIECES: Final = (
    4  # of a window: a batch is accepted a piece at a time, so that there is always one under way
)


class Route:
    """Where a send goes: the receivers as the user named them, and as the core does."""

    key: Final[object]
    peers: Final[list[Peer]]
    to: Final[object]  # for the core: one process, several, or None for everybody
    names: Final[tuple[str, ...] | None]  # the same for the trace

    def __init__(
        self, key: object, peers: list[Peer], to: object, names: tuple[str, ...] | None
    ) -> None:
        self.key = key
        self.peers = peers
        self.to = to
        self.names = names


class Engine:
    """The state of a node; see the module's text."""

    core: Core
    me: Peer
    unicasts: bool  # what the protocol can do
    multicasts: bool
    broadcasts: bool
    accounts: bool  # senders know their receivers, so credit is counted
    peers: dict[str, Peer]  # by name: the incarnation that is up, or the one that is awaited
    processes: dict[str, Peer]  # by the core's name: all that ever sent something and are not gone
    links: dict[bytes, Peer]  # by connection
    routes: dict[object, Route]
    route: Route | None  # of the last send
    pending: list[bytes]
    inbox: deque[Parcel]  # delivered, and not all taken
    unread: i64  # messages in there
    dirty: list[Link]
    owed: list[Peer]  # peers whose messages the application took, or that were delivered
    eased: list[Peer]  # peers that granted more, or told of deliveries, since the node looked
    left: set[str]  # processes that said goodbye: they need not be given up
    dropped: list[Peer]  # peers that were dropped since the node looked
    lost: list[tuple[int, int]]  # our messages that dropped peers are not known to have delivered
    strange: list[tuple[bytes, Hashable]]  # datagrams of no session: handshakes, or noise
    proven: list[Peer]  # peers that showed that they hold the keys of their session
    woken: list[Peer]  # silent peers that were heard again
    ghosts: list[Peer]  # dropped peers that were heard: they do not know yet
    moved: list[tuple[Peer, Hashable]]  # sessions that were heard from a new address
    spoken: list[tuple[Peer, i64, bytes]]  # frames for the node: challenges, responses, farewells
    misbehaved: list[tuple[Peer, str]]
    blocked: Peer | None  # who kept the last `try_send` from being accepted
    now: i64  # the time of this turn of the loop, for those to whom it is near enough
    drops: i64
    heartbeat: i64
    timers: list[tuple[int, int, Link]]
    ticks: i64  # tells timers of the same time apart
    trace: NodeTrace | None
    counters: Counters

    def __init__(
        self, core: Core, name: str, window: int, window_bytes: int, heartbeat: int
    ) -> None:
        self.core = core
        self.me = Peer(name, core.process)
        self.me.window = window
        self.me.window_bytes = window_bytes
        self.unicasts = True
        self.multicasts = True
        self.broadcasts = False
        self.accounts = True
        self.peers = {}
        self.processes = {core.process: self.me}
        self.links = {}
        self.routes = {}
        self.route = None
        self.pending = []
        self.inbox = deque()
        self.unread = 0
        self.dirty = []
        self.owed = []
        self.eased = []
        self.left = set()
        self.dropped = []
        self.lost = []
        self.strange = []
        self.proven = []
        self.woken = []
        self.ghosts = []
        self.moved = []
        self.spoken = []
        self.misbehaved = []
        self.blocked = None
        self.now = 0
        self.drops = 0
        self.heartbeat = heartbeat
        self.timers = []
        self.ticks = 0
        self.trace = None
        self.counters = Counters()

    # ---- sending ----

    def try_send(self, to: object, payload: object) -> i64:
        """Accept a message and return its number, or 0 if `blocked` has no room for it."""
        size = self._length(payload)
        assert isinstance(payload, bytes)
        route = self.route
        if route is None or route.key is not to:
            route = self._turn(to)
        peers = route.peers
        for peer in peers:
            if not peer.room(1, size):
                self.blocked = peer
                return 0
        for peer in peers:
            peer.accepted += 1
            peer.accepted_bytes += size
        pending = self.pending
        pending.append(payload)
        number = self.core.sent + len(pending)
        if len(pending) >= MOST_PENDING:
            self._send_pending()
        return number

    def offer(self, to: object, payloads: list[bytes], start: i64) -> i64:
        """Accept a piece of `payloads` from `start` on, and return where it ends.

        A piece is all of it, or as much as a part of the smallest window holds, or one message. If
        there is no room for the piece, `blocked` says where, and nothing is accepted: `start`.
        """
        route = self.route
        if route is None or route.key is not to:
            route = self._turn(to)
        stop: i64 = len(payloads)
        most_bytes = self.me.window_bytes
        for peer in route.peers:
            stop = min(stop, start + max(1, peer.window // PIECES))  # one, if it is not there yet
            most_bytes = min(most_bytes, peer.window_bytes)
        most_bytes //= PIECES
        size: i64 = 0
        at = start
        while at < stop:
            length = self._length(payloads[at])
            if size + length > most_bytes and at > start:
                break
            size += length
            at += 1
        if start == 0:  # misuse is found before anything is accepted
            for rest in range(at, len(payloads)):
                self._length(payloads[rest])
        count = at - start
        for peer in route.peers:
            if not peer.room(count, size):
                self.blocked = peer
                return start
        for peer in route.peers:
            peer.accept(count, size)
        if count == len(payloads):
            self.pending.extend(payloads)
        else:
            self.pending.extend(payloads[start:at])
        if len(self.pending) >= MOST_PENDING:
            self._send_pending()
        return at

    def _length(self, payload: object) -> i64:
        """The bytes of a payload, if it is one."""
        if type(payload) is not bytes:
            raise LocalProtocolError(
                f"{self.me.name}: a payload is bytes, not {type(payload).__name__}; encode it first"
            )
        if len(payload) > MAX_PAYLOAD:
            raise LocalProtocolError(
                f"{self.me.name}: a payload of {len(payload)} bytes is more than the {MAX_PAYLOAD} that "
                "a message may have; send it in parts, or send where it can be fetched"
            )
        return len(payload)

    def _turn(self, to: object) -> Route:
        """The route to other receivers than last time; what was meant for those goes first."""
        route = self.routes.get(to)
        if route is None:
            route = self._new_route(to)
            if len(self.routes) >= MOST_ROUTES:
                self.routes.clear()
            self.routes[to] = route
        if route is not self.route:
            if self.pending:
                self._send_pending()
            self.route = route
        return route

    def _new_route(self, key: object) -> Route:
        if key is None:
            if not self.broadcasts:
                raise LocalProtocolError(
                    f"{self.me.name}: this protocol has no broadcast; name the receivers"
                )
            everybody = [peer for peer in self.peers.values() if not peer.gone]
            return Route(None, [*everybody, self.me] if self.accounts else [], None, None)
        if not self.unicasts:
            raise LocalProtocolError(
                f"{self.me.name}: this protocol sends to everybody; name no receivers but None"
            )
        if isinstance(key, str):
            names: list[str] = [key]
        else:
            assert isinstance(key, tuple)
            names = sorted({check_process(name) for name in key})
        if not names:
            raise LocalProtocolError(f"{self.me.name}: no receivers; name at least one")
        others = [name for name in names if name != self.me.name]
        if not self.multicasts and len(others) > 1:
            raise LocalProtocolError(
                f"{self.me.name}: this protocol sends to one receiver at a time; choose one with "
                "multicast (see `beforehand protocols`), or send to each"
            )
        peers = [self._receiver(name) for name in names]
        processes = tuple([peer.process for peer in peers])
        to: object = processes[0] if len(processes) == 1 else processes
        return Route(key, peers, to, processes)

    def _receiver(self, name: str) -> Peer:
        if name == self.me.name:
            return self.me
        peer = self.peers.get(name)
        if peer is None:
            raise LocalProtocolError(
                f"{self.me.name}: there is no peer {name!r}; name it in `peers`, or call add_peer"
            )
        if peer.gone:
            raise PeerDroppedError(
                f"{self.me.name}: {name} was dropped; send to the others, or wait until it is back"
            )
        return peer

    def forget_routes(self) -> None:
        """The peers have changed: look each receiver up again."""
        self.settle()  # it belongs to the route that it was accepted for
        self.routes.clear()
        self.route = None

    def settle(self) -> None:
        """Hand over what waits to become a run, for those who want to look at the core."""
        if self.pending:
            self._send_pending()

    def _send_pending(self) -> None:
        """Hand what was accepted to the core."""
        payloads = self.pending
        route = self.route
        if not payloads or route is None:
            return
        first = self.core.sent + 1
        count: i64 = len(payloads)
        for peer in route.peers:
            peer.note(first, count)
        self.pending = []
        to: Any = route.to
        if self.trace is None:
            self._carry_out(self.core.send_checked(to, payloads, self.now))
        else:
            sizes = [len(payload) for payload in payloads]
            self.trace.record_run("send", self.me.process, first, route.names, sizes)
            effects = self.core.send_checked(to, payloads, self.now)
            if len(route.peers) != 1 or route.peers[0] is not self.me:
                note_holds(self.trace, self.me.process, first, sizes, effects)
            self._carry_out(effects)
        self.counters.sent += count

    # ---- carrying out what the core wants ----

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, DeliverRun):
                self._deliver(effect.sender, effect.first, effect.payloads)
            elif isinstance(effect, Transmit):
                self._transmit(effect.to, effect.frame)
            elif isinstance(effect, Deliver):
                self._deliver(effect.sender, effect.message_id, (effect.payload,))

    def _transmit(self, to: str, frame: Frame) -> None:
        peer = self.processes.get(to)
        if peer is None or peer.gone:
            return
        link = peer.link
        if self.trace is not None:
            note_sent(self.trace, self.me.process, to, frame)
        if link is None:
            peer.backlog.append(frame)
            return
        link.post(frame)
        self.touch(link)

    def _deliver(self, sender: str, first: i64, payloads: tuple[bytes, ...]) -> None:
        peer = self.processes.get(sender)
        if peer is None:  # passed on by others: we have no link with it
            peer = Peer(sender, sender)
            self.processes[sender] = peer
        count: i64 = len(payloads)
        self.inbox.append(Parcel(peer.name, first, payloads, peer))
        self.unread += count
        peer.got += count
        self.counters.delivered += count
        if self.trace is not None:
            sizes = [len(payload) for payload in payloads]
            self.trace.record_run("deliver", sender, first, None, sizes)
        self._owe(peer)

    def _owe(self, peer: Peer) -> None:
        if not peer.owed:
            peer.owed = True
            self.owed.append(peer)

    def touch(self, link: Link) -> None:
        """The link has something to write."""
        if not link.dirty:
            link.dirty = True
            self.dirty.append(link)

    # ---- what the application takes ----

    def take(self) -> Message:
        """The next message; there must be one."""
        parcel: Parcel = self.inbox[0]
        message = parcel.take()
        if parcel.left() == 0:
            self.inbox.popleft()
        self.unread -= 1
        self._taken(parcel.origin, 1, len(message.payload))
        return message

    def take_many(self, most: i64) -> Batch:
        """As many messages as there are, but at most so many."""
        parcels: list[Parcel] = []
        count: i64 = 0
        inbox = self.inbox
        while inbox and count < most:
            parcel: Parcel = inbox[0]
            piece = parcel.split(min(parcel.left(), most - count))
            if parcel.left() == 0:
                inbox.popleft()
            parcels.append(piece)
            count += len(piece.payloads)
            self._taken(piece.origin, len(piece.payloads), total_size(piece.payloads))
        self.unread -= count
        return Batch(parcels, count)

    def _taken(self, origin: object, count: i64, size: i64) -> None:
        assert isinstance(origin, Peer)
        origin.taken += count
        origin.taken_bytes += size
        if not origin.owed:
            origin.owed = True
            self.owed.append(origin)

    # ---- receiving ----

    def receive(self, datagrams: list[bytes], address: Hashable, now: i64) -> None:
        """Datagrams came from an address."""
        self.now = now
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
                if known is None:  # there is another session with it, a better one
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

    def _frames(self, peer: Peer, link: Link, body: bytes, now: i64) -> None:
        """Use the frames of one body; after one that makes no sense, the rest is not looked at."""
        urgency: i64 = 0
        at: i64 = 0
        end: i64 = len(body)
        try:
            while at < end:
                tag: i64 = body[at]
                if tag & MARKER:
                    message, at = decode_message(body, at, peer.name)
                    urgency = NOW
                    self._take_frame(peer, message, now)
                elif tag == frames.PADDING:
                    break
                elif tag >= frames.ACK:
                    reader = Reader(body, at + 1, peer.name)
                    if self._link_frame(peer, link, tag, reader, now):
                        urgency = max(urgency, LATER if tag == frames.CREDIT else NOW)
                    at = reader.position
                else:
                    frame, at = decode_at(body, at, peer.name)
                    urgency = max(urgency, NOW if frame.messages() else LATER)
                    self._take_frame(peer, frame, now)
        except RemoteProtocolError as problem:
            self.counters.misbehaved += 1
            self.misbehaved.append((peer, problem.problem))
            urgency = NOW
        if urgency:
            link.owe_ack(urgency, now)
        self.touch(link)

    def _take_frame(self, peer: Peer, frame: Frame, now: i64) -> None:
        """A frame for the core."""
        effects = self.core.receive(peer.process, frame, now)
        if self.trace is not None:
            note_received(self.trace, self.me.process, peer.process, frame)
        self._carry_out(effects)

    def _link_frame(self, peer: Peer, link: Link, tag: i64, reader: Reader, now: i64) -> bool:
        """Use a frame of the link; False for an acknowledgement, which needs none itself."""
        if tag == frames.ACK:
            ranges, delay = frames.read_ack(reader)
            link.acknowledged(ranges, delay, now)
            return False
        if tag == frames.CREDIT:
            delivered = reader.varint()
            taken = reader.varint()
            if not peer.credited(delivered, taken, reader.varint()):
                raise reader.problem("credit for messages that it was never sent")
            self.eased.append(peer)
        elif tag == frames.FRAGMENT:
            whole = link.pieces.add(reader)
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
        return True

    # ---- the end of a turn ----

    def flush(self, now: i64) -> list[tuple[Hashable, list[bytes]]]:
        """What goes out at the end of a turn of the loop: datagrams, by address."""
        self.now = now
        if self.pending:
            self._send_pending()
        self._carry_out(self.core.flush())
        if self.owed:
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
        owed = self.owed
        self.owed = []
        for peer in owed:
            peer.owed = False
            if peer is self.me:
                peer.credited(peer.got, peer.taken, peer.taken_bytes)
                self.eased.append(peer)
                continue
            link = peer.link
            if link is None or peer.gone or not self.accounts:
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
        when = link.deadline(now, self.heartbeat)
        if link.scheduled == 0 or when < link.scheduled:
            link.scheduled = when
            self.ticks += 1
            heappush(self.timers, (int(when), int(self.ticks), link))

    def next_timer(self) -> i64:
        """When `expire` wants to be called, 0 for never."""
        return self.timers[0][0] if self.timers else 0

    def expire(self, now: i64) -> list[Link]:
        """Time has passed; the links whose timers ran out, for those who watch over silence."""
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
                peer.link.heard_at += late

    def tick(self, now: i64) -> None:
        """The papers' "periodically", for the cores that need it."""
        self._carry_out(self.core.tick(now))

    # ---- peers that come and go ----

    def expect(self, peer: Peer) -> None:
        """A handshake is done on our side; the first datagram will show that it is on theirs."""
        assert peer.link is not None
        self.links[peer.link.connection] = peer

    def prove(self, peer: Peer) -> None:
        """The peer holds the keys, so it is who it says: an older life of it is over."""
        self.expect(peer)
        old = self.peers.get(peer.name)
        if old is not None and old.proven:
            if old.process == peer.process and not old.gone:
                self._merge(old, peer)
                return
            if old.process != peer.process and not self.core.is_dropped(old.process):
                self.drop(old, self.now)
        self._connect(peer)

    def _merge(self, old: Peer, twin: Peer) -> None:
        """A second session with the same incarnation: both sides keep the same one of the two."""
        link = twin.link
        former = old.link
        assert link is not None
        is_alive = former is not None and not former.silent and former.received.largest >= 0
        if is_alive and not link.preferred:
            self.forget(twin)
            return
        if former is not None:
            link.inherit(former)
            self.forget(old)
        old.link = link
        self.links[link.connection] = old
        self.touch(link)

    def _connect(self, peer: Peer) -> None:
        """There is a session with a peer; what waited for it goes out."""
        link = peer.link
        assert link is not None
        peer.proven = True
        self.proven.append(peer)
        awaited = self.peers.get(peer.name)
        if awaited is not None and awaited is not peer and not awaited.gone:
            peer.backlog.extend(awaited.backlog)
        self.forget_routes()
        self.peers[peer.name] = peer
        self.processes[peer.process] = peer
        for frame in peer.backlog:
            link.post(frame)
        peer.backlog = []
        self.eased.append(peer)
        self.touch(link)

    def drop(self, peer: Peer, now: i64) -> None:
        """The peer is gone for ever."""
        if self.pending:
            self._send_pending()
        self._carry_out(self.core.drop(peer.process, now))
        self._note_drops()

    def _note_drops(self) -> None:
        """The core has dropped somebody: on our word, or because a peer told it to."""
        log = self.core.drop_log()
        for process in log[self.drops :]:
            peer = self.processes.pop(process, None)
            if self.trace is not None and process not in self.left:
                self.trace.record("evict", process, 0, None, 0, 0, "dropped")
            self.left.discard(process)
            if peer is None:
                continue
            peer.gone = True
            peer.backlog = []
            for span in peer.spans:
                self.lost.append((int(span.first), int(span.last)))
            if peer.link is not None:
                peer.link.retire()
            self.dropped.append(peer)
            self.eased.append(peer)
        self.drops = len(log)
        self.forget_routes()

    def forget(self, peer: Peer) -> None:
        """Nothing of its session is used any more."""
        link = peer.link
        if link is not None:
            link.retire()
            self.links.pop(link.connection, None)
            peer.link = None


def packet_number(datagram: bytes) -> i64:
    """The number in the header of a datagram: eight bytes, of which the first is small."""
    number: i64 = 0
    at: i64 = PREFIX
    while at < HEADER:
        number = number << 8 | datagram[at]
        at += 1
    return number


def total_size(payloads: tuple[bytes, ...]) -> i64:
    """The bytes of all of them."""
    size: i64 = 0
    for payload in payloads:
        size += len(payload)
    return size
