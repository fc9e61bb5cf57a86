"""`tree`: causal order by topology alone (Blessing, Clebsch and Drossopoulou 2017, section 3).

The processes are the nodes of a tree with FIFO links, and messages travel along it. Between two
processes there is only one path, so whatever could inform a process of a message comes behind it on the
last link at the latest: no metadata, no buffers, no acknowledgements. The price is the detour, and that
inner processes work for the others.

A message goes from neighbour to neighbour along the one path to each of its receivers: one frame for
each branch, with those of the receivers that lie there. A broadcast goes to all neighbours but the one
that it came from. Both are forwarded before they are delivered, so that an answer follows on every link.

The paper leaves open how to hang a process, with all below it, under another one while messages are on
their way. That is `reparent`, and `slides.py` has the protocol.

A leaf can be dropped, an inner process cannot: that would cut the tree. Drops learnt from others aren't
an error here, but cut the tree: what is behind a dropped neighbour cannot be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.tree.frames import TreeBroadcast, TreeMessage
from beforehand.protocols.tree.routes import Routes
from beforehand.protocols.tree.slide import LOCKING, Slide
from beforehand.protocols.tree.slides import Slides
from beforehand.protocols.tree.topology import Tree, tree_of


class TreeCore(Core):
    """One process of a tree that may change."""

    routes: Final[Routes]  # its neighbours, and the way to every process
    slides: Final[Slides]  # its part in the slides that change the routes

    def __init__(
        self,
        process: str,
        tree: Tree | Mapping[str, str],
        processes: Iterable[str] | None = None,
    ) -> None:
        super().__init__(process)
        self.routes = Routes(process, tree_of(process, tree, processes))
        self.slides = Slides(self.routes)

    # ---- what callers use ----

    @property
    def parent(self) -> str:
        """The process under which this one hangs; empty for the root."""
        return self.routes.parent

    @property
    def children(self) -> tuple[str, ...]:
        """The processes that hang directly under this one, sorted."""
        return self.routes.children

    @property
    def target(self) -> str:
        """The parent that this process is on its way to; empty if it stays."""
        return self.slides.target

    @property
    def slide(self) -> Slide | None:
        """The slide in which this process takes part."""
        return self.slides.slide

    def reparent(self, parent: str, now: i64 = 0) -> list[Effect]:
        """Hang this process and all below it under `parent`, in as many slides as that takes.

        The properties `parent` and `target` show the progress. If meanwhile the target itself has
        moved below this process, or was dropped, the process stays where it is by then.
        """
        name = check_process(parent)
        if self.is_dropped(name):
            raise PeerDroppedError(f"{self.process}: {name} was dropped; choose another parent")
        if name not in self.routes.tree.index:
            raise LocalProtocolError(f"{self.process}: {name} isn't in the tree")
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
        if self.routes.hop(name) != self.parent:
            raise LocalProtocolError(
                f"{self.process}: {name} is below it; move {name} elsewhere first"
            )
        self._check_receivers([name])
        out: list[Effect] = []
        if name != self.parent:
            self.slides.target = name
            self._ask(out)
        return out

    def drop(self, peer: str, now: i64 = 0) -> list[Effect]:
        """A leaf of the tree is gone for good. See `Core.drop`.

        Of a process that isn't a neighbour only the way to it is known here, so the caller has to
        make sure that it is a leaf.
        """
        name = check_process(peer)
        if not self.is_dropped(name) and name in self.routes.tree.index and self._is_inner(name):
            raise LocalProtocolError(
                f"{self.process}: dropping {name} would cut the tree; move the processes under it "
                "to other parents first"
            )
        return super().drop(name, now)

    def _is_inner(self, peer: str) -> bool:
        """Whether a peer is a neighbour with another process behind it, or about to be."""
        if peer == self.process or self.routes.hop(peer) != peer:
            return False
        slide = self.slide
        if (
            slide is not None
            and slide.phase != LOCKING
            and (peer == slide.old or peer == slide.new)
        ):
            return True
        return self.routes.leads_on(peer)

    # ---- sending ----

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        for name in receivers:
            if name not in self.routes.tree.index:
                raise LocalProtocolError(f"{self.process}: {name} isn't in the tree")
            if self.routes.unreachable(name) and not self.is_dropped(name):
                raise LocalProtocolError(
                    f"{self.process}: {name} cannot be reached: the way leads over "
                    f"{self.routes.hop(name)}, which was dropped"
                )

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        routes = self.routes
        if to not in routes.tree.index:
            raise LocalProtocolError(f"{self.process}: {to} isn't in the tree")
        self.sent += 1
        self._transmit(out, routes.hop(to), TreeMessage(self.process, self.sent, (to,), payload))

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        branches = self.routes.branches(receivers)
        for payload in payloads:
            self.sent += 1
            for neighbour, names in branches.items():
                frame = TreeMessage(self.process, self.sent, tuple(names), payload)
                self._transmit(out, neighbour, frame)

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        for payload in payloads:
            self.sent += 1
            self._flood("", TreeBroadcast(self.process, self.sent, payload), out)

    # ---- forwarding ----

    def _forward(self, frame: TreeMessage, out: list[Effect]) -> None:
        """Pass a message on to those of its receivers that are elsewhere, then deliver it here."""
        here = False
        for neighbour, names in self.routes.branches(frame.to).items():
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
        """Pass a broadcast on to all neighbours but its sender, then deliver it here."""
        routes = self.routes
        slide = self.slides.slide
        spared = "" if slide is None else slide.spared(sender)
        if routes.parent and routes.parent != sender and routes.parent != spared:
            self._transmit(out, routes.parent, frame)
        for child in routes.children:
            if child != sender and child != spared:
                self._transmit(out, child, frame)
        out.append(Deliver(frame.source, frame.number, frame.payload))

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        self.routes.check_link(sender, self.slides.slide)
        if isinstance(frame, TreeMessage):
            self._check_message(sender, frame)
        elif isinstance(frame, TreeBroadcast):
            self._check_origin(sender, frame.source, frame.number)
        else:
            self.slides.check(sender, frame)

    def _check_origin(self, sender: str, source: str, number: i64) -> None:
        routes = self.routes
        if number < 1:
            raise RemoteProtocolError(sender, f"a message has the number {number}")
        if source not in routes.tree.index or not routes.behind(sender, source, self.slides.slide):
            raise RemoteProtocolError(sender, f"a message of {source!r} doesn't come this way")

    def _check_message(self, sender: str, frame: TreeMessage) -> None:
        self._check_origin(sender, frame.source, frame.number)
        if not frame.to:
            raise RemoteProtocolError(sender, "a message to nobody")
        self.routes.check_names(sender, frame.to)
        slide = self.slides.slide
        for name in frame.to:
            if self.routes.behind(sender, name, slide):
                raise RemoteProtocolError(sender, f"a message to {name} would go back")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        slide = self.slides.slide
        if slide is not None and sender == slide.held_peer():
            slide.held.append((frame, int(now)))
        elif isinstance(frame, TreeMessage):
            self._forward(frame, out)
        elif isinstance(frame, TreeBroadcast):
            self._flood(sender, frame, out)
        else:
            steps: list[Transmit] = []
            finished = self.slides.receive(sender, frame, steps)
            self._transmit_steps(steps, out)
            if finished is not None:
                self._use_held(finished, out)

    def _use_held(self, slide: Slide, out: list[Effect]) -> None:
        """A slide is over here: use the frames that it has held, in their order, then go on."""
        peer = slide.held_peer()
        for frame, since in slide.held:
            self._receive(peer, frame, since, out)
        self._ask(out)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        self._ask(out)

    def _ask(self, out: list[Effect]) -> None:
        """Ask for the next slide towards the target, if there is one."""
        steps: list[Transmit] = []
        self.slides.ask(steps)
        self._transmit_steps(steps, out)

    def _transmit_steps(self, steps: list[Transmit], out: list[Effect]) -> None:
        for step in steps:
            self._transmit(out, step.to, step.frame)

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self.routes.dropped |= {peer}
        self.routes.remove_neighbour(peer)
        steps: list[Transmit] = []
        self.slides.drop(peer, steps)
        self._transmit_steps(steps, out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """The messages that came on a new edge before the old one was at its end."""
        held: list[Held] = []
        slide = self.slide
        if slide is not None:
            waits = (Wait("slide", slide.old, 0),)
            me = (self.process,)
            for frame, since in slide.held:
                if frame.messages():
                    held.append(Held(frame.origin(), int(frame.about()), me, since, waits))
        return held

    def entries(self) -> int:
        """Nothing is kept about messages, unless they are held: origin, number and receivers."""
        total = 0
        if self.slide is not None:
            for frame, _ in self.slide.held:
                total += 2 + (len(frame.to) if isinstance(frame, TreeMessage) else 0)
        return total

    def integers(self) -> int:
        total = 2 + self.routes.integers() + self.entries()
        if self.slide is not None:
            total += self.slide.integers()
        return total + (0 if self.fence is None else self.fence.integers())

    def copy(self) -> TreeCore:
        twin = TreeCore(self.process, self.routes.tree)
        self._copy_base(twin)
        self.routes.copy_into(twin.routes)
        self.slides.copy_into(twin.slides)
        return twin

    def _state(self) -> tuple[object, ...]:
        routes = self.routes
        table = None if routes.table is None else tuple(sorted(routes.table.items()))
        slide = None if self.slide is None else self.slide.fingerprint()
        return (routes.tree.key(), routes.parent, routes.children, table, self.target, slide)
