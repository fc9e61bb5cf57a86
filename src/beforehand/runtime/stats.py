"""What a node shows of its inside: what waits and for what, and how the links are doing."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from beforehand.causality.ids import MessageId
from beforehand.protocols.effects import Held
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.peer import Peer


@dataclass(frozen=True)
class Waiting:
    """A message that waits inside the core of this node."""

    id: MessageId
    receivers: tuple[str, ...]  # those that it waits to go to, or this node
    seconds: float  # for how long
    waits_for: tuple[str, ...]  # each a phrase, like "permit of bob for carol#3"

    def __str__(self) -> str:
        to = ", ".join(self.receivers)
        what = ", ".join(self.waits_for) or "its turn"
        return f"{self.id} to {to} has waited {self.seconds:.3f} s for {what}"


@dataclass(frozen=True)
class PeerStats:
    """One peer and the link with it."""

    state: str  # "awaited", "up", "silent" or "dropped"
    accepted: int  # messages that `send` took for it
    delivered: int  # how many of them it has delivered
    consumed: int  # how many of them its application has taken
    received: int  # messages of it that were delivered here
    window: int  # how many may be under way to it
    round_trip_ms: float
    in_flight_bytes: int
    waiting_bytes: int  # in the queue of the link
    congestion_window: int  # bytes
    packets_lost: int
    frames_resent: int


@dataclass(frozen=True)
class Stats:
    """A node at one moment. Counters start with the node."""

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
    stray: int  # datagrams for no session
    refused: int  # forged, damaged or replayed datagrams
    misbehaved: int  # frames of authenticated peers that made no sense
    peers: dict[str, PeerStats]

    def as_dict(self) -> dict[str, object]:
        """The same as plain dictionaries, for JSON."""
        return asdict(self)


def bare(process: str) -> str:
    """What users call a process of the core."""
    name, at, incarnation = process.rpartition("@")
    return name if at and len(incarnation) == 16 else process


def waiting(held: Held, me: str, now: int) -> Waiting:
    """What a core holds, in the words of users."""
    phrases = []
    for wait in held.waits:
        peer = bare(wait.peer)
        owner = me if wait.kind == "ack" else peer
        phrases.append(f"{wait.kind} of {peer} for {owner}#{wait.message_id}")
    return Waiting(
        MessageId(bare(held.sender), held.message_id),
        tuple(bare(receiver) for receiver in held.receivers),
        max(0, now - held.since) / 1e9,
        tuple(phrases),
    )


def stats(engine: Engine, protocol: str) -> Stats:
    """All numbers of a node."""
    counters = engine.counters
    return Stats(
        engine.me.name,
        protocol,
        int(counters.sent) + len(engine.pending),
        int(counters.delivered),
        int(engine.inbox.unread),
        engine.core.unacknowledged() + engine.core.permits_missing(),
        int(counters.datagrams_in),
        int(counters.bytes_in),
        int(counters.datagrams_out),
        int(counters.bytes_out),
        int(counters.stray),
        int(counters.refused),
        int(counters.misbehaved),
        {name: _peer_stats(peer) for name, peer in sorted(engine.peers.items())},
    )


def _peer_stats(peer: Peer) -> PeerStats:
    link = peer.link
    state = "dropped" if peer.gone else "up" if peer.proven else "awaited"
    if link is None:
        return PeerStats(
            state, int(peer.accepted), int(peer.delivered), int(peer.consumed), int(peer.got),
            int(peer.window), 0.0, 0, 0, 0, 0, 0,
        )  # fmt: skip
    recovery = link.recovery
    return PeerStats(
        "silent" if link.silent and state == "up" else state,
        int(peer.accepted),
        int(peer.delivered),
        int(peer.consumed),
        int(peer.got),
        int(peer.window),
        int(recovery.rtt.smoothed) / 1e6,
        int(recovery.in_flight),
        int(link.waiting),
        int(recovery.congestion.window),
        int(recovery.packets_lost),
        int(link.resent),
    )
