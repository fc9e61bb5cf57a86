"""The peers of an engine and their sessions: expected, proven, merged, dropped and forgotten.

A session is *expected* once its handshake is done on our side. The first datagram that opens under its
keys *proves* that the peer has them too, so the peer is who it claims to be.
"""

from collections.abc import Hashable

from mypy_extensions import i64

from beforehand.encoding.varint import ONE_BYTE
from beforehand.runtime.engine.events import (
    AccountChanged,
    DroppedPeerHeard,
    PeerConnected,
    PeerDropped,
    PendingEvents,
)
from beforehand.runtime.engine.links import Links
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.frames import CLOSE, LEAVING


class Sessions:
    """Tables of peers; the engine decides with its core what happens to them."""

    def __init__(self, me: Peer, links: Links, events: PendingEvents) -> None:
        # By name: the incarnation that is up, or a placeholder for an awaited one.
        self.peers: dict[str, Peer] = {}
        # By the core's name: all that were ever connected and are not gone.
        self.processes = {me.process: me}
        self.by_connection: dict[bytes, Peer] = {}
        # First and last of our messages that dropped peers did not report as delivered.
        self._lost: list[tuple[int, int]] = []
        self._links = links
        self._events = events

    def await_peer(self, name: str, known_to_core: bool) -> None:
        """Add a placeholder for a peer: nothing can be sent to it yet, but senders can wait."""
        peer = Peer(name, name)
        self.peers[name] = peer
        if known_to_core:
            self.processes[name] = peer

    def expect(self, peer: Peer) -> None:
        """The handshake is done on our side; a datagram will show that it is on theirs."""
        assert peer.link is not None
        self.by_connection[peer.link.connection] = peer

    def reject(self, peer: Peer) -> None:
        """The process was dropped during its handshake."""
        assert peer.link is not None
        peer.gone = True
        peer.link.retire()
        self._events.add(DroppedPeerHeard(peer))

    def merge(self, peer: Peer, twin: Peer) -> None:
        """A second session with the same incarnation: both sides keep the same one of the two."""
        link = twin.link
        former = peer.link
        assert link is not None
        is_alive = former is not None and not former.silent and former.received.largest >= 0
        if is_alive and not link.preferred:
            self.forget(twin)
            return
        if former is not None:
            link.inherit(former)
            self.forget(peer)
        peer.link = link
        self.by_connection[link.connection] = peer
        self._links.touch(link)

    def connect(self, peer: Peer) -> None:
        """The session of a new peer is proven; frames that waited for it go out."""
        link = peer.link
        assert link is not None
        peer.proven = True
        self._events.add(PeerConnected(peer))
        awaited = self.peers.get(peer.name)
        if awaited is not None and awaited is not peer and not awaited.gone:
            peer.backlog.extend(awaited.backlog)
        self.peers[peer.name] = peer
        self.processes[peer.process] = peer
        for frame in peer.backlog:
            link.post(frame)
        peer.backlog = []
        self._events.add(AccountChanged(peer))
        self._links.touch(link)

    def mark_dropped(self, process: str, has_left: bool, successor: Peer | None) -> None:
        """The core has dropped a process."""
        peer = self.processes.pop(process, None)
        if peer is None:
            return
        peer.gone = True
        peer.backlog = []
        for span in peer.outgoing.spans:
            self._lost.append((int(span.first), int(span.last)))
        if peer.link is not None:
            peer.link.retire()
        restarted = successor is not None and successor.name == peer.name
        self._events.add(PeerDropped(peer, has_left, restarted))
        self._events.add(AccountChanged(peer))

    def abandon(self, peer: Peer) -> None:
        """The peer has dropped us. The core keeps it: others may still need both of us."""
        peer.gone = True
        self.forget(peer)
        self._events.add(AccountChanged(peer))

    def forget(self, peer: Peer) -> None:
        """End the peer's session: nothing of it is used any more."""
        link = peer.link
        if link is not None:
            link.retire()
            self.by_connection.pop(link.connection, None)
            peer.link = None

    def move(self, peer: Peer, address: Hashable) -> None:
        """Send to another address from now on."""
        assert peer.link is not None
        peer.link.address = address

    def ping(self, peer: Peer) -> None:
        """Ask a peer for a sign of life."""
        if peer.link is not None:
            peer.link.ping()
            self._links.touch(peer.link)

    def close(self) -> None:
        """Announce to all peers that this process leaves."""
        for peer in self.peers.values():
            if peer.link is not None and peer.proven and not peer.gone:
                peer.link.post_urgent(ONE_BYTE[CLOSE] + ONE_BYTE[LEAVING])
                self._links.touch(peer.link)

    def forgive(self, stalled: i64, now: i64) -> None:
        """This process stood still for some nanoseconds: silence in that time was its own."""
        for peer in self.by_connection.values():
            if peer.link is not None:
                peer.link.heard_at = min(now, peer.link.heard_at + stalled)

    def is_up(self, name: str) -> bool:
        """Whether there is a proven session with a peer, though maybe a silent one."""
        peer = self.peers.get(name)
        return peer is not None and peer.proven and not peer.gone

    def is_lost(self, number: int) -> bool:
        """Whether a receiver of our message was dropped before it reported its delivery."""
        return any(first <= number <= last for first, last in self._lost)

    def sizes(self) -> dict[str, int]:
        """How many entries each table has."""
        return {
            "peers": len(self.peers),
            "processes": len(self.processes),
            "connections": len(self.by_connection),
            "lost": len(self._lost),
        }
