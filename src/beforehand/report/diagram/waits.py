"""Where messages wait: at the sender from send to release, at a receiver from receive to deliver.

A trace records it with `hold`. Where it does not, a message has waited if something else arrived
before it went on: a message that need not wait goes on at once. (Messages in one frame arrive
together. Only the first row of a frame has metadata, which shows where a frame begins.)
"""

from collections import Counter
from typing import Literal, NamedTuple

from beforehand.report.diagram.linearise import NOTHING, Linearisation
from beforehand.report.diagram.logs import EventLike

Name = tuple[str | None, int | None]  # of a message: sender and number


class WaitSpan(NamedTuple):
    """A wait, between two indices of the linearised run; NOTHING is the end of it."""

    kind: Literal["held", "buffered"]
    start: int
    end: int


class _Began(NamedTuple):
    """When a message may have begun to wait: at which index, after how many arrivals there."""

    start: int
    arrivals: int


def waits(line: Linearisation, part: range) -> list[WaitSpan]:
    """All waits that begin in this part of a run."""
    tracker = _WaitTracker()
    for index in part:
        tracker.add(index, line.events[index])
    return sorted([*tracker.over, *tracker.open()], key=lambda wait: (wait.start, wait.end))


class _WaitTracker:
    def __init__(self) -> None:
        self.over: list[WaitSpan] = []
        self._arrivals: Counter[str] = Counter()  # of each process
        self._last: dict[str, EventLike] = {}  # event of each process
        self._sent: dict[Name, _Began] = {}
        self._to: dict[Name, set[str]] = {}  # the receivers, without the sender
        self._held: set[Name] = set()
        self._released: dict[Name, set[str]] = {}
        self._received: dict[tuple[Name, str], _Began] = {}  # and not delivered
        self._delayed: set[tuple[Name, str]] = set()

    def add(self, index: int, event: EventLike) -> None:
        """The next event of the run."""
        name, process = (event.sender, event.mid), event.process
        if event.kind == "send":
            self._sent[name] = self._now(index, process)
            self._to[name] = set(event.to or ()) - {process}
            if event.to is None or process in event.to:  # to oneself, nothing is released
                self._received[name, process] = self._now(index, process)
        elif event.kind == "release":
            self._release(index, event)
        elif event.kind == "receive":
            self._arrivals[process] += not self._is_in_frame(event)
            self._received.setdefault((name, process), self._now(index, process))
        elif event.kind == "deliver":
            self._deliver(index, event)
        elif event.kind == "control" and process != event.sender:
            self._arrivals[process] += 1
        elif event.kind == "hold":
            if process == event.sender and event.detail != "at receiver":
                self._held.add(name)
            else:
                self._delayed.add((name, process))
        self._last[process] = event

    def _is_in_frame(self, event: EventLike) -> bool:
        """Whether it arrives in the same frame as the one before."""
        last = self._last.get(event.process)
        return (
            last is not None
            and (last.kind, last.sender) == (event.kind, event.sender)
            and event.meta_bytes == 0
            and (event.mid or 0) > (last.mid or 0)
        )

    def _now(self, index: int, process: str) -> _Began:
        return _Began(index, self._arrivals[process])

    def _release(self, index: int, event: EventLike) -> None:
        name, to = (event.sender, event.mid), event.to or ()
        began = self._sent.get(name)
        released = self._released.setdefault(name, set())
        if began is not None and event.process == event.sender and not released.issuperset(to):
            released.update(to)
            if name in self._held or self._arrivals[event.process] > began.arrivals:
                self.over.append(WaitSpan("held", began.start, index))

    def _deliver(self, index: int, event: EventLike) -> None:
        copy = ((event.sender, event.mid), event.process)
        began = self._received.pop(copy, None)
        if began is None:
            self._arrivals[event.process] += 1
        elif copy in self._delayed or self._arrivals[event.process] > began.arrivals:
            self.over.append(WaitSpan("buffered", began.start, index))

    def open(self) -> list[WaitSpan]:
        """Waits that last until the end."""
        spans = []
        for name in self._held & self._sent.keys():
            to, released = self._to[name], self._released.get(name, set())
            # Where others pass messages on, releases are to neighbours and not to receivers.
            if not released or released < to:
                spans.append(WaitSpan("held", self._sent[name].start, NOTHING))
        for copy in self._delayed & self._received.keys():
            spans.append(WaitSpan("buffered", self._received[copy].start, NOTHING))
        return spans
