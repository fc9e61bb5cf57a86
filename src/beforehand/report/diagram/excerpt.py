"""The messages of a chain in one run: where they were sent, delivered and waited, and in which order.

`side_by_side.py` compares two of these; `panel.py` draws them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from beforehand.errors import ReportError
from beforehand.report.diagram import panel
from beforehand.report.diagram.build import build
from beforehand.report.diagram.logs import EventLike, process_labels
from beforehand.report.diagram.model import Bar, Diagram
from beforehand.report.diagram.names import message_name, natural, quoted

Name = tuple[str, int]  # of a message: sender and number
Verdict = Literal["broken", "kept", "concurrent"]


class Excerpt:
    """The messages of a chain in one run; processes are named by their labels."""

    def __init__(
        self,
        title: str,
        events: Sequence[EventLike],
        process: str,
        chain: Sequence[Name],
        texts: Mapping[str, str],
    ) -> None:
        self._title = title
        self._process = process
        self._chain = chain
        self._texts = texts
        label = process_labels(events)
        wanted = set(chain)
        about = [
            event
            for event in events
            if event.mid is not None
            and event.kind != "control"
            and (label.get(event.sender or ""), event.mid) in wanted
        ]
        if not about:
            raise self._missing(chain[0], "sent")
        self._diagram = build(about, most=len(about))
        self._label = [label.get(name, name) for name in self._diagram.processes]
        self._sends: dict[Name, int] = {}
        self._delivers: dict[tuple[Name, str], int] = {}  # the first one of each
        for index, mark in enumerate(self._diagram.marks):
            if mark.message is not None:
                name = self._name(mark.message)
                if mark.kind == "send":
                    self._sends.setdefault(name, index)
                elif mark.kind == "deliver":
                    self._delivers.setdefault((name, self._label[mark.process]), index)
        self.verdict = self._judged()
        self.sentence = self._sentence()

    def _missing(self, message: Name, what: str) -> ReportError:
        name = quoted(message_name(*message))
        return ReportError(
            f"{quoted(self._title)}: {name} was not {what} in this run; compare two runs of the same "
            "workload"
        )

    def _name(self, message: int) -> Name:
        about = self._diagram.messages[message]
        return self._label[about.sender], about.mid

    def _delivery(self, message: Name) -> int:
        """The mark of the delivery of the first or last message where the order broke."""
        mark = self._delivers.get((message, self._process))
        if mark is None:
            raise self._missing(message, f"delivered at {quoted(self._process)}")
        return mark

    def _judged(self) -> Verdict:
        marks = self._diagram.marks
        late, early = self._delivery(self._chain[0]), self._delivery(self._chain[-1])
        if not all(self._precedes(one, other) for one, other in pairwise(self._chain)):
            return "concurrent"
        return "kept" if marks[late].seq < marks[early].seq else "broken"

    def _precedes(self, one: Name, other: Name) -> bool:
        """Whether a message of the chain was known to the sender of the next one."""
        if one[0] == other[0]:
            return one[1] < other[1]
        delivered, sent = self._delivers.get((one, other[0])), self._sends.get(other)
        marks = self._diagram.marks
        return delivered is not None and sent is not None and marks[delivered].seq < marks[sent].seq

    def _sentence(self) -> str:
        late, early = (message_name(*self._chain[index]) for index in (0, -1))
        marks = self._diagram.marks
        in_order = (
            marks[self._delivery(self._chain[0])].seq < marks[self._delivery(self._chain[-1])].seq
        )
        one, other = (late, early) if in_order else (early, late)
        sentence = f"{self._process} delivered {one}, then {other}"
        if self.verdict == "concurrent":
            return f"{sentence}; they are concurrent here."
        return f"{sentence}." if in_order else f"{sentence}: the wrong way round."

    # ---- what is drawn ----

    def contents(self) -> panel.Panel:
        """The processes of the chain, its messages, and where they waited."""
        involved = {self._process, *(sender for sender, _ in self._chain)}
        processes = sorted(involved, key=natural)
        routes = list(self._routes())
        waits = [wait for route in routes for wait in route.waits]
        shown = {mark for route in routes for mark in (route.start, route.end)}
        shown |= {mark for wait in waits for mark in (wait.start, wait.end)}
        shown |= {send for message, send in self._sends.items() if message in self._chain}
        late = self._delivery(self._chain[0])
        marks = self._diagram.marks
        in_order = sorted(shown, key=self._when)
        column = {mark: number for number, mark in enumerate(in_order)}
        return panel.Panel(
            title=self._title,
            sentence=self.sentence,
            verdict=self.verdict,
            processes=tuple(processes),
            marks=tuple(
                panel.PanelMark(
                    kind=marks[mark].kind,
                    row=processes.index(self._label[marks[mark].process]),
                    role=self._role(marks[mark].message),
                    name=self._mark_name(mark),
                    is_wrong=self.verdict == "broken" and mark == late,
                )
                for mark in in_order
            ),
            arrows=tuple(
                panel.PanelArrow(column[route.start], column[route.end]) for route in routes
            ),
            waits=tuple(
                panel.PanelWait(wait.kind, column[wait.start], column[wait.end]) for wait in waits
            ),
        )

    def _when(self, mark: int) -> tuple[int, int, int]:
        about = self._diagram.marks[mark]
        time = about.time_ns if self._diagram.axis == "time" else 0
        return time, about.order, about.process

    def _role(self, message: int | None) -> panel.Role:
        name = None if message is None else self._name(message)
        return (
            "late" if name == self._chain[0] else "early" if name == self._chain[-1] else "between"
        )

    def _mark_name(self, mark: int) -> str:
        """The name of the message, at its send and where the order matters."""
        about = self._diagram.marks[mark]
        at_process = about.kind == "deliver" and self._label[about.process] == self._process
        if about.message is None or not (about.kind == "send" or at_process):
            return ""
        name = message_name(*self._name(about.message))
        text = self._texts.get(name, "") if about.kind == "send" else ""
        return f"{name}: {text}" if text else name

    def _routes(self) -> Iterator["_Route"]:
        """From each message's send to the deliveries that matter."""
        targets = [(message, next_one[0]) for message, next_one in pairwise(self._chain)]
        targets += [(self._chain[0], self._process), (self._chain[-1], self._process)]
        for message, process in dict.fromkeys(targets):
            send, deliver = self._sends.get(message), self._delivers.get((message, process))
            if process != message[0] and send is not None and deliver is not None:
                yield _route(self._diagram, send, deliver)


@dataclass(frozen=True)
class _Wait:
    kind: Literal["held", "buffered"]
    start: int
    end: int


@dataclass(frozen=True)
class _Route:
    """The way of a message to one receiver: the arrow, and where it waited before and after."""

    start: int
    end: int
    waits: tuple[_Wait, ...]


def _route(diagram: Diagram, send: int, deliver: int) -> _Route:
    start, end = send, deliver
    waits = []
    for bar in diagram.bars:
        wait = _finished(bar)
        if wait is None:
            continue
        to = diagram.marks[wait.end].peer
        if wait.kind == "held" and wait.start == send and to == diagram.marks[deliver].process:
            start = wait.end
            waits.append(wait)
        elif wait.kind == "buffered" and wait.end == deliver:
            end = wait.start
            waits.append(wait)
    return _Route(start, end, tuple(waits))


def _finished(bar: Bar) -> _Wait | None:
    return None if bar.end is None else _Wait(bar.kind, bar.start, bar.end)
