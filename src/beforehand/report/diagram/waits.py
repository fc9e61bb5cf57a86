"""Where messages wait: at the sender from send to release, at a receiver from receive to deliver.

A trace records it with `hold`. Where it does not, a message has waited if something else arrived before
it went on: what need not wait goes on at once. (Messages in one frame arrive together. Only the first
row of a frame has metadata, which shows where a frame begins.)
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from beforehand.report.diagram.linearise import NOTHING, Linearisation
from beforehand.report.diagram.logs import EventLike

Name = tuple[str | None, int | None]  # of a message: sender and number


class WaitSpan(NamedTuple):
    """A wait, between two places of the sweep; NOTHING is the end of what is shown."""

    kind: Literal["held", "buffered"]
    start: int
    end: int


class _Began(NamedTuple):
    """When a message may have begun to wait: at which place, after how many arrivals there."""

    place: int
    arrivals: int


def waits(sweep: Linearisation, part: range) -> list[WaitSpan]:
    """All waits that begin in this part of a sweep."""
    watch = _Watch()
    for place in part:
        watch.see(place, sweep.events[place])
    return sorted([*watch.found, *watch.open()], key=lambda wait: (wait.start, wait.end))


class _Watch:
    def __init__(self) -> None:
        self.found: list[WaitSpan] = []
        self._arrivals: Counter[str] = Counter()  # of each process
        self._last: dict[str, EventLike] = {}  # event of each process
        self._sent: dict[Name, _Began] = {}
        self._to: dict[Name, set[str]] = {}  # the receivers, without the sender
        self._held: set[Name] = set()
        self._released: dict[Name, set[str]] = {}
        self._received: dict[tuple[Name, str], _Began] = {}  # and not delivered
        self._delayed: set[tuple[Name, str]] = set()

    def see(self, place: int, event: EventLike) -> None:
        """The next event of the sweep."""
        name, process = (event.sender, event.mid), event.process
        if event.kind == "send":
            self._sent[name] = self._now(place, process)
            self._to[name] = set(event.to or ()) - {process}
            if event.to is None or process in event.to:  # to oneself, nothing is released
                self._received[name, process] = self._now(place, process)
        elif event.kind == "release":
            self._release(place, event)
        elif event.kind == "receive":
            self._arrivals[process] += not self._is_in_frame(event)
            self._received.setdefault((name, process), self._now(place, process))
        elif event.kind == "deliver":
            self._deliver(place, event)
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

    def _now(self, place: int, process: str) -> _Began:
        return _Began(place, self._arrivals[process])

    def _release(self, place: int, event: EventLike) -> None:
        name, to = (event.sender, event.mid), event.to or ()
        began = self._sent.get(name)
        released = self._released.setdefault(name, set())
        if began is not None and event.process == event.sender and not released.issuperset(to):
            released.update(to)
            if name in self._held or self._arrivals[event.process] > began.arrivals:
                self.found.append(WaitSpan("held", began.place, place))

    def _deliver(self, place: int, event: EventLike) -> None:
        copy = ((event.sender, event.mid), event.process)
        began = self._received.pop(copy, None)
        if began is None:
            self._arrivals[event.process] += 1
        elif copy in self._delayed or self._arrivals[event.process] > began.arrivals:
            self.found.append(WaitSpan("buffered", began.place, place))

    def open(self) -> list[WaitSpan]:
        """What waits until the end."""
        found = []
        for name in self._held & self._sent.keys():
            to, released = self._to[name], self._released.get(name, set())
            # Where others pass messages on, releases are to neighbours and not to receivers.
            if not released or released < to:
                found.append(WaitSpan("held", self._sent[name].place, NOTHING))
        for copy in self._delayed & self._received.keys():
            found.append(WaitSpan("buffered", self._received[copy].place, NOTHING))
        return found
