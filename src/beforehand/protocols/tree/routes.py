"""How messages travel in a tree (paper 003, section 3): the part of `tree` that runs all the time.

A message goes from neighbour to neighbour along the one path to each of its receivers: one frame for
each branch, with those of the receivers that lie there. A broadcast goes to all neighbours but the one
that it came from. It is passed on before it is delivered, so that an answer follows it on every link.

Invariants, while no subtree moves:

- the neighbours are the parent and the children; everybody else is behind exactly one of them, and
  `hop` says behind which;
- what comes from a neighbour was sent by somebody behind it, and goes to nobody behind it.

During a slide the two ends of the new edge, and the old parent, see some names behind another neighbour
than before: `_behind` knows. A process whose tree has moved around it has a table of its own; the others
share one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Wait
from beforehand.protocols.tree.frames import TreeBroadcast, TreeMessage
from beforehand.protocols.tree.slide import MOVING, PASSED, READY, Slide
from beforehand.protocols.tree.topology import Tree, tree_of


class TreeRoutes(Core):
    """One process of a tree, as far as it passes messages on. Not to be instantiated itself."""

    tree: Final[Tree]  # as it was at the start
    place: Final[int]  # of this process in that tree
    parent: str  # empty for the root
    children: tuple[str, ...]  # sorted
    routes: dict[str, str] | None  # name -> the neighbour on the way; None: as in `tree`
    target: str  # the parent that this process is on its way to; empty if it stays
    slide: Slide | None  # the slide in which it takes part

    def __init__(
        self,
        process: str,
        tree: Tree | Mapping[str, str],
        processes: Iterable[str] | None = None,
    ) -> None:
        super().__init__(process)
        self.tree = tree_of(process, tree, processes)
        self.place = self.tree.places[process]
        above = self.tree.parent(process)
        self.parent = "" if above == process else above
        self.children = self.tree.children(process)
        self.routes = None
        self.target = ""
        self.slide = None

    # ---- the way ----

    def hop(self, name: str) -> str:
        """The neighbour on the way to a process of the tree; oneself for oneself."""
        if self.routes is None:
            return self.tree.hop(self.place, self.tree.places[name])
        return self.routes[name]

    def side(self, neighbour: str) -> list[str]:
        """Everybody who is behind a neighbour, itself included, sorted."""
        return sorted([name for name in self.tree.names if self.hop(name) == neighbour])

    def _turn(self, names: Iterable[str], neighbour: str) -> None:
        """From now on the way to these leads over another neighbour."""
        if self.routes is None:
            self.routes = {name: self.hop(name) for name in self.tree.names}
        for name in names:
            self.routes[name] = neighbour

    def _behind(self, sender: str, name: str) -> bool:
        """Whether what comes from `sender` may be of `name`, and so cannot go to it."""
        slide = self.slide
        if slide is not None:
            if slide.phase == READY and sender == slide.mover:
                return name in slide.side
            if slide.phase == MOVING and sender == slide.old:
                return self.hop(name) == slide.new
        return self.hop(name) == sender

    def _lost(self, name: str) -> bool:
        """Whether no way leads to a process any more: it was dropped, or is behind one that was."""
        fence = self.fence
        return fence is not None and (name in fence.known or self.hop(name) in fence.known)

    # ---- sending ----

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        for name in receivers:
            if name not in self.tree.places:
                raise LocalProtocolError(f"{self.process}: {name} is not in the tree")
            if self._lost(name) and not self.is_dropped(name):
                raise LocalProtocolError(
                    f"{self.process}: {name} cannot be reached: the way leads over {self.hop(name)}, "
                    "which was dropped"
                )

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        if to not in self.tree.places:
            raise LocalProtocolError(f"{self.process}: {to} is not in the tree")
        self.sent += 1
        self._transmit(out, self.hop(to), TreeMessage(self.process, self.sent, (to,), payload))

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        branches = self._branches(receivers)
        for payload in payloads:
            self.sent += 1
            for neighbour, names in branches.items():
                frame = TreeMessage(self.process, self.sent, tuple(names), payload)
                self._transmit(out, neighbour, frame)

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        for payload in payloads:
            self.sent += 1
            self._flood("", TreeBroadcast(self.process, self.sent, payload), out)

    def _branches(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Where to go for whom; those who cannot be reached are left out."""
        branches: dict[str, list[str]] = {}
        for name in names:
            if not self._lost(name):
                branches.setdefault(self.hop(name), []).append(name)
        return branches

    # ---- passing on ----

    def _forward(self, frame: TreeMessage, out: list[Effect]) -> None:
        """A message goes on to those of its receivers that are elsewhere, then is delivered here."""
        here = False
        for neighbour, names in self._branches(frame.to).items():
            if neighbour == self.process:
                here = True
            elif len(names) == len(frame.to):
                self._transmit(out, neighbour, frame)
            else:
                part = TreeMessage(frame.source, frame.number, tuple(names), frame.payload)
                self._transmit(out, neighbour, part)
        if here:
            out.append(Deliver(frame.source, frame.number, frame.payload))

    def _flood(self, sender: str, frame: TreeBroadcast, out: list[Effect]) -> None:
        """A broadcast goes on to everybody but who it came from, then is delivered here."""
        spared = "" if self.slide is None else self.slide.spared(sender)
        if self.parent and self.parent != sender and self.parent != spared:
            self._transmit(out, self.parent, frame)
        for child in self.children:
            if child != sender and child != spared:
                self._transmit(out, child, frame)
        out.append(Deliver(frame.source, frame.number, frame.payload))

    # ---- what cannot come ----

    def _check_link(self, sender: str) -> None:
        """Refuse whoever is no neighbour, or has said that it is none any more."""
        if sender not in self.tree.places or not self._behind(sender, sender):
            raise RemoteProtocolError(sender, f"is no neighbour of {self.process}")
        slide = self.slide
        if slide is not None and slide.phase == PASSED and sender == slide.mover:
            raise RemoteProtocolError(sender, "sends a frame after the last one")

    def _check_origin(self, sender: str, source: str, number: i64) -> None:
        if number < 1:
            raise RemoteProtocolError(sender, f"a message has the number {number}")
        if source not in self.tree.places or not self._behind(sender, source):
            raise RemoteProtocolError(sender, f"a message of {source!r} does not come this way")

    def _check_message(self, sender: str, frame: TreeMessage) -> None:
        self._check_origin(sender, frame.source, frame.number)
        if not frame.to:
            raise RemoteProtocolError(sender, "a message to nobody")
        self._check_names(sender, frame.to)
        for name in frame.to:
            if self._behind(sender, name):
                raise RemoteProtocolError(sender, f"a message to {name} would go back")

    def _check_names(self, sender: str, names: tuple[str, ...]) -> None:
        """Refuse names that are not of the tree, come twice, or come in another order."""
        before = ""
        for name in names:
            if name not in self.tree.places:
                raise RemoteProtocolError(sender, f"{name!r} is not in the tree")
            if name <= before:
                raise RemoteProtocolError(sender, f"{name!r} cannot come after {before!r}")
            before = name

    # ---- looking inside ----

    def held(self) -> list[Held]:
        """What came on a new edge before the old one was at its end."""
        found: list[Held] = []
        slide = self.slide
        if slide is not None:
            waits = (Wait("slide", slide.old, 0),)
            me = (self.process,)
            for frame, since in slide.held:
                if frame.messages():
                    found.append(Held(frame.origin(), int(frame.about()), me, since, waits))
        return found

    def entries(self) -> int:
        """Of messages nothing is kept, unless they are held: origin, number and receivers."""
        total = 0
        if self.slide is not None:
            for frame, _ in self.slide.held:
                total += 2 + (len(frame.to) if isinstance(frame, TreeMessage) else 0)
        return total

    def integers(self) -> int:
        """Its neighbours, its own table if it has one, a slide; not the tree that all share."""
        total = 2 + len(self.children) + self.entries()
        if self.routes is not None:
            total += len(self.routes)
        if self.slide is not None:
            total += self.slide.integers()
        return total + (0 if self.fence is None else self.fence.integers())

    def _state(self) -> tuple[object, ...]:
        routes = None if self.routes is None else tuple(sorted(self.routes.items()))
        slide = None if self.slide is None else self.slide.fingerprint()
        return (self.tree.key(), self.parent, self.children, routes, self.target, slide)
