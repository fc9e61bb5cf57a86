"""Who takes part: peers that join, restart, fall silent, move, leave, or are dropped.

`introductions.py` has the handshakes that open a session; this is what happens to it afterwards.
"""

import os
from collections import deque
from collections.abc import Callable
from typing import Final

from beforehand.encoding.varint import ONE_BYTE
from beforehand.runtime import events
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.events import (
    AddressChanged,
    DroppedPeerHeard,
    EngineEvent,
    HandshakeDatagram,
    PathResponse,
    PeerConnected,
    PeerDropped,
    PeerHeardAgain,
    PeerMisbehaved,
    PeerSilent,
    SessionClosed,
)
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.identity.introductions import Introductions
from beforehand.runtime.link import frames
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.transports.base import Address, Transport

SECOND: Final = 1_000_000_000  # between two farewells to one peer, or two complaints about it
MAX_DROPPED: Final = 256  # dropped peers whose sessions are kept, to inform them when they send


class Members:
    """The peers of one node: acts on what its engine reports of them."""

    def __init__(
        self,
        engine: Engine,
        settings: NodeSettings,
        transport: Transport,
        emit: Callable[[PeerEvent], None],
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.transport = transport
        self.emit = emit
        self.introductions = Introductions(engine, settings, transport, emit)
        self.rate_limit = self.introductions.rate_limit
        self.challenges: dict[str, tuple[bytes, Address, int]] = {}  # to new addresses, by process
        self.dropped: deque[Peer] = deque()
        self.leaving = False  # this node is closing

    def add(self, name: str, address: Address | None, now: int) -> None:
        """Expect a peer of this name, and look for it if its address is known."""
        if address is not None:
            self.introductions.addresses[name] = address
        if name not in self.engine.sessions.peers:
            self.engine.await_peer(name, self.settings.named)
        if address is not None and not self.engine.sessions.is_up(name):
            self.introductions.attempt(name, now)

    def sizes(self) -> dict[str, int]:
        """How many entries each table has: bounded, whatever is received."""
        return {**self.introductions.sizes(), "challenges": len(self.challenges)}

    def handle(self, event: EngineEvent, now: int) -> None:
        """Act on an event of the engine."""
        if isinstance(event, HandshakeDatagram):
            self.introductions.handle(event.datagram, event.address, now)
        elif isinstance(event, PeerConnected):
            self._connected(event.peer)
        elif isinstance(event, SessionClosed):
            self._closed(event.peer, event.reason, now)
        elif isinstance(event, PeerDropped):
            self._dropped(event, now)
        elif isinstance(event, DroppedPeerHeard):
            self._inform_dropped(event.peer, now)
        elif isinstance(event, PeerSilent):
            self._silent(event, now)
        elif isinstance(event, PeerHeardAgain):
            self.introductions.give_up(event.peer.name)
            self.emit(PeerEvent(events.UP, event.peer.name, "heard again"))
        elif isinstance(event, AddressChanged):
            self._challenge(event.peer, event.address, now)
        elif isinstance(event, PathResponse):
            self._move(event.peer, event.token)
        elif isinstance(event, PeerMisbehaved) and self.rate_limit.allow(
            f"misbehaved {event.peer.process}", now, SECOND
        ):
            self.emit(PeerEvent(events.MISBEHAVED, event.peer.name, event.problem))

    # ---- sessions that begin and end ----

    def _connected(self, peer: Peer) -> None:
        if peer.link is not None:
            self.introductions.connected(peer)
            self.introductions.addresses[peer.name] = peer.link.address
            self.emit(PeerEvent(events.UP, peer.name, self.transport.describe(peer.link.address)))

    def _closed(self, peer: Peer, reason: int, now: int) -> None:
        link = peer.link
        if link is None or peer.gone:
            return
        if reason == frames.LEAVING:
            self.transport.send(link.address, link.write(now))  # the ack, before the link is closed
            self.engine.drop(peer, now, True)
            return
        if not self.leaving:
            detail = "it has dropped this node, which can come back after a restart only"
            self.emit(PeerEvent(events.EXPELLED, peer.name, detail))
        self.engine.abandon(peer)

    def _dropped(self, event: PeerDropped, now: int) -> None:
        peer = event.peer
        self.challenges.pop(peer.process, None)
        if event.restarted:
            self.emit(PeerEvent(events.RESTARTED, peer.name, "under a new incarnation"))
        else:
            detail = "it has left" if event.has_left else ""
            self.emit(PeerEvent(events.DROPPED, peer.name, detail))
            if not self.settings.named and not self.leaving:
                self.introductions.attempt(peer.name, now)  # it may come back, restarted
        if event.has_left:
            self.engine.sessions.forget(peer)
        elif peer.link is not None:
            self._inform_dropped(peer, now)
            self.dropped.append(peer)
        if len(self.dropped) > MAX_DROPPED:
            self.engine.sessions.forget(self.dropped.popleft())

    def _inform_dropped(self, peer: Peer, now: int) -> None:
        """A dropped peer may not know yet, and go on sending."""
        if peer.link is not None and self.rate_limit.allow(f"dropped {peer.process}", now, SECOND):
            farewell = ONE_BYTE[frames.CLOSE] + ONE_BYTE[frames.DROPPED]
            self.transport.send(peer.link.address, [peer.link.alone(farewell, now)])

    def _silent(self, event: PeerSilent, now: int) -> None:
        policy = "waiting for it"
        if self.settings.drop_after:
            policy = f"to be dropped after {self.settings.drop_after / 1e9:g} s"
        detail = f"nothing heard for {event.nanoseconds / 1e9:.1f} s, {policy}"
        self.emit(PeerEvent(events.SILENT, event.peer.name, detail))
        if not self.settings.named:
            self.introductions.attempt(event.peer.name, now)  # maybe it was restarted

    def leave(self) -> None:
        """Announce to all peers that this node leaves, and stop looking for others."""
        self.leaving = True
        for name in list(self.introductions.attempts):
            self.introductions.give_up(name)
        self.engine.sessions.close()

    # ---- new addresses ----

    def _challenge(self, peer: Peer, address: Address, now: int) -> None:
        """Packets come from a new address: believe it once the peer answers from there."""
        link = peer.link
        if link is None or peer.gone or address == link.address:
            return
        token, challenged, since = self.challenges.get(peer.process, (b"", None, 0))
        if not token or challenged != address:
            token = os.urandom(frames.TOKEN)
        elif now - since < int(link.recovery.rtt.smoothed):
            return  # otherwise the same token again: a late answer to the first is as good
        self.challenges[peer.process] = (token, address, now)
        challenge = ONE_BYTE[frames.CHALLENGE] + token
        self.transport.send(address, [link.alone(challenge, now)])

    def _move(self, peer: Peer, response: bytes) -> None:
        """The peer answered a challenge: its session moves to the address that was challenged."""
        token, address, _ = self.challenges.get(peer.process, (b"", None, 0))
        if token == response and peer.link is not None and not peer.gone:
            self.engine.sessions.move(peer, address)
            self.introductions.addresses[peer.name] = address
            del self.challenges[peer.process]
