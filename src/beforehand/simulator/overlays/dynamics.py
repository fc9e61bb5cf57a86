"""Overlays that change while messages fly: exchanges of neighbours, processes that come and go.

Who wants which link is decided here, at once and for all to see, as a peer-sampling service would; the
links themselves are made by the cores, with frames that take their time. Links go both ways: one end
opens first, and the other as soon as that link is in use. The old link is closed after that, never
before (make before break), and links that mediate stay until they are no longer needed.

In small overlays no link is closed and nobody goes if that would cut off somebody. In large ones, where
that would be too costly to see, random graphs of this degree are connected but for a negligible chance.

    churn:  joins=J,leaves=L,crashes=C,from=T,to=T    at random moments between the two
    open, close:  a>b@2s                              a link from a to b
    reparent:  a>b@2s                                 of a tree: a and all below it under b
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.effects import Effect
from beforehand.simulator.overlays.layouts import Layout
from beforehand.simulator.overlays.peer_sampling import exchange
from beforehand.simulator.workloads.workload import Stage
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream

SMALL: Final = 256  # processes: up to here, connectedness is looked at before each loss of a link

Edge = tuple[int, int]  # of places; unordered ones have the lower first


class Change:
    """Something about the overlay that the scenario wants at a time."""

    kind: Final[str]  # "open", "close", "reparent", "join", "leave" or "crash"
    time: Final[i64]
    process: Final[int]  # by its place; -1: any
    peer: Final[int]

    def __init__(self, kind: str, time: i64, process: int = -1, peer: int = -1) -> None:
        self.kind = kind
        self.time = time
        self.process = process
        self.peer = peer


class Making:
    """A pair of links that is being made."""

    opener: Final[int]
    peer: Final[int]
    mediator: Final[int]
    giver: Final[int]  # whose choice of the peer it was; -1: it is a new one

    def __init__(self, opener: int, peer: int, mediator: int, giver: int) -> None:
        self.opener = opener
        self.peer = peer
        self.mediator = mediator
        self.giver = giver


class Crowd(Stage):
    """What an overlay sees of the simulation, and may do there."""

    def carry(self, process: Process, effects: list[Effect], likely: Process) -> None:
        """Do what a core says, then what the application does about it.

        `likely` is whom it is most likely about: nearly always that saves looking for the name.
        """
        raise NotImplementedError

    def in_background(self, function: Callable[[], None], time: i64) -> None:
        """Let something happen later that the end of the run need not wait for."""
        raise NotImplementedError

    def idle(self) -> bool:
        """Whether the application has nothing more to do."""
        raise NotImplementedError

    def depart(self, process: Process, crashed: bool) -> None:
        """A process goes for ever."""
        raise NotImplementedError

    def arrive_new(self, process: Process) -> None:
        """A process begins."""
        raise NotImplementedError


class Overlay:
    """The links of a run, by the places of the processes."""

    crowd: Crowd
    opened: i64  # links that came into use
    closed: i64
    _stream: Stream
    _views: Final[list[dict[int, int]]]  # process -> the neighbours that it has chosen, with ages
    _links: Final[list[set[int]]]  # process -> where its links in use lead
    _making: Final[dict[Edge, Making]]  # (opener, peer), and (peer, opener) for the way back
    _mediating: dict[Edge, int]  # how many links are being made over this one
    _unwanted: set[Edge]  # to be closed when it mediates no more
    _layout: Final[Layout]
    _changes: Final[list[Change]]
    _newcomers: list[int]  # who has yet to join
    _joining: dict[int, int]  # newcomer -> its contact
    _notice: Final[i64]  # how long it takes until neighbours know of a crash

    def __init__(self, layout: Layout, changes: list[Change], newcomers: int, notice: i64) -> None:
        self.opened = 0
        self.closed = 0
        known = len(layout.links)
        views: list[dict[int, int]] = [dict.fromkeys(view, 0) for view in layout.views]
        self._views = views + [{} for _ in range(known + newcomers - len(views))]
        self._links = [set(each) for each in layout.links] + [set() for _ in range(newcomers)]
        self._making = {}
        self._mediating = {}
        self._unwanted = set()
        self._layout = layout
        self._changes = changes
        self._newcomers = list(range(known, known + newcomers))
        self._joining = {}
        self._notice = notice

    def start(self, crowd: Crowd) -> None:
        """The run begins."""
        self.crowd = crowd
        self._stream = crowd.stream("overlay/changes")
        for change in self._changes:
            self._schedule_change(change)
        period = self._layout.period
        if period:
            for place in range(len(self._layout.links)):
                self._schedule_exchange(place, self._stream.below(period))

    def _schedule_change(self, change: Change) -> None:
        self.crowd.in_background(lambda: self._change(change), change.time)

    def _process(self, place: int) -> Process:
        return self.crowd.processes[place]

    def _is_there(self, place: int) -> bool:
        process = self._process(place)
        return process.present and not process.stopped

    # ---- links ----

    def _in_use(self, one: int, other: int) -> bool:
        """Whether there are links both ways between two that are there."""
        return other in self._links[one] and one in self._links[other]

    def _open(self, opener: int, peer: int, via: list[str] | None, back: list[str] | None) -> None:
        process = self._process(opener)
        now = int(self.crowd.engine.now)
        effects = process.core.open(self._process(peer).name, via, back, now)
        self.crowd.carry(process, effects, process)

    def _close(self, opener: int, peer: int) -> None:
        self._links[opener].discard(peer)
        process = self._process(opener)
        name = self._process(peer).name
        if not process.core.is_dropped(name):
            effects = process.core.close(name, int(self.crowd.engine.now))
            self.crowd.carry(process, effects, process)
            self.closed += 1

    def _make(self, opener: int, peer: int, mediator: int, giver: int) -> None:
        """Make links both ways with the help of somebody who has links to both."""
        if (opener, peer) in self._making or self._in_use(opener, peer):
            return
        making = Making(opener, peer, mediator, giver)
        self._making[opener, peer] = making
        self._making[peer, opener] = making
        for edge in (_edge(mediator, opener), _edge(mediator, peer)):
            self._mediating[edge] = self._mediating.get(edge, 0) + 1
        if peer in self._links[opener]:
            self._open(peer, opener, self._via(peer, mediator), [])
        else:
            self._open(opener, peer, self._via(opener, mediator), None)

    def _via(self, opener: int, mediator: int) -> list[str] | None:
        """A route over the mediator, as long as there is one."""
        if mediator not in self._links[opener] or not self._is_there(mediator):
            return None
        return [self._process(mediator).name]

    def safe(self, process: Process, peer: Process) -> None:
        """A core says that its link to a peer is in use."""
        opener, end = int(process.index), int(peer.index)
        if not self._is_there(end):
            return
        self.opened += 1
        self._links[opener].add(end)
        making = self._making.get((opener, end))
        if making is None:
            if opener in self._joining:
                self._greet(opener, end)
        elif opener in self._links[end]:
            self._made(making)
        else:
            # The link that has just been made is the way back, by one hop.
            self._open(end, opener, self._via(end, making.mediator), [])

    def _made(self, making: Making) -> None:
        """Both links are in use: the choice changes hands."""
        self._forget_making(making)
        self._views[making.opener][making.peer] = 0
        giver = making.giver
        if giver >= 0 and self._views[giver].pop(making.peer, -1) >= 0:
            self._unwanted.add(_edge(giver, making.peer))
        self._close_unwanted(_edge(making.mediator, making.opener))
        self._close_unwanted(_edge(making.mediator, making.peer))

    def _forget_making(self, making: Making) -> None:
        del self._making[making.opener, making.peer]
        del self._making[making.peer, making.opener]
        for end in (making.opener, making.peer):
            edge = _edge(making.mediator, end)
            self._mediating[edge] -= 1
            if self._mediating[edge] == 0:
                del self._mediating[edge]

    def _close_unwanted(self, edge: Edge) -> None:
        one, other = edge
        if edge not in self._unwanted or edge in self._mediating:
            return
        self._unwanted.discard(edge)
        chosen = other in self._views[one] or one in self._views[other]
        if chosen or edge in self._making or not self._in_use(one, other):
            return
        if not self._connected(edge, -1):
            self._views[one][other] = 0  # it is needed after all
            return
        self._close(one, other)
        self._close(other, one)

    def _connected(self, without: Edge, gone: int) -> bool:
        """Whether everybody reaches everybody without this pair of links, or without somebody."""
        present = [int(process.index) for process in self.crowd.present if process.index != gone]
        if len(present) > SMALL:
            return True
        seen = {present[0]}
        todo = [present[0]]
        while todo:
            place = todo.pop()
            for peer in self._links[place]:
                if (
                    peer not in seen
                    and peer != gone
                    and place in self._links[peer]
                    and _edge(place, peer) != without
                ):
                    seen.add(peer)
                    todo.append(peer)
        return len(seen) == len(present)

    # ---- exchanges ----

    def _schedule_exchange(self, place: int, time: i64) -> None:
        self.crowd.in_background(lambda: self._exchange(place), time)

    def _exchange(self, place: int) -> None:
        layout = self._layout
        now = self.crowd.engine.now
        ends = now >= layout.until if layout.until else self.crowd.idle()
        if ends or self._process(place).stopped:
            return
        if self._is_there(place):
            for giver, taker, peer in exchange(self._views, place, self._stream, self._may_give):
                self._make(taker, peer, giver, giver)
        self._schedule_exchange(place, now + layout.period)

    def _may_give(self, one: int, other: int) -> bool:
        edge = _edge(one, other)
        return self._in_use(one, other) and edge not in self._mediating and self._is_there(other)

    # ---- those who come and go ----

    def _change(self, change: Change) -> None:
        kind = change.kind
        if kind == "join":
            self._join()
        elif kind == "leave" or kind == "crash":
            self._depart(kind == "crash")
        elif self._is_there(change.process) and self._is_there(change.peer):
            if kind == "open":
                self._open(change.process, change.peer, None, None)
            elif kind == "close":
                if change.peer in self._links[change.process]:
                    self._close(change.process, change.peer)
            else:
                process, parent = self._process(change.process), self._process(change.peer)
                effects = process.core.reparent(parent.name, int(self.crowd.engine.now))
                self.crowd.carry(process, effects, process)

    def _someone(self) -> int:
        present = self.crowd.present
        return int(present[self._stream.below(len(present))].index)

    def _join(self) -> None:
        newcomer = self._newcomers.pop(0)
        self.crowd.arrive_new(self._process(newcomer))
        self._ask(newcomer)

    def _ask(self, newcomer: int) -> None:
        """Let somebody ask somebody to be let in."""
        contact = self._someone()
        self._joining[newcomer] = contact
        process = self._process(newcomer)
        effects = process.core.join(self._process(contact).name, int(self.crowd.engine.now))
        self.crowd.carry(process, effects, process)

    def admitted(self, contact: Process, newcomer: Process) -> None:
        """A contact has let a newcomer in."""
        self._links[contact.index].add(int(newcomer.index))

    def _greet(self, newcomer: int, contact: int) -> None:
        """A newcomer has been let in: the neighbours of its contact choose it."""
        del self._joining[newcomer]
        self._views[newcomer][contact] = 0
        if self._layout.period:
            self._schedule_exchange(newcomer, self.crowd.engine.now + self._layout.period)
        for peer in list(self._views[contact]):
            if peer != newcomer and self._may_give(contact, peer):
                self._make(peer, newcomer, contact, -1)

    def _depart(self, crashed: bool) -> None:
        """Somebody goes for ever, but nobody on whom the others depend."""
        present = self.crowd.present
        offset = self._stream.below(len(present))
        for step in range(len(present)):
            process = present[(offset + step) % len(present)]
            if len(present) > 2 and self._connected((-1, -1), int(process.index)):
                self._gone(process, crashed)
                return

    def _gone(self, process: Process, crashed: bool) -> None:
        crowd = self.crowd
        place = int(process.index)
        now = crowd.engine.now
        if not crashed:
            crowd.carry(process, process.core.leave(int(now)), process)
        crowd.depart(process, crashed)
        crowd.in_background(lambda: self._drop(place), now + self._notice)
        self._joining.pop(place, None)
        self._links[place] = set()
        for edge, making in list(self._making.items()):
            if place in edge and edge == (making.opener, making.peer):
                self._forget_making(making)
                self._close_unwanted(_edge(making.mediator, making.opener))
                self._close_unwanted(_edge(making.mediator, making.peer))
        for peer, links in enumerate(self._links):
            links.discard(place)
            if self._views[peer].pop(place, -1) >= 0 and self._is_there(peer):
                self._replace(peer)
        for peer in list(self._views[place]):
            if self._is_there(peer):
                self._replace(peer)
        self._views[place] = {}

    def _drop(self, place: int) -> None:
        """Everybody who may have a link with it, or be making one, knows now."""
        gone = self._process(place).name
        now = int(self.crowd.engine.now)
        asked = [newcomer for newcomer, contact in self._joining.items() if contact == place]
        for process in self.crowd.processes:
            concerned = process.present or int(process.index) in asked
            if concerned and not process.stopped and not process.core.is_dropped(gone):
                self.crowd.carry(process, process.core.drop(gone, now), process)
        for newcomer in asked:
            self._ask(newcomer)

    def _replace(self, place: int) -> None:
        """A neighbour is gone: choose one of a neighbour's instead."""
        mediators = [peer for peer in sorted(self._links[place]) if self._may_give(place, peer)]
        if not mediators:
            return
        mediator = mediators[self._stream.below(len(mediators))]
        choices = [
            peer
            for peer in sorted(self._links[mediator])
            if peer != place and peer not in self._links[place] and self._may_give(mediator, peer)
        ]
        if choices:
            self._make(place, choices[self._stream.below(len(choices))], mediator, -1)


def _edge(one: int, other: int) -> Edge:
    return (one, other) if one < other else (other, one)
