"""One process's part in a slide: the edge from a to b becomes one from a to c, a neighbour of b.

    a - b - c        a, the mover, hangs under b, its old parent; S is a and what is behind it
    becomes
    a - c - b        c is the new parent, another neighbour of b

The phases, with the frame that starts each and the one that ends it:

    a   ASKING    TreeAsk sent             ->  TreeGo
        MOVING    TreeGo, TreeFarewell sent ->  TreeLast        holds what comes from c
    b   LOCKING   TreeAsk, TreeLock sent   ->  TreeReady
        GRANTED   TreeReady, TreeGo sent   ->  TreeFarewell
        PASSED    TreeFarewell, passed on  ->  TreeHandover
    c   READY     TreeLock, TreeReady sent ->  TreeFarewell     holds what comes from a
        TURNING   TreeFarewell, TreeHandover sent -> TreeClear  holds what comes from a

A process has at most one part in one slide at any time, and refuses every other request: so slides
never overlap around a process. Only a request that crosses one's own on an edge is put off, until
one's own has been answered. docs/tree.md explains why each hold is needed.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.protocols.tree.frames import (
    SlideFrame,
    TreeAsk,
    TreeClear,
    TreeFarewell,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeReady,
    TreeRefusal,
)

ASKING: Final = 1
MOVING: Final = 2
LOCKING: Final = 3
GRANTED: Final = 4
PASSED: Final = 5
READY: Final = 6
TURNING: Final = 7

NO_SIDE: Final[frozenset[str]] = frozenset()


class Slide:
    """The state of a slide at one of its three processes."""

    phase: i64
    mover: Final[str]  # a
    old: Final[str]  # b
    new: str  # c; empty while a does not know it
    side: Final[frozenset[str]]  # S, while c does not route to it yet
    held: list[tuple[Frame, int]]  # what came on the new edge, and when by the caller's clock

    def __init__(
        self, phase: i64, mover: str, old: str, new: str, side: frozenset[str] = NO_SIDE
    ) -> None:
        self.crossing: TreeLock | None = None  # put off until one's own request has been answered
        self.phase = phase
        self.mover = mover
        self.old = old
        self.new = new
        self.side = side
        self.held = []

    def held_peer(self) -> str:
        """Whose frames are held now: the other end of the new edge; or empty."""
        if self.phase == MOVING:
            return self.new
        if self.phase == READY or self.phase == TURNING:
            return self.mover
        return ""

    def spared(self, sender: str) -> str:
        """Who gets no broadcast of `sender`, since its twin comes over the other edge; or empty."""
        if self.phase == MOVING and sender == self.old:
            return self.new
        if self.phase == TURNING and sender == self.old:
            return self.mover
        return ""

    def asks(self) -> str:
        """Whose answer is awaited, before anything has moved; or empty."""
        if self.phase == LOCKING:
            return self.new
        return self.old if self.phase == ASKING else ""

    def gives_way(self, process: str) -> bool:
        """Of two requests that cross: a lock goes before a question, of two locks the lesser name's.

        The other end refuses this process's request, as it refuses all while it waits; then this
        process will be free. If both refused, both might do so forever.
        """
        return self.phase == ASKING or self.new < process

    def expects(self, sender: str, frame: SlideFrame) -> bool:
        """Whether it is the turn of this step, from this process."""
        if frame.mover != self.mover:
            return False
        phase = self.phase
        if isinstance(frame, TreeReady):
            return phase == LOCKING and sender == self.new
        if isinstance(frame, TreeRefusal):
            return sender == self.asks()
        if isinstance(frame, TreeFarewell):
            if phase == GRANTED:
                return sender == self.mover
            return phase == READY and sender == self.old
        if isinstance(frame, TreeHandover):
            return phase == PASSED and sender == self.new
        if isinstance(frame, TreeLast):
            return phase == MOVING and sender == self.old
        return isinstance(frame, TreeClear) and phase == TURNING and sender == self.old

    def involves(self, peer: str) -> bool:
        """Whether a peer is one of the three."""
        return peer == self.mover or peer == self.old or peer == self.new

    def holds_request(self) -> bool:
        """Whether a request is among the held frames."""
        return any(isinstance(frame, (TreeAsk, TreeLock)) for frame, _ in self.held)

    def integers(self) -> int:
        """Identifiers held about the slide itself."""
        return 4 + len(self.side) + (0 if self.crossing is None else len(self.crossing.side))

    def copy(self) -> Slide:
        """An independent record in the same state."""
        twin = Slide(self.phase, self.mover, self.old, self.new, self.side)
        twin.held = self.held.copy()
        twin.crossing = self.crossing
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for slides that go on alike; when things came does not matter."""
        held = tuple([frame for frame, _ in self.held])
        return (int(self.phase), self.mover, self.old, self.new, self.side, held, self.crossing)
