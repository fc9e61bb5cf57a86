"""Who takes part: peers that come, restart, fall silent, move, leave, or are dropped.

How a session comes about is told in `introductions.py`; here is what happens to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from beforehand.encoding.varint import ONE_BYTE
from beforehand.runtime import events
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.identity.introductions import Introductions
from beforehand.runtime.identity.rate_limit import RateLimit
from beforehand.runtime.link import frames
from beforehand.runtime.link.link import Link
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.transports.base import Address, Transport

SECOND: Final = 1_000_000_000  # between two farewells to one peer, or two complaints about it
MOST_GHOSTS: Final = 256  # dropped peers that are still told so when they are heard


class Members:
    """The peers of one node."""

    def __init__(
        self,
        engine: Engine,
        settings: NodeSettings,
        transport: Transport,
        emit: Callable[[PeerEvent], None],
        random: Callable[[int], bytes],
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.transport = transport
        self.emit = emit
        self.random = random
        self.rate_limit = RateLimit()
        self.introductions = Introductions(
            engine, settings, transport, emit, self.rate_limit, random
        )
        self.tokens: dict[str, tuple[bytes, Address, int]] = {}  # addresses to be proved
        self.ghosts: deque[Peer] = deque()
        self.leaving = False  # we did

    def want(self, name: str, address: Address | None, now: int) -> None:
        """There is, or will be, a peer of this name, maybe at an address."""
        if address is not None:
            self.introductions.addresses[name] = address
        if name not in self.engine.peers:
            # A place for it: nothing can be sent there yet, but waited for.
            peer = Peer(name, name)
            self.engine.peers[name] = peer
            if self.settings.named:
                self.engine.processes[name] = peer
            self.engine.forget_routes()
        if address is not None and not self.introductions.is_up(name):
            self.introductions.attempt(name, now)

    # ---- what the engine noticed ----

    def attend(self, now: int) -> None:
        """See to everything that the engine found and did not decide itself."""
        engine = self.engine
        if engine.strange:
            strange, engine.strange = engine.strange, []
            for datagram, address in strange:
                self.introductions.handle(datagram, address, now)
        if engine.spoken:
            self._spoken(now)
        if engine.dropped:
            self._dropped(now)
        if engine.proven:
            self._proven()
        if engine.woken:
            for peer in engine.woken:
                self.introductions.give_up(peer.name)
                self.emit(PeerEvent(events.UP, peer.name, "heard again"))
            engine.woken = []
        if engine.moved:
            self._moved(now)
        if engine.ghosts:
            for peer in engine.ghosts:
                self._tell_ghost(peer, now)
            engine.ghosts = []
        if engine.misbehaved:
            for peer, problem in engine.misbehaved:
                if self.rate_limit.allow(f"misbehaved {peer.process}", now, SECOND):
                    self.emit(PeerEvent(events.MISBEHAVED, peer.name, problem))
            engine.misbehaved = []

    def _proven(self) -> None:
        for peer in self.engine.proven:
            if peer.link is None:
                continue
            self.introductions.settle(peer)
            self.introductions.addresses[peer.name] = peer.link.address
            self.emit(PeerEvent(events.UP, peer.name, self.transport.describe(peer.link.address)))
        self.engine.proven = []

    def _dropped(self, now: int) -> None:
        for peer in self.engine.dropped:
            has_left = peer.process in self.engine.left
            self.engine.left.discard(peer.process)
            self.tokens.pop(peer.process, None)
            if any(new.name == peer.name for new in self.engine.proven):
                self.emit(PeerEvent(events.RESTARTED, peer.name, "under a new incarnation"))
            else:
                self.emit(PeerEvent(events.DROPPED, peer.name, "it has left" if has_left else ""))
                if not self.settings.named and not self.leaving:
                    self.introductions.attempt(peer.name, now)  # it may come back, as another one
            if has_left:
                self.engine.forget(peer)
            elif peer.link is not None:
                self._tell_ghost(peer, now)
                self.ghosts.append(peer)
            if len(self.ghosts) > MOST_GHOSTS:
                self.engine.forget(self.ghosts.popleft())
        self.engine.dropped = []

    def _tell_ghost(self, peer: Peer, now: int) -> None:
        """A dropped peer may not know yet, and goes on sending."""
        if peer.link is not None and self.rate_limit.allow(f"ghost {peer.process}", now, SECOND):
            farewell = ONE_BYTE[frames.CLOSE] + ONE_BYTE[frames.DROPPED]
            self.transport.send(peer.link.address, [peer.link.alone(farewell, now)])

    def _spoken(self, now: int) -> None:
        spoken, self.engine.spoken = self.engine.spoken, []
        for peer, tag, data in spoken:
            link = peer.link
            if link is None or peer.gone:
                continue
            if tag == frames.CHALLENGE:
                link.post_urgent(ONE_BYTE[frames.RESPONSE] + data)
            elif tag == frames.RESPONSE:
                self._answered(peer, link, data)
            elif data[0] == frames.LEAVING:
                self.engine.left.add(peer.process)
                self.transport.send(link.address, link.write(now))  # that we have heard it
                self.engine.drop(peer, now)
            else:
                self._expelled(peer)

    def _expelled(self, peer: Peer) -> None:
        """The peer has dropped us. We cannot drop it for that: others may still need the both of us."""
        if not self.leaving:
            detail = "it has dropped this node, which can come back after a restart only"
            self.emit(PeerEvent(events.EXPELLED, peer.name, detail))
        peer.gone = True
        self.engine.forget(peer)
        self.engine.forget_routes()
        self.engine.eased.append(peer)

    # ---- new addresses ----

    def _moved(self, now: int) -> None:
        """Packets come from a new address: believe it when the peer answers there."""
        moved, self.engine.moved = self.engine.moved, []
        for peer, address in moved:
            link = peer.link
            if link is None or peer.gone or address == link.address:
                continue
            known = self.tokens.get(peer.process)
            if known is not None and known[1] == address:
                if now - known[2] < int(link.recovery.rtt.smoothed):
                    continue
                token = known[0]  # an answer to the challenge before is as good
            else:
                token = self.random(frames.TOKEN)
            self.tokens[peer.process] = (token, address, now)
            challenge = ONE_BYTE[frames.CHALLENGE] + token
            self.transport.send(address, [link.alone(challenge, now)])

    def _answered(self, peer: Peer, link: Link, data: bytes) -> None:
        token, address, _ = self.tokens.get(peer.process, (b"", None, 0))
        if token == data:
            link.address = address
            self.introductions.addresses[peer.name] = address
            del self.tokens[peer.process]

    # ---- silence, and the end ----

    def watch(self, links: list[Link], now: int) -> None:
        """Their timers ran out: has anybody fallen silent?"""
        settings = self.settings
        for link in links:
            peer = self.engine.links.get(link.connection)
            if peer is None or peer.gone or not peer.proven:
                continue
            quiet = now - int(link.heard_at)
            if quiet >= settings.silent_after and not link.silent:
                link.silent = True
                policy = "waiting for it"
                if settings.drop_after:
                    policy = f"to be dropped after {settings.drop_after / 1e9:g} s"
                detail = f"nothing heard for {quiet / 1e9:.1f} s, {policy}"
                self.emit(PeerEvent(events.SILENT, peer.name, detail))
                if not settings.named:
                    self.introductions.attempt(peer.name, now)  # maybe it was restarted
            if settings.drop_after and quiet >= settings.drop_after:
                self.engine.drop(peer, now)

    def farewell(self) -> None:
        """Tell everybody that we leave."""
        self.leaving = True
        for name in list(self.introductions.attempts):
            self.introductions.give_up(name)
        for peer in self.engine.peers.values():
            if peer.link is not None and peer.proven and not peer.gone:
                peer.link.post_urgent(ONE_BYTE[frames.CLOSE] + ONE_BYTE[frames.LEAVING])
                self.engine.touch(peer.link)
