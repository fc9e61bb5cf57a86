"""What a node knows: its core, the peers it talks to, and what waits to be looked at by others.

`Sending` says how messages are accepted and what becomes of the wishes of the core, `Meeting` what
happens when peers come and go, and `Engine` has the turns of the loop. Each builds on the one before.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.counters import Counters
from beforehand.runtime.engine.inbox import Inbox
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.link import Link
from beforehand.runtime.recording.node_trace import NodeTrace


class Route:
    """Where a send goes: the receivers as the user named them, and as the core does."""

    key: Final[object]
    peers: Final[list[Peer]]
    to: Final[object]  # for the core: one process, several, or None for everybody
    names: Final[tuple[str, ...] | None]  # the same for the trace

    def __init__(
        self, key: object, peers: list[Peer], to: object, names: tuple[str, ...] | None
    ) -> None:
        self.key = key
        self.peers = peers
        self.to = to
        self.names = names


class Late:
    """An acknowledgement that has time: of packets, by a link, or of messages, by a core."""

    peer: Final[Peer]
    link: Final[Link]  # by which it came
    now: Final[i64]  # when it came
    frame: Final[Frame | None]  # of the core,
    ranges: Final[list[tuple[int, int]]]  # or of the link
    delay: Final[i64]

    def __init__(
        self,
        peer: Peer,
        link: Link,
        now: i64,
        frame: Frame | None,
        ranges: list[tuple[int, int]],
        delay: i64,
    ) -> None:
        self.peer = peer
        self.link = link
        self.now = now
        self.frame = frame
        self.ranges = ranges
        self.delay = delay


NO_RANGES: Final[list[tuple[int, int]]] = []  # shared, never changed


class EngineState:
    """The fields of an engine."""

    core: Core
    me: Peer
    unicasts: bool  # what the protocol can do
    multicasts: bool
    broadcasts: bool
    peers: dict[str, Peer]  # by name: the incarnation that is up, or the one that is awaited
    processes: dict[str, Peer]  # by the core's name: all that ever sent something and are not gone
    links: dict[bytes, Peer]  # by connection
    routes: dict[object, Route]
    route: Route | None  # of the last send
    pending: list[bytes]
    inbox: Inbox
    dirty: list[Link]
    later: list[Late]
    watched: bool  # somebody waits for room, or for a delivery
    eased: list[Peer]  # peers that granted more, or told of deliveries, since the node looked
    ripe: bool  # so much waits in a link that it should be written now, and not at the end of the turn
    left: set[str]  # processes that said goodbye: they need not be given up
    dropped: list[Peer]  # peers that were dropped since the node looked
    lost: list[tuple[int, int]]  # our messages that dropped peers are not known to have delivered
    strange: list[tuple[bytes, Hashable]]  # datagrams of no session: handshakes, or noise
    proven: list[Peer]  # peers that showed that they hold the keys of their session
    woken: list[Peer]  # silent peers that were heard again
    ghosts: list[Peer]  # dropped peers that were heard: they do not know yet
    moved: list[tuple[Peer, Hashable]]  # sessions that were heard from a new address
    spoken: list[tuple[Peer, i64, bytes]]  # frames for the node: challenges, responses, farewells
    misbehaved: list[tuple[Peer, str]]
    blocked: Peer | None  # who kept the last `try_send` from being accepted
    now: i64  # the time of this turn of the loop, for those to whom it is near enough
    drops: i64
    heartbeat: i64
    timers: list[tuple[int, int, Link]]
    ticks: i64  # tells timers of the same time apart
    trace: NodeTrace | None
    counters: Counters

    def __init__(
        self, core: Core, name: str, window: int, window_bytes: int, heartbeat: int
    ) -> None:
        self.core = core
        self.me = Peer(name, core.process)
        self.me.window = window
        self.me.window_bytes = window_bytes
        self.unicasts = True
        self.multicasts = True
        self.broadcasts = False
        self.peers = {}
        self.processes = {core.process: self.me}
        self.links = {}
        self.routes = {}
        self.route = None
        self.pending = []
        self.inbox = Inbox()
        self.dirty = []
        self.later = []
        self.watched = False
        self.eased = []
        self.ripe = False
        self.left = set()
        self.dropped = []
        self.lost = []
        self.strange = []
        self.proven = []
        self.woken = []
        self.ghosts = []
        self.moved = []
        self.spoken = []
        self.misbehaved = []
        self.blocked = None
        self.now = 0
        self.drops = 0
        self.heartbeat = heartbeat
        self.timers = []
        self.ticks = 0
        self.trace = None
        self.counters = Counters()

    def touch(self, link: Link) -> None:
        """The link has something to write."""
        if not link.dirty:
            link.dirty = True
            self.dirty.append(link)
