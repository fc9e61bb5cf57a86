"""`tree`: causal order by topology alone (paper 003).

The processes are the nodes of a tree with FIFO links, and messages travel along it. Between two
processes there is only one path, so whatever could tell a process of a message comes behind it on the
last link at the latest: no metadata, no buffers, no acknowledgements. The price is the detour, and that
inner processes work for the others. How messages travel is in `tree_routes.py`.

Here is what the paper leaves open: to hang a process, with all below it, under another one while
messages are on their way. `reparent` slides it from its parent to a neighbour of that parent, and
again, until it has come to its goal; `tree_slide.py` has the steps of one slide, docs/tree.md
the reasons.

- Before a slide, the mover's request locks its parent and its next parent, in this order. Whoever
  has a part in another slide refuses, and the mover asks again at a later tick: nobody waits while
  it holds a lock. Where two requests cross on an edge, one of them goes first, so somebody always
  gets on.
- A leaf can be dropped, an inner process cannot: that would cut the tree. If drops come from others
  that is not an error here, but a cut: what is behind a dropped neighbour cannot be reached.
- A crash in the middle of a slide is not covered, unless it is that of a mover without subtree.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.effects import Effect
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import foreign
from beforehand.protocols.tree.frames import (
    SlideFrame,
    TreeAsk,
    TreeBroadcast,
    TreeClear,
    TreeFarewell,
    TreeGo,
    TreeGone,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeMessage,
    TreeReady,
    TreeRefusal,
)
from beforehand.protocols.tree.routes import TreeRoutes
from beforehand.protocols.tree.slide import (
    ASKING,
    GRANTED,
    LOCKING,
    MOVING,
    PASSED,
    READY,
    TURNING,
    Slide,
)


class TreeCore(TreeRoutes):
    """One process of a tree that may change."""

    # ---- what callers use ----

    def reparent(self, parent: str, now: i64 = 0) -> list[Effect]:
        """Hang this process and all below it under `parent`, in as many slides as that takes.

        `parent` and `target` tell how far it has got. If meanwhile the goal itself has moved below
        this process, or was dropped, it stays where it is by then.
        """
        name = check_process(parent)
        if self.is_dropped(name):
            raise PeerDroppedError(f"{self.process}: {name} was dropped; choose another parent")
        if name not in self.tree.places:
            raise LocalProtocolError(f"{self.process}: {name} is not in the tree")
        if name == self.process:
            raise LocalProtocolError(f"{self.process}: a process cannot be its own parent")
        if self.target:
            raise LocalProtocolError(
                f"{self.process}: is still on its way to {self.target}; wait until it is there"
            )
        if not self.parent:
            raise LocalProtocolError(
                f"{self.process}: is the root and cannot move; move {name} or others instead"
            )
        if self.hop(name) != self.parent:
            raise LocalProtocolError(
                f"{self.process}: {name} is below it; move {name} elsewhere first"
            )
        self._check_receivers([name])
        out: list[Effect] = []
        if name != self.parent:
            self.target = name
            self._ask(out)
        return out

    def drop(self, peer: str, now: i64 = 0) -> list[Effect]:
        """A leaf of the tree is gone for ever. See `Core.drop`.

        Of a process that is no neighbour nothing is known here but the way to it, so it is up to
        the caller that it is a leaf.
        """
        name = check_process(peer)
        if not self.is_dropped(name) and name in self.tree.places and self._leads_on(name):
            raise LocalProtocolError(
                f"{self.process}: to drop {name} would cut the tree; move what hangs on it to other "
                "parents first"
            )
        return super().drop(name, now)

    def _leads_on(self, peer: str) -> bool:
        """Whether a peer is a neighbour with somebody else behind it, or about to be."""
        if peer == self.process or self.hop(peer) != peer:
            return False
        slide = self.slide
        if (
            slide is not None
            and slide.phase != LOCKING
            and (peer == slide.old or peer == slide.new)
        ):
            return True
        for name in self.tree.names:
            if name != peer and not self.is_dropped(name) and self.hop(name) == peer:
                return True
        return False

    # ---- frames ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, TreeMessage):
            self._check_link(sender)
            self._check_message(sender, frame)
        elif isinstance(frame, TreeBroadcast):
            self._check_link(sender)
            self._check_origin(sender, frame.source, frame.number)
        elif isinstance(frame, TreeAsk):
            self._check_link(sender)
            self._check_ask(sender, frame.target)
        elif isinstance(frame, TreeGo):
            self._check_link(sender)
            self._check_go(sender, frame.parent)
        elif isinstance(frame, TreeLock):
            self._check_link(sender)
            self._check_lock(sender, frame)
        elif isinstance(frame, SlideFrame):
            self._check_link(sender)
            if not self.is_dropped(frame.mover) and not self._is_due(sender, frame):
                raise RemoteProtocolError(
                    sender, f"{type(frame).__name__} of {frame.mover!r}, which is not its turn"
                )
        else:
            raise foreign(sender, frame, "tree")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        slide = self.slide
        if slide is not None and sender == slide.held_peer():
            slide.held.append((frame, int(now)))
        elif isinstance(frame, TreeMessage):
            self._forward(frame, out)
        elif isinstance(frame, TreeBroadcast):
            self._flood(sender, frame, out)
        elif isinstance(frame, TreeAsk):
            self._asked(sender, frame.target, out)
        elif isinstance(frame, TreeLock):
            self._locked(sender, frame, out)
        elif slide is not None:
            self._step(slide, frame, out)

    def _step(self, slide: Slide, frame: Frame, out: list[Effect]) -> None:
        """The next step of the slide."""
        if isinstance(frame, TreeGo):
            self._leave(slide, frame.parent, out)
        elif isinstance(frame, SlideFrame) and frame.mover != slide.mover:
            pass  # about a mover that has been dropped
        elif isinstance(frame, TreeReady):
            slide.crossing = None  # its mover was dropped: otherwise this would be a refusal
            slide.phase = GRANTED
            self._tell(out, slide.mover, TreeGo(slide.new))
        elif isinstance(frame, TreeRefusal):
            self._refused(slide, frame.lasting, out)
        elif isinstance(frame, TreeFarewell):
            self._take_leave(slide, out)
        elif isinstance(frame, TreeHandover):
            self._hand_over(slide, out)
        elif isinstance(frame, (TreeLast, TreeClear)):
            self._finish(slide, out)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        self._ask(out)

    # ---- requests ----

    def _ask(self, out: list[Effect]) -> None:
        """Go on towards the target, if there is one and this process is free."""
        if not self.target or self.slide is not None:
            return
        if self.target == self.parent or self.hop(self.target) != self.parent:
            self.target = ""  # there, or it has moved below this process
        elif self._lost(self.target):
            self.target = ""
        else:
            self.slide = Slide(ASKING, self.process, self.parent, "")
            self._transmit(out, self.parent, TreeAsk(self.target))

    def _check_ask(self, sender: str, target: str) -> None:
        self._check_free(sender)
        if sender == self.parent:
            raise RemoteProtocolError(sender, f"does not hang under {self.process}")
        if target not in self.tree.places or target == self.process:
            raise RemoteProtocolError(sender, f"cannot move nearer to {target!r}")
        if self._behind(sender, target):
            raise RemoteProtocolError(sender, f"cannot move under {target}, which is below it")

    def _check_free(self, sender: str) -> None:
        """Refuse a request of somebody who has a part in this process's slide, unless they cross."""
        slide = self.slide
        if slide is None or not slide.involves(sender):
            return
        if sender == slide.held_peer():
            if slide.holds_request():
                raise RemoteProtocolError(sender, "asks for a second slide before the first")
        elif sender != slide.asks() or slide.crossing is not None:
            raise RemoteProtocolError(sender, "asks for a second slide in the middle of one")

    def _asked(self, sender: str, target: str, out: list[Effect]) -> None:
        """A child wants to move: ask the next process on its way to take it in."""
        if self.slide is not None:
            self._tell(out, sender, TreeRefusal(sender, False))
        elif self._lost(target):
            self._tell(out, sender, TreeRefusal(sender, True))
        else:
            new = self.hop(target)
            self.slide = Slide(LOCKING, sender, self.process, new)
            self._tell(out, new, TreeLock(sender, tuple(self.side(sender))))

    def _check_lock(self, sender: str, frame: TreeLock) -> None:
        self._check_free(sender)
        self._check_names(sender, frame.side)
        if frame.mover not in frame.side or sender in frame.side:
            raise RemoteProtocolError(sender, f"cannot hand over {frame.mover!r} with {frame.side}")
        for name in frame.side:
            if not self._behind(sender, name):
                raise RemoteProtocolError(sender, f"cannot hand over {name}, which is elsewhere")

    def _locked(self, sender: str, frame: TreeLock, out: list[Effect]) -> None:
        """A neighbour wants to hand over one of its neighbours: be ready, or say no."""
        slide = self.slide
        if slide is not None and sender == slide.asks() and self._gives_way(slide):
            slide.crossing = frame
        elif slide is not None or self.is_dropped(frame.mover):
            self._tell(out, sender, TreeRefusal(frame.mover, False))
        else:
            side = frozenset(frame.side)
            self.slide = Slide(READY, frame.mover, sender, self.process, side)
            self._tell(out, sender, TreeReady(frame.mover))

    def _gives_way(self, slide: Slide) -> bool:
        """Of requests that cross: a lock goes before a question, of two locks that of the lesser.

        The other end refuses this process's request, as it refuses all while it waits; then this
        process will be free. If both refused, both might do so for ever.
        """
        return slide.phase == ASKING or slide.new < self.process

    def _refused(self, slide: Slide, lasting: bool, out: list[Effect]) -> None:
        """One's own request was refused. A mover asks again at the next tick."""
        if slide.phase == ASKING and lasting:
            self.target = ""
        self._give_up(slide, lasting, out)

    def _give_up(self, slide: Slide, lasting: bool, out: list[Effect]) -> None:
        """Nothing comes of a request: tell the mover, and look at the one that was put off."""
        self.slide = None
        if slide.phase == LOCKING:
            self._tell(out, slide.mover, TreeRefusal(slide.mover, lasting))
        if slide.crossing is not None:
            self._locked(slide.asks(), slide.crossing, out)
        elif slide.phase == LOCKING:
            self._ask(out)

    def _tell(self, out: list[Effect], to: str, frame: Frame) -> None:
        """Steps of a slide are not for those who were dropped in its course."""
        if not self.is_dropped(to):
            self._transmit(out, to, frame)

    # ---- the slide ----

    def _check_go(self, sender: str, parent: str) -> None:
        slide = self.slide
        if slide is None or slide.phase != ASKING or sender != slide.old:
            raise RemoteProtocolError(sender, "allows what was not asked for")
        if parent not in self.tree.places or parent == sender or self.hop(parent) != sender:
            raise RemoteProtocolError(sender, f"{parent!r} cannot be the next parent")

    def _is_due(self, sender: str, frame: SlideFrame) -> bool:
        """Whether it is the turn of this step, from this process."""
        if isinstance(frame, TreeGone):
            return frame.mover in self.tree.places
        slide = self.slide
        if slide is None or frame.mover != slide.mover:
            return False
        phase = slide.phase
        if isinstance(frame, TreeReady):
            return phase == LOCKING and sender == slide.new
        if isinstance(frame, TreeRefusal):
            return sender == slide.asks()
        if isinstance(frame, TreeFarewell):
            if phase == GRANTED:
                return sender == slide.mover
            return phase == READY and sender == slide.old
        if isinstance(frame, TreeHandover):
            return phase == PASSED and sender == slide.new
        if isinstance(frame, TreeLast):
            return phase == MOVING and sender == slide.old
        return isinstance(frame, TreeClear) and phase == TURNING and sender == slide.old

    def _leave(self, slide: Slide, parent: str, out: list[Effect]) -> None:
        """At a: F is the last frame to the old parent; all that went there goes to the new one."""
        slide.crossing = None  # as above: its mover was dropped
        slide.phase = MOVING
        slide.new = parent
        self._tell(out, slide.old, TreeFarewell(self.process))
        self._turn(self.side(slide.old), parent)
        self.parent = parent

    def _take_leave(self, slide: Slide, out: list[Effect]) -> None:
        """At b: pass F on. At c: the way to the mover's side is now the new edge; tell b by H."""
        if slide.phase == GRANTED:
            slide.phase = PASSED
            self._tell(out, slide.new, TreeFarewell(slide.mover))
        else:
            slide.phase = TURNING
            self._turn(slide.side, slide.mover)
            self.children = tuple(sorted([*self.children, slide.mover]))
            self._tell(out, slide.old, TreeHandover(slide.mover))

    def _hand_over(self, slide: Slide, out: list[Effect]) -> None:
        """At b: L is the last frame on the old edge, K tells c so; the rest goes over c."""
        self._tell(out, slide.mover, TreeLast(slide.mover))
        self._tell(out, slide.new, TreeClear(slide.mover))
        self._turn(self.side(slide.mover), slide.new)
        self._forget(slide.mover)
        self._finish(slide, out)

    def _finish(self, slide: Slide, out: list[Effect]) -> None:
        """The slide is over here: use what was held, in its order, then go on."""
        peer = slide.held_peer()
        self.slide = None
        for frame, since in slide.held:
            self._receive(peer, frame, since, out)
        self._ask(out)

    def _forget(self, neighbour: str) -> None:
        if neighbour == self.parent:
            self.parent = ""
        else:
            self.children = tuple([name for name in self.children if name != neighbour])

    # ---- peers that are gone ----

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self._forget(peer)
        if peer == self.target:
            self.target = ""
        slide = self.slide
        if slide is None:
            return
        if peer == slide.mover:
            # The third must hear of it in order to be free again.
            other = slide.new if self.process == slide.old else slide.old
            self._tell(out, other, TreeGone(peer))
            self._give_up(slide, False, out)
        elif peer == slide.asks():
            slide.crossing = None
            if slide.phase == ASKING:
                self.target = ""
            self._give_up(slide, False, out)

    def copy(self) -> TreeCore:
        """An independent core in the same state."""
        twin = TreeCore(self.process, self.tree)
        twin.sent = self.sent
        twin.fence = None if self.fence is None else self.fence.copy()
        twin.parent = self.parent
        twin.children = self.children
        twin.routes = None if self.routes is None else self.routes.copy()
        twin.target = self.target
        twin.slide = None if self.slide is None else self.slide.copy()
        return twin
