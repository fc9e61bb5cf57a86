"""Overlays that change during a run: neighbours are exchanged, processes come and go.

Which links there should be is decided here, globally and at once, as a peer-sampling service would;
the cores establish them, with frames that take their time. Links go both ways: one end opens first, and
the other as soon as that link is in use. The old link is closed after that, never before (make before
break), and links that mediate stay until they are no longer needed.

In small overlays no link is closed and no process leaves if that would partition the overlay. In large
ones, where checking would be too costly, random graphs of this degree are connected but for a
negligible probability.

    churn:  joins=J,leaves=L,crashes=C,from=T,to=T    at random moments between the two
    open, close:  a>b@2s                              a link from a to b
    reparent:  a>b@2s                                 in a tree: a and its subtree under b
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from beforehand.simulator.overlays.layouts import OverlayLayout
from beforehand.simulator.overlays.peer_sampling import exchange
from beforehand.simulator.world.event_queue import TimingWheel
from beforehand.simulator.world.processes import Population, Process
from beforehand.simulator.world.random_streams import Stream

if TYPE_CHECKING:
    from beforehand.simulator.world.lifecycle import Lifecycle
    from beforehand.simulator.world.simulation import Simulation
    from beforehand.simulator.world.timers import Timers
    from beforehand.simulator.world.transport import SimulatedTransport

MAX_CHECKED: Final = 256  # processes: up to here, no link is lost without a check of connectivity

Edge = tuple[int, int]  # of process indexes; unordered ones have the lower first


class OverlayChange:
    """A change of the overlay that the scenario asks for at a time."""

    def __init__(self, kind: str, time: i64, process: int = -1, peer: int = -1) -> None:
        self.kind: Final = kind  # "open", "close", "reparent", "join", "leave" or "crash"
        self.time: Final = time
        self.process: Final = process  # by its index; -1: any
        self.peer: Final = peer


class PendingLink:
    """A pair of links that is being established."""

    def __init__(self, opener: int, peer: int, mediator: int, giver: int) -> None:
        self.opener: Final = opener
        self.peer: Final = peer
        self.mediator: Final = mediator
        self.giver: Final = giver  # whose choice of the peer it was; -1: a new choice


class OverlayDynamics:
    """The links of a run, by the indexes of the processes."""

    _queue: TimingWheel
    _population: Population
    _transport: SimulatedTransport
    _timers: Timers
    _lifecycle: Lifecycle
    _stream: Stream
    _views: list[dict[int, int]]  # process -> the neighbours that it has chosen, with their ages
    _links: list[set[int]]  # process -> the peers that its links in use lead to

    def __init__(
        self, layout: OverlayLayout, changes: list[OverlayChange], newcomers: int, notice: i64
    ) -> None:
        self.opened: i64 = 0  # links that came into use
        self.closed: i64 = 0
        founders = len(layout.links)
        views: list[dict[int, int]] = [dict.fromkeys(view, 0) for view in layout.views]
        self._views = views + [{} for _ in range(founders + newcomers - len(views))]
        self._links = [set(links) for links in layout.links] + [set() for _ in range(newcomers)]
        self._pending: dict[Edge, PendingLink] = {}  # by (opener, peer) and by (peer, opener)
        self._mediating: dict[Edge, int] = {}  # how many pending links go through this one
        self._unwanted: set[Edge] = set()  # to be closed once they no longer mediate
        self._layout: Final = layout
        self._changes: Final = changes
        self._newcomers = list(range(founders, founders + newcomers))  # have yet to join
        self._joining: dict[int, int] = {}  # newcomer -> its contact
        self._notice: Final = notice  # how long neighbours take to notice a crash

    def start(self, simulation: Simulation) -> None:
        """The run starts: schedule the changes and the first exchanges."""
        self._queue = simulation.queue
        self._population = simulation.population
        self._transport = simulation.transport
        self._timers = simulation.timers
        self._lifecycle = simulation.lifecycle
        self._stream = simulation.application.stream("overlay/changes")
        for change in self._changes:
            self._timers.run_later(partial(self._change, change), change.time)
        if self._layout.period:
            for index in range(len(self._layout.links)):
                self._schedule_exchange(index, self._stream.below(self._layout.period))

    def _process(self, index: int) -> Process:
        return self._population.processes[index]

    def _active(self, index: int) -> bool:
        return self._population.processes[index].active()

    # ---- links ----

    def _in_use(self, one: int, other: int) -> bool:
        """Whether there are links both ways between two processes."""
        return other in self._links[one] and one in self._links[other]

    def _open(self, opener: int, peer: int, via: list[str] | None, back: list[str] | None) -> None:
        process = self._process(opener)
        now = int(self._queue.now)
        effects = process.core.open(self._process(peer).name, via, back, now)
        self._transport.carry_out(process, effects, process)

    def _close(self, opener: int, peer: int) -> None:
        self._links[opener].discard(peer)
        process = self._process(opener)
        name = self._process(peer).name
        if not process.core.is_dropped(name):
            effects = process.core.close(name, int(self._queue.now))
            self._transport.carry_out(process, effects, process)
            self.closed += 1

    def _make(self, opener: int, peer: int, mediator: int, giver: int) -> None:
        """Make links both ways through a mediator that has links to both."""
        if (opener, peer) in self._pending or self._in_use(opener, peer):
            return
        pending = PendingLink(opener, peer, mediator, giver)
        self._pending[opener, peer] = pending
        self._pending[peer, opener] = pending
        for edge in (_edge(mediator, opener), _edge(mediator, peer)):
            self._mediating[edge] = self._mediating.get(edge, 0) + 1
        if peer in self._links[opener]:
            self._open(peer, opener, self._via(peer, mediator), [])
        else:
            self._open(opener, peer, self._via(opener, mediator), None)

    def _via(self, opener: int, mediator: int) -> list[str] | None:
        """A route through the mediator, as long as there is one."""
        if mediator not in self._links[opener] or not self._active(mediator):
            return None
        return [self._process(mediator).name]

    def safe(self, process: Process, peer: Process) -> None:
        """A core reports that its link to a peer is in use."""
        opener, end = int(process.index), int(peer.index)
        if not self._active(end):
            return
        self.opened += 1
        self._links[opener].add(end)
        pending = self._pending.get((opener, end))
        if pending is None:
            if opener in self._joining:
                self._introduce(opener, end)
        elif opener in self._links[end]:
            self._established(pending)
        else:
            # The way back is the link that is now in use, one hop.
            self._open(end, opener, self._via(end, pending.mediator), [])

    def _established(self, pending: PendingLink) -> None:
        """Both links are in use: the giver hands over its choice."""
        self._forget(pending)
        self._views[pending.opener][pending.peer] = 0
        giver = pending.giver
        if giver >= 0 and self._views[giver].pop(pending.peer, -1) >= 0:
            self._unwanted.add(_edge(giver, pending.peer))
        self._close_unwanted(_edge(pending.mediator, pending.opener))
        self._close_unwanted(_edge(pending.mediator, pending.peer))

    def _forget(self, pending: PendingLink) -> None:
        del self._pending[pending.opener, pending.peer]
        del self._pending[pending.peer, pending.opener]
        for end in (pending.opener, pending.peer):
            edge = _edge(pending.mediator, end)
            self._mediating[edge] -= 1
            if self._mediating[edge] == 0:
                del self._mediating[edge]

    def _close_unwanted(self, edge: Edge) -> None:
        one, other = edge
        if edge not in self._unwanted or edge in self._mediating:
            return
        self._unwanted.discard(edge)
        chosen = other in self._views[one] or one in self._views[other]
        if chosen or edge in self._pending or not self._in_use(one, other):
            return
        if not self._connected(edge, -1):
            self._views[one][other] = 0  # still needed
            return
        self._close(one, other)
        self._close(other, one)

    def _connected(self, without: Edge, gone: int) -> bool:
        """Whether the overlay is connected without a pair of links, or without a process."""
        present = [
            int(process.index) for process in self._population.present if process.index != gone
        ]
        if len(present) > MAX_CHECKED:
            return True
        seen = {present[0]}
        todo = [present[0]]
        while todo:
            index = todo.pop()
            for peer in self._links[index]:
                if (
                    peer not in seen
                    and peer != gone
                    and index in self._links[peer]
                    and _edge(index, peer) != without
                ):
                    seen.add(peer)
                    todo.append(peer)
        return len(seen) == len(present)

    # ---- exchanges ----

    def _schedule_exchange(self, index: int, time: i64) -> None:
        self._timers.run_later(lambda: self._exchange(index), time)

    def _exchange(self, index: int) -> None:
        layout = self._layout
        now = self._queue.now
        ends = now >= layout.until if layout.until else self._timers.application_idle()
        if ends or self._process(index).stopped:
            return
        if self._active(index):
            for giver, taker, peer in exchange(self._views, index, self._stream, self._may_give):
                self._make(taker, peer, giver, giver)
        self._schedule_exchange(index, now + layout.period)

    def _may_give(self, one: int, other: int) -> bool:
        edge = _edge(one, other)
        return self._in_use(one, other) and edge not in self._mediating and self._active(other)

    # ---- processes that come and go ----

    def _change(self, change: OverlayChange) -> None:
        kind = change.kind
        if kind == "join":
            self._join()
        elif kind == "leave" or kind == "crash":
            self._depart(kind == "crash")
        elif self._active(change.process) and self._active(change.peer):
            if kind == "open":
                self._open(change.process, change.peer, None, None)
            elif kind == "close":
                if change.peer in self._links[change.process]:
                    self._close(change.process, change.peer)
            else:
                process, parent = self._process(change.process), self._process(change.peer)
                effects = process.core.reparent(parent.name, int(self._queue.now))
                self._transport.carry_out(process, effects, process)

    def _random_present(self) -> int:
        present = self._population.present
        return int(present[self._stream.below(len(present))].index)

    def _join(self) -> None:
        newcomer = self._newcomers.pop(0)
        self._lifecycle.start(self._process(newcomer))
        self._ask_to_join(newcomer)

    def _ask_to_join(self, newcomer: int) -> None:
        """Let a newcomer ask a random contact to admit it."""
        contact = self._random_present()
        self._joining[newcomer] = contact
        process = self._process(newcomer)
        effects = process.core.join(self._process(contact).name, int(self._queue.now))
        self._transport.carry_out(process, effects, process)

    def admitted(self, contact: Process, newcomer: Process) -> None:
        """A contact has admitted a newcomer."""
        self._links[contact.index].add(int(newcomer.index))

    def _introduce(self, newcomer: int, contact: int) -> None:
        """A newcomer has been admitted: the neighbours of its contact choose it."""
        del self._joining[newcomer]
        self._views[newcomer][contact] = 0
        if self._layout.period:
            self._schedule_exchange(newcomer, self._queue.now + self._layout.period)
        for peer in list(self._views[contact]):
            if peer != newcomer and self._may_give(contact, peer):
                self._make(peer, newcomer, contact, -1)

    def _depart(self, crashed: bool) -> None:
        """Stop a random process whose loss leaves the overlay connected."""
        present = self._population.present
        offset = self._stream.below(len(present))
        for step in range(len(present)):
            process = present[(offset + step) % len(present)]
            if len(present) > 2 and self._connected((-1, -1), int(process.index)):
                self._remove(process, crashed)
                return

    def _remove(self, process: Process, crashed: bool) -> None:
        index = int(process.index)
        now = self._queue.now
        if not crashed:
            self._transport.carry_out(process, process.core.leave(int(now)), process)
        self._lifecycle.stop(process, crashed)
        self._timers.run_later(lambda: self._drop(index), now + self._notice)
        self._joining.pop(index, None)
        self._links[index] = set()
        for edge, pending in list(self._pending.items()):
            if index in edge and edge == (pending.opener, pending.peer):
                self._forget(pending)
                self._close_unwanted(_edge(pending.mediator, pending.opener))
                self._close_unwanted(_edge(pending.mediator, pending.peer))
        for peer, links in enumerate(self._links):
            links.discard(index)
            if self._views[peer].pop(index, -1) >= 0 and self._active(peer):
                self._replace(peer)
        for peer in list(self._views[index]):
            if self._active(peer):
                self._replace(peer)
        self._views[index] = {}

    def _drop(self, index: int) -> None:
        """Every process that may have a link with it, or be making one, notices that it is gone."""
        gone = self._process(index).name
        now = int(self._queue.now)
        asked = [newcomer for newcomer, contact in self._joining.items() if contact == index]
        for process in self._population.processes:
            concerned = process.present or int(process.index) in asked
            if concerned and not process.stopped and not process.core.is_dropped(gone):
                self._transport.carry_out(process, process.core.drop(gone, now), process)
        for newcomer in asked:
            self._ask_to_join(newcomer)

    def _replace(self, index: int) -> None:
        """A neighbour is gone: choose a neighbour's neighbour instead."""
        mediators = [peer for peer in sorted(self._links[index]) if self._may_give(index, peer)]
        if not mediators:
            return
        mediator = mediators[self._stream.below(len(mediators))]
        choices = [
            peer
            for peer in sorted(self._links[mediator])
            if peer != index and peer not in self._links[index] and self._may_give(mediator, peer)
        ]
        if choices:
            self._make(index, choices[self._stream.below(len(choices))], mediator, -1)


def _edge(one: int, other: int) -> Edge:
    return (one, other) if one < other else (other, one)
