"""Engines that know each other, without handshakes: every pair has a link, time is a number."""

from __future__ import annotations

from typing import TypeVar

from beforehand import protocols
from beforehand.runtime.engine.credit import SendCredit
from beforehand.runtime.engine.engine import HEARTBEATS, Engine
from beforehand.runtime.engine.events import EngineEvent
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.link import Link
from beforehand.runtime.link.sealing import make_opener, make_sealer

E = TypeVar("E", bound=EngineEvent)
MS = 1_000_000
START = 10**12
DATAGRAM = 1_400
HEARTBEAT = 1_000 * MS
LIMIT = 80 * 2**20


class EngineMesh:
    """Some engines, and the datagrams between them."""

    def __init__(
        self,
        *names: str,
        window: int = 64,
        window_bytes: int = 2**20,
        plain: bool = True,
        silent_after: int = HEARTBEATS * HEARTBEAT,
    ) -> None:
        self.silent_after = silent_after
        self.now = START
        self.window = window
        self.window_bytes = window_bytes
        self.plain = plain
        self.engines = {name: self.engine(name) for name in names}
        self._events: dict[str, list[EngineEvent]] = {name: [] for name in names}
        self.passed: list[tuple[str, str, bytes]] = []  # sender, receiver, datagram
        self.cut: set[tuple[str, str]] = set()
        for one in names:
            for other in names:
                if one < other:
                    self.join(one, other)

    def engine(self, name: str) -> Engine:
        """One more engine."""
        core = protocols.create("hybrid-sps", f"{name}@{'0' * 16}", coalesce=True, runs=True)
        return Engine(
            core,
            name,
            window=self.window,
            window_bytes=self.window_bytes,
            silent_after=self.silent_after,
        )

    def join(self, one: str, other: str, session: int = 0, preferred: bool = True) -> None:
        """Establish a session of a pair, or one more, as a handshake would."""
        for name, peer in self.session(one, other, session, preferred).items():
            self.engines[name].prove(peer)

    def session(self, one: str, other: str, number: int, preferred: bool = True) -> dict[str, Peer]:
        """Both ends of an unused session, as peers of each other."""
        peers = {}
        for name, peer_name in ((one, other), (other, one)):
            own = connection(name, peer_name, number)
            theirs = connection(peer_name, name, number)
            sealer = make_sealer(own * 4, self.plain)
            opener = make_opener(theirs * 4, self.plain)
            sealing = (sealer, opener, DATAGRAM, LIMIT)
            link = Link(own, theirs, peer_name, *sealing, preferred=preferred, now=self.now)
            process = f"{peer_name}@{'0' * 16}"
            peers[name] = Peer(
                peer_name, process, b"0" * 8, self.window, self.window_bytes, link=link
            )
        return peers

    def link(self, name: str, peer: str) -> Link:
        """The end of a session that belongs to `name`."""
        link = self.engines[name].sessions.peers[peer].link
        assert link is not None
        return link

    def settle(self, rounds: int = 50) -> None:
        """Pass datagrams on, a millisecond per turn, until nothing is written."""
        for _ in range(rounds):
            if not self.turn():
                return
        raise AssertionError(f"still talking after {rounds} turns")

    def turn(self) -> bool:
        """All engines write, then all read; False if nothing was written."""
        self.now += MS
        written = []
        for name, engine in self.engines.items():
            engine.expire(self.now)
            for address, datagrams in engine.flush(self.now):
                written.append((name, str(address), datagrams))
        for sender, receiver, datagrams in written:
            self.passed += [(sender, receiver, datagram) for datagram in datagrams]
            if (sender, receiver) not in self.cut:
                self.engines[receiver].receive(datagrams, sender, self.now)
        return bool(written)

    def forge(self, sender: str, receiver: str, body: bytes) -> None:
        """A datagram with any body, sealed as only the sender can."""
        datagram = self.link(sender, receiver).alone(body, self.now)
        self.engines[receiver].receive([datagram], sender, self.now)

    def send(self, name: str, to: object, payload: bytes) -> int:
        """Causal-send; the number of the message, or 0 if there is no room for it."""
        engine = self.engines[name]
        accepted = engine.offer(to, [payload], 0)
        return int(engine.outbox.sent()) if accepted else 0

    def events(self, name: str, kind: type[E]) -> list[E]:
        """The events of one kind that the engine of `name` has reported so far."""
        self._events[name] += self.engines[name].take_events()
        return [event for event in self._events[name] if isinstance(event, kind)]

    def account(self, name: str, peer: str) -> SendCredit:
        """What `name` has accepted for a peer, and what it knows of its delivery."""
        return self.engines[name].sessions.peers[peer].outgoing

    def taken(self, name: str) -> list[bytes]:
        """The unread payloads of `name`."""
        return [message.payload for message in self.engines[name].inbox.take_many(10**6)]


def connection(name: str, peer: str, session: int = 0) -> bytes:
    """What `peer` writes into datagrams for `name`."""
    return f"{session}{name[:3]}-{peer[:3]}".encode().ljust(8, b".")
