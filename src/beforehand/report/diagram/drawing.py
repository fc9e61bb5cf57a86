"""Part of a linearised run as a diagram, with a note on what it leaves out.

Processes, marks and messages get numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast

from beforehand.report.diagram.linearise import NOTHING, Linearisation
from beforehand.report.diagram.logs import EventLike, EventLogs
from beforehand.report.diagram.model import (
    Arrow,
    Axis,
    Bar,
    Diagram,
    DiagramMessage,
    Flag,
    Mark,
    MarkKind,
)
from beforehand.report.diagram.names import labels, message_name, natural, quoted, some_of
from beforehand.report.diagram.waits import waits
from beforehand.results.format import counted

_ABOUT_A_MESSAGE: Final = frozenset({"send", "release", "receive", "deliver", "hold"})

Name = tuple[str, int]  # of a message: sender and number


class Problem(NamedTuple):
    """What is wrong with an event, and the messages that prove it: from the late to the early one."""

    sentence: str
    chain: tuple[Name, ...] = ()


def message_of(event: EventLike) -> Name | None:
    """The message that an event is about. (The number in a `control` may count something else.)"""
    if event.kind in _ABOUT_A_MESSAGE and event.sender is not None and event.mid is not None:
        return event.sender, event.mid
    return None


class Drawing:
    """Indices are those of the linearised run, marks and messages those of the diagram."""

    def __init__(
        self, logs: EventLogs, line: Linearisation, part: Sequence[int], around: Name | None
    ) -> None:
        self._logs = logs
        self._line = line
        self._part = part
        self._around = around
        self._events = [line.events[index] for index in part]
        self._names = sorted(_named(self._events), key=natural)
        self._process = {name: number for number, name in enumerate(self._names)}
        # The marks of each process together, in its order.
        self._indices = sorted(part, key=lambda i: (self._process[line.events[i].process], i))
        self._mark = {index: mark for mark, index in enumerate(self._indices)}
        names = dict.fromkeys(filter(None, map(message_of, self._events)))
        self._message = {name: number for number, name in enumerate(names)}

    def diagram(self, problems: Mapping[tuple[str, int], Problem]) -> Diagram:
        """All that is drawn."""
        sends = [event.time_ns for event in self._events if event.kind == "send"]
        # What comes before the first send is start-up: connecting, which may take long.
        origin = min(sends or [event.time_ns for event in self._events], default=0)
        axis: Axis = "time" if self._line.clocks == "agree" else "order"
        return Diagram(
            run=self._logs.run,
            processes=tuple(self._names),
            labels=labels(self._names),
            marks=tuple(self._marks(origin)),
            messages=tuple(self._messages()),
            arrows=tuple(sorted(self._arrows(), key=lambda arrow: arrow.start)),
            bars=tuple(self._bars()),
            flags=tuple(self._flags(problems)),
            axis=axis,
            origin_ns=origin,
            selected=None if self._around is None else self._message[self._around],
            note=" ".join(filter(None, self._notes())),
        )

    def _marks(self, origin: int) -> Iterator[Mark]:
        # From 0 on, without holes where events were left out.
        orders = sorted({self._line.order[index] for index in self._part})
        dense = {order: number for number, order in enumerate(orders)}
        for index in self._indices:
            event = self._line.events[index]
            name = message_of(event)
            yield Mark(
                process=self._process[event.process],
                seq=event.seq,
                kind=cast(MarkKind, event.kind),
                time_ns=event.time_ns - origin,
                order=dense[self._line.order[index]],
                message=None if name is None else self._message[name],
                peer=self._peer(index, event),
                detail=event.detail,
                payload_bytes=event.payload_bytes,
                meta_bytes=event.meta_bytes,
            )

    def _peer(self, index: int, event: EventLike) -> int | None:
        to = event.to or ()
        if event.kind in ("send", "release", "hold") and event.detail != "at receiver":
            other: str | None = to[0] if len(to) == 1 else None
        elif event.kind == "control" and event.process == event.sender:
            other = to[0] if to else None
        else:
            cause = self._line.cause[index]  # of the process that passed it on
            other = event.sender if cause == NOTHING else self._line.events[cause].process
        return None if other is None else self._process.get(other)

    def _messages(self) -> Iterator[DiagramMessage]:
        sends = {
            message_of(event): index
            for index, event in zip(self._part, self._events, strict=True)
            if event.kind == "send"
        }
        sizes: dict[Name | None, int] = {}
        for event in self._events:
            name = message_of(event)
            sizes[name] = max(event.payload_bytes, sizes.get(name, 0))
        for sender, mid in self._message:
            index = sends.get((sender, mid))
            to = None if index is None else self._line.events[index].to
            yield DiagramMessage(
                sender=self._process[sender],
                mid=mid,
                to=None if to is None else tuple(map(self._process.__getitem__, to)),
                send=None if index is None else self._mark[index],
                payload_bytes=sizes[sender, mid],
            )

    def _arrows(self) -> Iterator[Arrow]:
        """Frames that arrive here, and those that are lost; the rest arrives after this part."""
        for index, event in zip(self._part, self._events, strict=True):
            cause = self._line.cause[index]
            if cause in self._mark and self._line.events[cause].process != event.process:
                yield self._arrow(cause, self._mark[index])
        # If no arrival of a kind is recorded, a missing arrival means nothing.
        recorded = {self._line.events[cause].kind for cause in self._line.cause if cause != NOTHING}
        if any(event.kind == "release" for event in self._line.events):
            recorded -= {"send"}  # it is the release that leaves
        for index in sorted(self._line.lost & self._mark.keys()):
            if self._line.events[index].kind in recorded and self._leaves(index):
                yield self._arrow(index, None)

    def _leaves(self, index: int) -> bool:
        """Whether a process other than the sender is to receive it."""
        event = self._line.events[index]
        return event.to is None or set(event.to) != {event.process}

    def _arrow(self, start: int, end: int | None) -> Arrow:
        event = self._line.events[start]
        name = message_of(event)
        if name is None:
            return Arrow("control", self._mark[start], end, None)
        kind: Literal["message", "relay"] = "message" if event.process == event.sender else "relay"
        return Arrow(kind, self._mark[start], end, self._message[name])

    def _bars(self) -> Iterator[Bar]:
        for wait in waits(self._line, range(self._part[0], self._part[-1] + 1)):
            if wait.start in self._mark and (wait.end in self._mark or wait.end == NOTHING):
                name = message_of(self._line.events[wait.start])
                assert name is not None  # what waits is a message
                end = None if wait.end == NOTHING else self._mark[wait.end]
                yield Bar(wait.kind, self._mark[wait.start], end, self._message[name])

    def _flags(self, problems: Mapping[tuple[str, int], Problem]) -> Iterator[Flag]:
        if problems:
            for mark, index in enumerate(self._indices):
                event = self._line.events[index]
                if problem := problems.get((event.process, event.seq)):
                    numbers = [self._message.get(name) for name in problem.chain]
                    whole = tuple(number for number in numbers if number is not None)
                    chain = whole if len(whole) == len(numbers) else ()
                    yield Flag(mark, problem.sentence, chain)

    def _notes(self) -> Iterator[str]:
        shown, count = len(self._part), self._logs.count
        if shown < count and self._around is None:
            yield f"The first {shown:,} of {count:,} events."
        elif shown < count and self._around is not None:
            sender, mid = self._around
            label = labels(self._names)[self._process[sender]]
            yield f"{shown:,} of {count:,} events, around {quoted(message_name(label, mid))}."
        if self._line.clocks == "disagree":
            yield "The clocks of the processes disagree, so it is drawn by order and not by time."
        if self._line.clocks == "silent":
            yield "The trace has no times, so it is drawn by order."
        if contradictions := self._line.contradictions:
            early = counted(contradictions, "event comes", "events come")
            yield f"The trace contradicts itself: {early} before what must have come before."
        yield self._logs.gaps()
        if silent := [name for name in self._names if name not in self._logs.by_process]:
            yield f"There is no log of {some_of(silent)}."


def _named(events: Iterable[EventLike]) -> set[str]:
    """All processes that occur in some field."""
    names = (name for event in events for name in (event.process, event.sender, *(event.to or ())))
    return {name for name in names if name is not None}
