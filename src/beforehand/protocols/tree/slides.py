"""How a subtree moves: the requests and steps by which `tree` hangs a process under another one.

Blessing, Clebsch and Drossopoulou leave open how a tree may change while messages are on their way.
Here a process slides from its parent to a neighbour of that parent, and again, until it has reached its
target; `slide.py` has the phases of one slide, docs/tree.md the reasons.

Before a slide, the mover's request locks its parent and its next parent, in this order. A process that
takes part in another slide refuses, and the mover asks again at a later tick: nobody waits while holding
a lock. Where two requests cross on an edge, one of them goes first, so somebody always makes progress.

A crash in the middle of a slide is not covered, unless it is that of a mover without subtree.
"""

from __future__ import annotations

from typing import Final

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.effects import Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import foreign
from beforehand.protocols.tree.frames import (
    SlideFrame,
    TreeAsk,
    TreeClear,
    TreeFarewell,
    TreeGo,
    TreeGone,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeReady,
    TreeRefusal,
)
from beforehand.protocols.tree.routes import Routes
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


class Slides:
    """The part of one process in the slides of its tree, its own and those of its neighbours."""

    process: Final[str]
    routes: Final[Routes]  # the same object as its core's

    def __init__(self, routes: Routes) -> None:
        self.target: str = ""  # the parent that this process is on its way to; empty if it stays
        self.slide: Slide | None = None  # the slide in which it takes part
        self.process = routes.process
        self.routes = routes

    def copy_into(self, twin: Slides) -> None:
        """Give the slides of a new core this state."""
        twin.target = self.target
        twin.slide = None if self.slide is None else self.slide.copy()

    def _transmit(self, out: list[Transmit], to: str, frame: Frame) -> None:
        """Steps of a slide don't go to processes that were dropped in its course."""
        if to not in self.routes.dropped:
            out.append(Transmit(to, frame))

    # ---- what cannot come ----

    def check(self, sender: str, frame: Frame) -> None:
        """Refuse a request or a step from a neighbour that is out of turn."""
        if isinstance(frame, TreeAsk):
            self._check_ask(sender, frame.name)
        elif isinstance(frame, TreeGo):
            self._check_go(sender, frame.name)
        elif isinstance(frame, TreeLock):
            self._check_lock(sender, frame)
        elif isinstance(frame, SlideFrame):
            if frame.mover not in self.routes.dropped and not self._is_due(sender, frame):
                raise RemoteProtocolError(
                    sender, f"{type(frame).__name__} of {frame.mover!r} is out of turn"
                )
        else:
            raise foreign(sender, frame, "tree")

    def _check_ask(self, sender: str, target: str) -> None:
        self._check_free(sender)
        if sender == self.routes.parent:
            raise RemoteProtocolError(sender, f"isn't a child of {self.process}")
        if target not in self.routes.tree.index or target == self.process:
            raise RemoteProtocolError(sender, f"cannot move nearer to {target!r}")
        if self.routes.behind(sender, target, self.slide):
            raise RemoteProtocolError(sender, f"cannot move under {target}, which is below it")

    def _check_free(self, sender: str) -> None:
        """Refuse a request of a process that takes part in this slide, unless the requests cross."""
        slide = self.slide
        if slide is None or not slide.involves(sender):
            return
        if sender == slide.held_peer():
            if slide.holds_request():
                raise RemoteProtocolError(sender, "asks for a second slide before the first")
        elif sender != slide.asks() or slide.crossing is not None:
            raise RemoteProtocolError(sender, "asks for a second slide in the middle of one")

    def _check_lock(self, sender: str, frame: TreeLock) -> None:
        self._check_free(sender)
        self.routes.check_names(sender, frame.side)
        if frame.mover not in frame.side or sender in frame.side:
            raise RemoteProtocolError(sender, f"cannot hand over {frame.mover!r} with {frame.side}")
        for name in frame.side:
            if not self.routes.behind(sender, name, self.slide):
                raise RemoteProtocolError(sender, f"cannot hand over {name}, which is elsewhere")

    def _check_go(self, sender: str, parent: str) -> None:
        routes = self.routes
        slide = self.slide
        if slide is None or slide.phase != ASKING or sender != slide.old:
            raise RemoteProtocolError(sender, "grants a move that wasn't requested")
        if parent not in routes.tree.index or parent == sender or routes.hop(parent) != sender:
            raise RemoteProtocolError(sender, f"{parent!r} cannot be the next parent")

    def _is_due(self, sender: str, frame: SlideFrame) -> bool:
        if isinstance(frame, TreeGone):
            return frame.mover in self.routes.tree.index
        return self.slide is not None and self.slide.expects(sender, frame)

    # ---- requests ----

    def ask(self, out: list[Transmit]) -> None:
        """Go on towards the target, if there is one and this process is free."""
        if not self.target or self.slide is not None:
            return
        parent = self.routes.parent
        if self.target == parent or self.routes.hop(self.target) != parent:
            self.target = ""  # reached, or it has moved below this process
        elif self.routes.unreachable(self.target):
            self.target = ""
        else:
            self.slide = Slide(ASKING, self.process, parent, "")
            self._transmit(out, parent, TreeAsk(self.target))

    def receive(self, sender: str, frame: Frame, out: list[Transmit]) -> Slide | None:
        """Take a request or a step; returns the slide that ends here with it, if one does.

        The caller then uses the frames that the slide has held, in their order, and calls `ask`.
        """
        slide = self.slide
        if isinstance(frame, TreeAsk):
            self._asked(sender, frame.name, out)
        elif isinstance(frame, TreeLock):
            self._locked(sender, frame, out)
        elif slide is None:
            pass  # about a mover that has been dropped
        elif isinstance(frame, TreeGo):
            self._leave(slide, frame.name, out)
        elif isinstance(frame, SlideFrame) and frame.mover != slide.mover:
            pass  # the same
        elif isinstance(frame, TreeReady):
            slide.crossing = None  # its mover was dropped: otherwise this would be a refusal
            slide.phase = GRANTED
            self._transmit(out, slide.mover, TreeGo(slide.new))
        elif isinstance(frame, TreeRefusal):
            self._refused(slide, frame.lasting, out)
        elif isinstance(frame, TreeFarewell):
            self._farewell(slide, out)
        elif isinstance(frame, TreeHandover):
            self._hand_over(slide, out)
            return slide
        elif isinstance(frame, (TreeLast, TreeClear)):
            self.slide = None
            return slide
        return None

    def _asked(self, sender: str, target: str, out: list[Transmit]) -> None:
        """A child wants to move: ask the next process on its way to take it in."""
        if self.slide is not None:
            self._transmit(out, sender, TreeRefusal(sender, False))
        elif self.routes.unreachable(target):
            self._transmit(out, sender, TreeRefusal(sender, True))
        else:
            new = self.routes.hop(target)
            self.slide = Slide(LOCKING, sender, self.process, new)
            self._transmit(out, new, TreeLock(sender, tuple(self.routes.side(sender))))

    def _locked(self, sender: str, frame: TreeLock, out: list[Transmit]) -> None:
        """A neighbour wants to hand over one of its neighbours: be ready, or refuse."""
        slide = self.slide
        if slide is not None and sender == slide.asks() and slide.gives_way(self.process):
            slide.crossing = frame
        elif slide is not None or frame.mover in self.routes.dropped:
            self._transmit(out, sender, TreeRefusal(frame.mover, False))
        else:
            side = frozenset(frame.side)
            self.slide = Slide(READY, frame.mover, sender, self.process, side)
            self._transmit(out, sender, TreeReady(frame.mover))

    def _refused(self, slide: Slide, lasting: bool, out: list[Transmit]) -> None:
        """This process's own request was refused. A mover asks again at the next tick."""
        if slide.phase == ASKING and lasting:
            self.target = ""
        self._give_up(slide, lasting, out)

    def _give_up(self, slide: Slide, lasting: bool, out: list[Transmit]) -> None:
        """A request failed: inform the mover, and answer the request that was put off."""
        self.slide = None
        if slide.phase == LOCKING:
            self._transmit(out, slide.mover, TreeRefusal(slide.mover, lasting))
        if slide.crossing is not None:
            self._locked(slide.asks(), slide.crossing, out)
        elif slide.phase == LOCKING:
            self.ask(out)

    # ---- the slide ----

    def _leave(self, slide: Slide, parent: str, out: list[Transmit]) -> None:
        """At a: F is the last frame to the old parent; what went there goes to the new one."""
        slide.crossing = None  # as above: its mover was dropped
        slide.phase = MOVING
        slide.new = parent
        self._transmit(out, slide.old, TreeFarewell(self.process))
        self.routes.reroute(self.routes.side(slide.old), parent)
        self.routes.parent = parent

    def _farewell(self, slide: Slide, out: list[Transmit]) -> None:
        """At b: pass F on. At c: the way to the mover's side is now the new edge; H informs b."""
        if slide.phase == GRANTED:
            slide.phase = PASSED
            self._transmit(out, slide.new, TreeFarewell(slide.mover))
        else:
            slide.phase = TURNING
            self.routes.reroute(slide.side, slide.mover)
            self.routes.add_child(slide.mover)
            self._transmit(out, slide.old, TreeHandover(slide.mover))

    def _hand_over(self, slide: Slide, out: list[Transmit]) -> None:
        """At b: L is the last frame on the old edge, K informs c; the rest goes over c."""
        self._transmit(out, slide.mover, TreeLast(slide.mover))
        self._transmit(out, slide.new, TreeClear(slide.mover))
        self.routes.reroute(self.routes.side(slide.mover), slide.new)
        self.routes.remove_neighbour(slide.mover)
        self.slide = None

    # ---- peers that are gone ----

    def drop(self, peer: str, out: list[Transmit]) -> None:
        """A peer was dropped: end what it was needed for."""
        if peer == self.target:
            self.target = ""
        slide = self.slide
        if slide is None:
            return
        if peer == slide.mover:
            # The third process must learn of it in order to be free again.
            other = slide.new if self.process == slide.old else slide.old
            self._transmit(out, other, TreeGone(peer))
            self._give_up(slide, False, out)
        elif peer == slide.asks():
            slide.crossing = None
            if slide.phase == ASKING:
                self.target = ""
            self._give_up(slide, False, out)
