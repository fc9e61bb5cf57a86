"""Snapshots of a node: messages that wait and for what, counters, and the state of its links."""

from dataclasses import asdict, dataclass

from beforehand.causality.ids import MessageId
from beforehand.protocols.effects import Held
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.identity.introductions import Introductions


@dataclass(frozen=True)
class Waiting:
    """A message that waits in the core of this node."""

    id: MessageId
    receivers: tuple[str, ...]  # where it waits to go, or this node
    seconds: float  # how long it has waited
    waits_for: tuple[str, ...]  # each a phrase, like "permit of bob for carol#3"

    def __str__(self) -> str:
        to = ", ".join(self.receivers)
        reasons = ", ".join(self.waits_for) or "its turn"
        return f"{self.id} to {to} has waited {self.seconds:.3f} s for {reasons}"


@dataclass(frozen=True)
class PeerStats:
    """One peer and the link with it."""

    state: str  # "awaited", "up", "silent" or "dropped"
    accepted: int  # messages that `send` took for it
    delivered: int  # how many of them it has delivered
    consumed: int  # how many of them its application has taken
    received: int  # messages from it that were delivered here
    window: int  # how many may be outstanding
    round_trip_ms: float
    in_flight_bytes: int
    waiting_bytes: int  # in the queue of the link
    congestion_window: int  # bytes
    packets_lost: int
    frames_resent: int


@dataclass(frozen=True)
class Stats:
    """A node at one moment. Counters start at zero with the node."""

    name: str
    protocol: str
    messages_sent: int
    messages_delivered: int
    unread: int  # delivered, and not taken by the application yet
    held: int  # unacknowledged frames and permits missing in the core
    datagrams_in: int
    bytes_in: int
    datagrams_out: int
    bytes_out: int
    stray: int  # datagrams for unknown sessions
    refused: int  # forged, damaged or replayed datagrams
    misbehaved: int  # frames that no correct peer sends
    peers: dict[str, PeerStats]

    def as_dict(self) -> dict[str, object]:
        """The same as plain dictionaries, for JSON."""
        return asdict(self)


def name_of(process: str) -> str:
    """The name of a process without its incarnation."""
    name, at, incarnation = process.rpartition("@")
    return name if at and len(incarnation) == 16 else process


def waiting(held: Held, me: str, now: int) -> Waiting:
    """A held message of the core, with the names that users know."""
    phrases = []
    for wait in held.waits:
        peer = name_of(wait.peer)
        owner = me if wait.kind == "ack" else peer
        phrases.append(f"{wait.kind} of {peer} for {owner}#{wait.message_id}")
    return Waiting(
        MessageId(name_of(held.sender), held.message_id),
        tuple(name_of(receiver) for receiver in held.receivers),
        max(0, now - held.since) / 1e9,
        tuple(phrases),
    )


def stats(engine: Engine, introductions: Introductions, protocol: str) -> Stats:
    """A snapshot of a node."""
    counters = engine.counters
    return Stats(
        name=engine.me.name,
        protocol=protocol,
        messages_sent=int(counters.sent + engine.outbox.waiting),
        messages_delivered=int(counters.delivered),
        unread=int(engine.inbox.unread),
        held=engine.core.unacknowledged() + engine.core.permits_missing(),
        datagrams_in=int(counters.datagrams_in),
        bytes_in=int(counters.bytes_in),
        datagrams_out=int(counters.datagrams_out),
        bytes_out=int(counters.bytes_out),
        stray=int(counters.stray) + introductions.stray,
        refused=int(counters.refused) + introductions.refused,
        misbehaved=int(counters.misbehaved),
        peers={name: _peer_stats(peer) for name, peer in sorted(engine.sessions.peers.items())},
    )


def _peer_stats(peer: Peer) -> PeerStats:
    link = peer.link
    recovery = None if link is None else link.recovery
    state = "dropped" if peer.gone else "up" if peer.proven else "awaited"
    return PeerStats(
        state="silent" if link is not None and link.silent and state == "up" else state,
        accepted=int(peer.outgoing.accepted),
        delivered=int(peer.outgoing.delivered),
        consumed=int(peer.outgoing.consumed),
        received=int(peer.incoming.delivered),
        window=int(peer.outgoing.window),
        round_trip_ms=int(recovery.rtt.smoothed) / 1e6 if recovery else 0.0,
        in_flight_bytes=int(recovery.in_flight) if recovery else 0,
        waiting_bytes=int(link.waiting) if link else 0,
        congestion_window=int(recovery.congestion.window) if recovery else 0,
        packets_lost=int(recovery.packets_lost) if recovery else 0,
        frames_resent=int(link.resent) if link else 0,
    )
