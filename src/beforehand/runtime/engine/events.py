"""What an engine reports besides datagrams and messages: one list of events, in order.

There is at most one event per datagram, frame or session, never one per message.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from beforehand.runtime.engine.peer import Peer


class EngineEvent:
    """Something that the driver of an engine has to act on."""


class AccountChanged(EngineEvent):
    """A peer granted credit, reported deliveries, connected or is gone: its waiters check again."""

    peer: Final[Peer]

    def __init__(self, peer: Peer) -> None:
        self.peer = peer


class HandshakeDatagram(EngineEvent):
    """A datagram outside of all sessions: a handshake, or noise."""

    datagram: Final[bytes]
    address: Final[Hashable]

    def __init__(self, datagram: bytes, address: Hashable) -> None:
        self.datagram = datagram
        self.address = address


@dataclass(frozen=True)
class PeerConnected(EngineEvent):
    """The peer has shown that it holds the keys of its session."""

    peer: Peer


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
class PeerHeardAgain(EngineEvent):
    """A silent peer is back."""

    peer: Peer


@dataclass(frozen=True)
class DroppedPeerHeard(EngineEvent):
    """A dropped peer still sends: it doesn't know yet that it was dropped."""

    peer: Peer


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

    _events: list[EngineEvent]

    def __init__(self) -> None:
        self._events = []

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
