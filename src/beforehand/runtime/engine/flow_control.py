"""Granting credit to peers, and taking the credit they grant; `credit.py` has the accounts."""

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.runtime.engine.events import AccountChanged, PendingEvents
from beforehand.runtime.engine.links import Links
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.frames import credit_frame


class FlowControl:
    """The credit that this process owes to its peers."""

    def __init__(self, me: Peer, links: Links, events: PendingEvents) -> None:
        # A task waits for credit or deliveries, so changes become events.
        self.reporting: bool = False
        self._me = me
        self._links = links
        self._events = events
        self._due: list[Peer] = []  # whose messages were delivered or consumed since the last grant

    def delivered(self, peer: Peer, messages: i64) -> None:
        """Messages of the peer were delivered here."""
        peer.incoming.delivered += messages
        if not peer.grant_due:
            peer.grant_due = True
            self._due.append(peer)

    def consumed(self, peer: Peer, messages: i64, size: i64) -> None:
        """The application took messages of the peer."""
        peer.incoming.consume(messages, size)
        if not peer.grant_due:
            peer.grant_due = True
            self._due.append(peer)

    def receive(self, peer: Peer, reader: Reader) -> None:
        """Read a CREDIT frame of the peer."""
        delivered = reader.varint()
        consumed = reader.varint()
        if not peer.outgoing.credit(delivered, consumed, reader.varint()):
            raise reader.problem("credit for messages that it was never sent")
        if self.reporting:
            self._events.add(AccountChanged(peer))

    def grant(self) -> None:
        """Report our progress to the peers: when it matters, or when something goes there anyway."""
        if not self._due:
            return
        due = self._due
        self._due = []
        own = self._me.outgoing  # the window that we grant to ourselves and to every peer
        for peer in due:
            peer.grant_due = False
            incoming = peer.incoming
            if peer is self._me:
                own.credit(incoming.delivered, incoming.consumed, incoming.consumed_bytes)
                if self.reporting:
                    self._events.add(AccountChanged(peer))
                continue
            link = peer.link
            if link is None or peer.gone:
                continue
            if incoming.worth_reporting(own.window, own.window_bytes) or link.dirty:
                incoming.mark_reported()
                link.post_urgent(
                    credit_frame(incoming.delivered, incoming.consumed, incoming.consumed_bytes)
                )
                self._links.touch(link)

    def sizes(self) -> dict[str, int]:
        """How many entries each table has."""
        return {"grants": len(self._due)}
