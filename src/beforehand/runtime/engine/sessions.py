"""Peers of a node that come and go: sessions that are proved, merged, dropped and forgotten."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.runtime.engine.outbox import Sending
from beforehand.runtime.engine.peer import Peer


class Meeting(Sending):
    """An engine that has peers."""

    def expect(self, peer: Peer) -> None:
        """A handshake is done on our side; the first datagram will show that it is on theirs."""
        assert peer.link is not None
        self.links[peer.link.connection] = peer

    def prove(self, peer: Peer) -> None:
        """The peer holds the keys, so it is who it says: an older life of it is over."""
        self.expect(peer)
        if self.core.is_dropped(peer.process):  # by others, while we were shaking hands
            assert peer.link is not None
            peer.gone = True
            peer.link.retire()
            self.ghosts.append(peer)
            return
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
