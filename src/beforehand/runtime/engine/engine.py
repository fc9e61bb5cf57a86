"""A node without I/O: a protocol core, the sessions with its peers, and the messages in between.

Datagrams (`receive`), messages (`try_send`, `offer`) and time (`advance`, `expire`, `tick`) go in.
Datagrams (`flush`) and one list of events (`take_events`) come out, and messages for the application
wait in the `inbox`. Nobody else changes the state of an engine.

All of this happens per run, frame or datagram; per message there is only a payload and a `Message`.
"""

from collections.abc import Hashable
from typing import Any, Final

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, DeliverRun, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.runtime.engine import events
from beforehand.runtime.engine.counters import Counters
from beforehand.runtime.engine.deferred_acks import NO_RANGES, DeferredAck
from beforehand.runtime.engine.events import EngineEvent, PendingEvents
from beforehand.runtime.engine.flow_control import FlowControl
from beforehand.runtime.engine.inbox import Inbox
from beforehand.runtime.engine.links import Links
from beforehand.runtime.engine.outbox import Outbox
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.engine.sessions import Sessions
from beforehand.runtime.link import frames
from beforehand.runtime.link.datagrams import DATA, HEADER, PREFIX, packet_number
from beforehand.runtime.link.link import LATER, NOW, Link
from beforehand.runtime.recording.frame_events import record_received
from beforehand.runtime.recording.node_trace import NodeTrace
from beforehand.wire.codec import decode, decode_at

HEARTBEATS: Final = 3  # signs of life that must be missing before a peer counts as silent


class Engine:
    """One process of a cluster; the parts of it have a file each."""

    def __init__(
        self,
        core: Core,
        name: str,
        *,
        window: int,
        window_bytes: int,
        silent_after: int,
        drop_after: int = 0,
        casts: frozenset[str] = frozenset(("unicast", "multicast")),
    ) -> None:
        self._drops_seen: i64 = 0  # entries of the core's log of drops that were acted on
        self._now: i64 = 0
        self._trace: NodeTrace | None = None
        self.core: Final = core
        self.me: Final = Peer(name, core.process, b"", window, window_bytes)
        self._events = PendingEvents()
        self._links = Links(silent_after // HEARTBEATS)
        self._flow = FlowControl(self.me, self._links, self._events)
        self.counters: Final = Counters()
        self.sessions: Final = Sessions(self.me, self._links, self._events)
        self.inbox: Final = Inbox(self.sessions, self._flow, self.counters)
        self.outbox: Final = Outbox(core, self.me, self.sessions, self._links, self.counters, casts)
        self._deferred: list[DeferredAck] = []
        self._silent_after: i64 = silent_after
        self._drop_after: i64 = drop_after  # 0 for never

    def take_events(self) -> list[EngineEvent]:
        """What has happened since the last call."""
        return self._events.take()

    def report_accounts(self, wanted: bool) -> None:
        """Whether to report `AccountChanged` for every grant of credit, because a task waits for one."""
        self._flow.reporting = wanted

    def record(self, trace: NodeTrace | None) -> None:
        """Record everything that happens from now on in this trace; None stops."""
        self._trace = trace
        self.outbox.trace = trace
        self.inbox.trace = trace

    def sizes(self) -> dict[str, int]:
        """How many entries each table has: bounded, whatever is received."""
        sizes = {"events": len(self._events), "deferred": len(self._deferred)}
        sizes.update({**self.outbox.sizes(), **self.sessions.sizes()})
        sizes.update({**self._links.sizes(), **self._flow.sizes()})
        return sizes

    # ---- messages in ----

    def try_send(self, to: object, payload: object) -> i64:
        """Accept a message on the fast path and return its number, or 0 if it takes `offer`."""
        outbox = self.outbox
        if not outbox.try_accept(to, payload):
            return 0
        number = outbox.sent()
        if outbox.runs:
            self._send_runs()
        return number

    def offer(self, to: object, payloads: list[Any], start: i64) -> i64:
        """Accept a part of `payloads` from `start` on, and return where it ends: see `Outbox.accept`."""
        stop = self.outbox.accept(to, payloads, start)
        if self.outbox.runs:
            self._send_runs()
        return stop

    def flush_pending(self) -> None:
        """Hand all accepted messages to the core."""
        self.outbox.complete_run()
        if self.outbox.runs:
            self._send_runs()

    def _send_runs(self) -> None:
        while self.outbox.runs:
            self._carry_out(self.outbox.send_run(self._now))

    def _carry_out(self, effects: list[Effect]) -> None:
        """Do what the core asks for."""
        for effect in effects:
            if isinstance(effect, DeliverRun):
                self.inbox.deliver(effect.sender, effect.first, effect.payloads)
            elif isinstance(effect, Transmit):
                self.outbox.transmit(effect.to, effect.frame)
            elif isinstance(effect, Deliver):
                self.inbox.deliver(effect.sender, effect.message_id, (effect.payload,))

    # ---- datagrams in ----

    def receive(self, datagrams: list[bytes], address: Hashable, now: i64) -> None:
        """Datagrams came from an address."""
        self._now = now
        self.process_deferred_acks()
        self.flush_pending()
        counters = self.counters
        for datagram in datagrams:
            size: i64 = len(datagram)
            counters.datagrams_in += 1
            counters.bytes_in += size
            if size <= HEADER or datagram[0] != DATA:
                self._events.add(events.HandshakeDatagram(datagram, address))
                continue
            peer = self.sessions.by_connection.get(datagram[1:PREFIX])
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
                self._events.add(events.DroppedPeerHeard(peer))
                continue
            if not peer.proven:
                self.prove(peer)
                known = self.sessions.by_connection.get(link.connection)
                if known is None or known.gone:  # a better session exists, or none is wanted
                    continue
                peer = known
            if link.silent:
                link.silent = False
                self._events.add(events.PeerHeardAgain(peer))
            if (
                address != link.address
                and number == link.received.largest
                and size >= HEADER + link.sealer.overhead + len(frames.PING_FRAME)
            ):
                self._events.add(events.AddressChanged(peer, address))
            self._read_body(peer, link, body, now)
        if self._drops_seen != len(self.core.drop_log()):
            self._process_drops("", None)

    def _read_body(self, peer: Peer, link: Link, body: bytes, now: i64) -> None:
        """Process the frames of one packet; those after an invalid frame are ignored."""
        urgency: i64 = 0
        at: i64 = 0
        end: i64 = len(body)
        has_messages = False
        try:
            while at < end:
                tag: i64 = body[at]
                if tag == frames.PADDING:
                    break
                if tag == frames.ACK:
                    reader = Reader(body, at + 1, peer.name)
                    ranges, delay = frames.read_ack(reader)
                    self._deferred.append(DeferredAck(peer, link, now, None, ranges, delay))
                    at = reader.position
                elif frames.is_link_frame(tag):
                    reader = Reader(body, at + 1, peer.name)
                    self._read_link_frame(peer, link, tag, reader, now)
                    urgency = max(urgency, LATER if tag == frames.CREDIT else NOW)
                    at = reader.position
                else:
                    frame, at = decode_at(body, at, peer.name)
                    if frame.messages():
                        urgency = NOW
                        has_messages = True
                    else:
                        urgency = max(urgency, LATER)
                        if frame.deferrable():
                            self._deferred.append(DeferredAck(peer, link, now, frame, NO_RANGES, 0))
                            continue
                    self._receive_frame(peer, frame, now)
        except RemoteProtocolError as problem:
            self._report_misbehaviour(peer, problem)
            urgency = NOW
        if urgency:
            link.owe_ack(urgency, now)
        if not has_messages:
            self.process_deferred_acks()
        self._links.touch(link)

    def _receive_frame(self, peer: Peer, frame: Frame, now: i64) -> None:
        """Hand a frame to the core."""
        effects = self.core.receive(peer.process, frame, now)
        if self._trace is not None:
            record_received(self._trace, self.me.process, peer.process, frame)
        self._carry_out(effects)

    def _read_link_frame(self, peer: Peer, link: Link, tag: i64, reader: Reader, now: i64) -> None:
        """Process a frame of the link other than an acknowledgement."""
        if tag == frames.CREDIT:
            self._flow.receive(peer, reader)
        elif tag == frames.FRAGMENT:
            whole = link.reassembly.add(reader)
            if whole is not None:
                self._receive_frame(peer, decode(whole, peer.name), now)
        elif tag == frames.CHALLENGE:
            link.post_urgent(ONE_BYTE[frames.RESPONSE] + reader.take(frames.TOKEN))
        elif tag == frames.RESPONSE:
            self._events.add(events.PathResponse(peer, reader.take(frames.TOKEN)))
        elif tag == frames.CLOSE:
            reason: i64 = reader.take(1)[0]
            if reason != frames.LEAVING and reason != frames.DROPPED:
                raise reader.problem(f"a farewell for the reason {reason}")
            self._events.add(events.SessionClosed(peer, int(reason)))
        elif tag == frames.PING:
            reader.take(frames.TOKEN)
        else:
            raise reader.problem(f"no frame starts with {tag:#04x}")

    def _report_misbehaviour(self, peer: Peer, problem: RemoteProtocolError) -> None:
        self.counters.misbehaved += 1
        self._events.add(events.PeerMisbehaved(peer, problem.problem))

    def process_deferred_acks(self) -> None:
        """Use the acknowledgements that came along with messages."""
        deferred = self._deferred
        if deferred:
            self._deferred = []
        for ack in deferred:
            link = ack.link
            if ack.peer.gone or (link.closed and ack.frame is None):
                continue
            try:
                if ack.frame is not None:
                    self._receive_frame(ack.peer, ack.frame, ack.received_at)
                else:
                    link.acknowledged(ack.ranges, ack.delay, ack.received_at)
            except RemoteProtocolError as problem:
                self._report_misbehaviour(ack.peer, problem)
            if link.has_frames():
                self._links.touch(link)

    # ---- datagrams out ----

    def flush(self, now: i64) -> list[tuple[Hashable, list[bytes]]]:
        """The datagrams to send now, by address."""
        self._now = now
        self.outbox.write_due = False
        if self._deferred and not self.outbox.waiting:
            self.process_deferred_acks()
        self.flush_pending()
        self._carry_out(self.core.flush())
        self._flow.grant()
        out: list[tuple[Hashable, list[bytes]]] = []
        for link in self._links.take_dirty():
            if link.closed:
                continue
            datagrams = link.write(now)
            if datagrams:
                self.counters.datagrams_out += len(datagrams)
                for datagram in datagrams:
                    self.counters.bytes_out += len(datagram)
                out.append((link.address, datagrams))
                if link.has_frames() and link.recovery.room(now) > 0:
                    self._links.touch(link)  # the other links come first
            self._links.schedule(link, now)
        return out

    def needs_flush(self) -> bool:
        """Whether a link waits to be written."""
        return self._links.has_dirty()

    # ---- time ----

    def advance(self, now: i64) -> None:
        """Set the time for messages that are accepted from now on."""
        self._now = now

    def next_timer(self) -> i64:
        """When `expire` wants to be called, 0 for never."""
        return self._links.next_timer()

    def expire(self, now: i64) -> None:
        """Run the timers that are due, and notice who has fallen silent."""
        self._now = now
        self.process_deferred_acks()
        for link in self._links.expire(now):
            peer = self.sessions.by_connection.get(link.connection)
            if peer is None or peer.gone or not peer.proven:
                continue
            silence = now - link.heard_at
            if silence >= self._silent_after and not link.silent:
                link.silent = True
                self._events.add(events.PeerSilent(peer, int(silence)))
            if self._drop_after and silence >= self._drop_after:
                self.drop(peer, now)

    def tick(self, now: i64) -> None:
        """The papers' "periodically", for the cores that need it."""
        self._carry_out(self.core.tick(now))

    # ---- peers ----

    def await_peer(self, name: str, known_to_core: bool) -> None:
        """There will be a peer of this name."""
        self.sessions.await_peer(name, known_to_core)
        self._forget_routes()

    def prove(self, peer: Peer) -> None:
        """The peer holds the keys, so it is who it claims to be: an older incarnation is over."""
        sessions = self.sessions
        sessions.expect(peer)
        if self.core.is_dropped(peer.process):
            sessions.reject(peer)
            return
        former = sessions.peers.get(peer.name)
        if former is not None and former.proven:
            if former.process == peer.process and not former.gone:
                sessions.merge(former, peer)
                return
            if former.process != peer.process and not self.core.is_dropped(former.process):
                self.drop(former, self._now, successor=peer)
        self._forget_routes()
        sessions.connect(peer)

    def drop(
        self, peer: Peer, now: i64, has_left: bool = False, successor: Peer | None = None
    ) -> None:
        """Give the peer up for good: it has left, was restarted as its successor, or is just dropped."""
        self.flush_pending()
        self._carry_out(self.core.drop(peer.process, now))
        self._process_drops(peer.process if has_left else "", successor)

    def _process_drops(self, left: str, successor: Peer | None) -> None:
        """The core has dropped processes, at our request or because a peer reported their drop."""
        log = self.core.drop_log()
        for process in log[self._drops_seen :]:
            if self._trace is not None and process != left:
                self._trace.record("evict", process, 0, None, 0, 0, "dropped")
            self.sessions.mark_dropped(process, process == left, successor)
        self._drops_seen = len(log)
        self._forget_routes()

    def abandon(self, peer: Peer) -> None:
        """The peer has dropped us: end its session, without dropping it in turn."""
        self.sessions.abandon(peer)
        self._forget_routes()

    def _forget_routes(self) -> None:
        self.flush_pending()
        self.outbox.forget_routes()
