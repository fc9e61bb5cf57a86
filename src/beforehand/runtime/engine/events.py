"""What an engine reports apart from datagrams and messages: one list of events, in order.

There is at most one event per datagram, frame or session, never one per message.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from beforehand.runtime.engine.peer import Peer


class EngineEvent:
    """Something that the driver of an engine has to act on."""


class HandshakeDatagram(EngineEvent):
    """A datagram outside of all sessions: a handshake, or noise."""

    def __init__(self, datagram: bytes, address: Hashable) -> None:
        self.datagram: Final = datagram
        self.address: Final = address


class SessionEvent(EngineEvent):
    """An event that its kind and its peer describe completely."""

    def __init__(self, peer: Peer) -> None:
        self.peer: Final = peer


class AccountChanged(SessionEvent):
    """A peer granted credit, reported deliveries, connected or is gone: its waiters check again."""


class PeerConnected(SessionEvent):
    """The peer has shown that it holds the keys of its session."""


class PeerHeardAgain(SessionEvent):
    """A silent peer is back."""


class DroppedPeerHeard(SessionEvent):
    """A dropped peer still sends: it doesn't know yet that it was dropped."""


@dataclass(frozen=True)
class PeerDropped(EngineEvent):
    """The core has dropped the peer for good."""

    peer: Peer
    has_left: bool  # it closed its session itself
    restarted: bool  # its name belongs to a newer incarnation now


@dataclass(frozen=True)
class PeerSilent(EngineEvent):
    """Nothing was received from the peer for this long."""

    peer: Peer
    nanoseconds: int


@dataclass(frozen=True)
class AddressChanged(EngineEvent):
    """The newest packet of a session came from another address than the ones before."""

    peer: Peer
    address: Hashable


@dataclass(frozen=True)
class PathResponse(EngineEvent):
    """The peer answered a challenge that was sent to its new address."""

    peer: Peer
    token: bytes


@dataclass(frozen=True)
class SessionClosed(EngineEvent):
    """The peer closed the session, for a `reason` of `link.frames`."""

    peer: Peer
    reason: int


@dataclass(frozen=True)
class PeerMisbehaved(EngineEvent):
    """An authenticated peer sent what no correct process would."""

    peer: Peer
    problem: str


class PendingEvents:
    """The events of one engine that its driver has not taken yet."""

    def __init__(self) -> None:
        self._events: list[EngineEvent] = []

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: EngineEvent) -> None:
        """Report an event."""
        self._events.append(event)

    def take(self) -> list[EngineEvent]:
        """All events since the last call."""
        events = self._events
        if not events:
            return NOTHING
        self._events = []
        return events


NOTHING: Final[list[EngineEvent]] = []  # shared, never changed
