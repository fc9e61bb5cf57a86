"""A run in one line: every event after its causes, and each arrival with its departure.

Each process waits with its next event. One of those that have all they need takes its turn, the earliest
first, until all are through. An arrival needs what arrives to be on its way: a `receive` the `release`
to that process, or the `send` where no releases are recorded; a `deliver` without a `receive` the
`send`; a `control` that arrives the `control` that was sent.

Rows do not say which of several equal frames it was that arrived. Where as many arrived as were sent,
they are taken to arrive in the order of sending; where frames were lost, or came twice, each arrival is
taken for the last one that was sent before and has not arrived yet, or if all have, for the last one.

The earliest is by the clocks at first. If that shows that clocks disagree, it is done again by order: by
how many events each event has before it at least, on the longest way there.

If no process can go on, the trace contradicts itself, or a departure was not recorded. Then the earliest
goes on without it.
"""

from collections import Counter
from heapq import heappop, heappush
from itertools import islice
from typing import Final, Literal

from beforehand.report.diagram.logs import EventLike, EventLogs
from beforehand.report.diagram.names import natural

NOTHING: Final = -1  # no cause

# `disagree`: time goes back along a process or an arrow; `silent`: no times were recorded.
Clocks = Literal["agree", "disagree", "silent"]

# What is on its way: (sender, mid) for a message from its causal-send on, (sender, mid, to) for a copy,
# (sender, to, mid, detail) for a frame without a message.
Key = tuple[object, ...]
_MESSAGE: Final = 2
_COPY: Final = 3
_FRAME: Final = 4


class Linearisation:
    """The events of a run, or its first ones, in one line; all lists are by the index in it."""

    def __init__(self) -> None:
        self.events: list[EventLike] = []
        self.order: list[int] = []  # more than that of all events that it follows
        self.cause: list[int] = []  # of an arrival: the index of its departure, or NOTHING
        self.lost: set[int] = set()  # departures that, as far as the trace records, never arrived
        self.contradictions = 0  # arrivals before their departure
        self.clocks: Clocks = "agree"

    def __len__(self) -> int:
        return len(self.events)

    def add(self, event: EventLike, before: int, cause: int) -> None:
        """The next event: the one before it in its process, and its cause, are in the line."""
        order = 0
        for earlier in (before, cause):
            if earlier >= 0:
                order = max(order, self.order[earlier] + 1)
                if self.events[earlier].time_ns > event.time_ns:
                    self.clocks = "disagree"
        self.events.append(event)
        self.order.append(order)
        self.cause.append(cause)


def linearise(logs: EventLogs, most: int | None = None) -> Linearisation:
    """All events of a run, or the first `most`."""
    # All times are equal where none were recorded.
    times = (event.time_ns for log in logs.by_process.values() for event in log.events)
    first = next(times, 0)
    clocks: Clocks = "silent"
    if any(time != first for time in times):
        line = _Turns(logs, by_time=True).take(most)
        if line.clocks == "agree":
            return line
        clocks = "disagree"
    line = _Turns(logs, by_time=False).take(most)
    line.clocks = clocks
    return line


class _Way:
    """Equal frames from one process to another."""

    __slots__ = ("in_order", "last", "to_come", "travelling")

    def __init__(self, sent: int, arrived: int) -> None:
        self.in_order = sent == arrived
        self.to_come = arrived
        self.travelling: list[int] = []  # indices of those that have not arrived yet
        self.last = NOTHING

    def depart(self, index: int) -> None:
        """One more is sent."""
        self.travelling.append(index)
        self.last = index

    def arrive(self) -> int:
        """Which of them it is that arrives now."""
        self.to_come -= 1
        if not self.travelling:
            return self.last
        return self.travelling.pop(0 if self.in_order else -1)


class _Ways:
    """All ways on which something is sent; they are made when they are needed."""

    def __init__(self, logs: list[list[EventLike]]) -> None:
        self.used: dict[Key, _Way] = {}
        self._sent: Counter[Key] = Counter()
        self._arrived: Counter[Key] = Counter()
        for log in logs:
            for event in log:
                if (key := _departure(event)) is not None:
                    self._sent[key] += 1
                elif (key := _arrival(event)) is not None:
                    self._arrived[key] += 1

    def __contains__(self, key: Key) -> bool:
        return key in self._sent

    def get(self, key: Key) -> _Way | None:
        """The way; None if nothing is ever sent on it."""
        way = self.used.get(key)
        if way is None and key in self._sent:
            way = self.used[key] = _Way(self._sent[key], self._arrived[key])
        return way


class _Turns:
    """Lets the processes take turns."""

    def __init__(self, logs: EventLogs, by_time: bool) -> None:
        self._by_time = by_time
        names = sorted(logs.by_process, key=natural)
        self._logs = [logs.by_process[name].events for name in names]
        self._cut = {name for name in names if logs.by_process[name].is_cut}
        self._next = [0] * len(names)  # of each process, the position of its next event
        self._before = [NOTHING] * len(names)  # and the index in the line of the one before
        self._ready: list[tuple[int, int]] = []  # heap of (when, process)
        self._needs: list[Key | None] = [None] * len(names)  # what the next event waits for
        self._awaited: dict[Key, list[int]] = {}  # the processes that wait for this
        # Heap of those that wait: (whether nothing of what they wait for was sent yet, when,
        # process, its next event); some have taken their turn since.
        self._waiting: list[tuple[bool, int, int, int]] = []
        self._received: set[Key] = set()
        self._ways = _Ways(self._logs)
        self._line = Linearisation()

    def take(self, most: int | None) -> Linearisation:
        """Let them, until all are through or there are `most` events."""
        for process in range(len(self._logs)):
            self._line_up(process)
        while (most is None or len(self._line) < most) and (self._ready or self._let_go()):
            _, process = heappop(self._ready)
            self._turn(process)
        self._find_lost()
        return self._line

    def _find_lost(self) -> None:
        for key, way in self._ways.used.items():
            # What was cut off the log of the receiver may have it.
            receiver = {_COPY: key[-1], _FRAME: key[1]}.get(len(key))
            if not self._cut or (receiver is not None and receiver not in self._cut):
                lost = len(way.travelling) - max(0, way.to_come)
                self._line.lost.update(islice(way.travelling, max(0, lost)))

    def _turn(self, process: int) -> None:
        line = self._line
        event = self._logs[process][self._next[process]]
        index = len(line)
        line.add(event, self._before[process], self._cause(event))
        self._before[process] = index
        self._next[process] += 1
        key = _departure(event)
        if key is not None and (way := self._ways.get(key)) is not None:
            way.depart(index)
            for waiting in self._awaited.pop(key, ()):
                self._needs[waiting] = None
                self._line_up(waiting)
        self._line_up(process)

    def _line_up(self, process: int) -> None:
        """Look at the next event of a process: it can take its turn, or it has to wait."""
        if self._next[process] == len(self._logs[process]):
            return
        event = self._logs[process][self._next[process]]
        key = self._source(event)
        way = None if key is None else self._ways.get(key)
        when = event.time_ns if self._by_time else self._earliest(process, way)
        if key is None or self._has_left(event, way):
            heappush(self._ready, (when, process))
        else:
            self._needs[process] = key
            self._awaited.setdefault(key, []).append(process)
            not_sent = way is not None and way.last < 0
            heappush(self._waiting, (not_sent, when, process, self._next[process]))

    def _earliest(self, process: int, way: _Way | None) -> int:
        """The least that the order of the next event can be."""
        earlier = (self._before[process], NOTHING if way is None else way.last)
        return 1 + max(self._line.order[index] if index >= 0 else -1 for index in earlier)

    def _has_left(self, event: EventLike, way: _Way | None) -> bool:
        """Whether what arrives is on its way."""
        if way is None:
            # It was never recorded; or it was, after all that was kept of its sender.
            return event.sender not in self._cut
        # Clocks say when it left; without them, it is better to wait for the right one.
        return bool(way.travelling) or (way.last >= 0 and (self._by_time or not way.in_order))

    def _source(self, event: EventLike) -> Key | None:
        """What an arrival comes from; None for other events."""
        if event.kind == "receive":
            copy = (event.sender, event.mid, event.process)
            return copy if copy in self._ways else copy[:_MESSAGE]
        if event.kind == "deliver":
            message = (event.sender, event.mid)
            return None if (*message, event.process) in self._received else message
        if event.kind == "control" and event.sender != event.process:
            return _frame(event)
        return None

    def _cause(self, event: EventLike) -> int:
        """The index of the departure of this arrival."""
        key = self._source(event)
        if event.kind == "receive":
            self._received.add((event.sender, event.mid, event.process))
        if key is None or (way := self._ways.get(key)) is None:
            return NOTHING
        if len(key) != _MESSAGE:
            return way.arrive()
        copies = self._ways.get((*key, event.process))
        if copies is not None and copies.last >= 0:  # a release is recorded, but no receive
            return copies.arrive()
        return way.last

    def _let_go(self) -> bool:
        """No process can go on: let the first waiting one do so; returns whether there was one."""
        while self._waiting:
            not_sent, when, process, index = heappop(self._waiting)
            key = self._needs[process]
            if key is not None and index == self._next[process]:
                self._needs[process] = None
                self._awaited[key].remove(process)
                self._line.contradictions += not_sent
                heappush(self._ready, (when, process))
                return True
        return False


def _departure(event: EventLike) -> Key | None:
    """What is on its way from this event on."""
    if event.kind == "send":
        return (event.sender, event.mid)
    if event.kind == "release" and event.to:
        return (event.sender, event.mid, event.to[0])
    if event.kind == "control" and event.sender == event.process:
        return _frame(event)
    return None


def _arrival(event: EventLike) -> Key | None:
    """What has come to its end with this event."""
    if event.kind == "receive":
        return (event.sender, event.mid, event.process)
    if event.kind == "deliver":
        return (event.sender, event.mid)
    return _frame(event) if event.kind == "control" else None


def _frame(event: EventLike) -> Key:
    return (event.sender, event.to[0] if event.to else None, event.mid, event.detail)
