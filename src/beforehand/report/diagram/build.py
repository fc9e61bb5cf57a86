"""From the events of a trace to a diagram: all of it, or a part that can be drawn.

`logs.py` puts the events of each process in its order, `sweep.py` those of all in one line, and a part
of that line is drawn: its beginning, or what is around a message. So nothing is shown before its cause.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from beforehand.errors import ReportError
from beforehand.report.diagram.drawing import Drawing, message_of
from beforehand.report.diagram.linearise import Linearisation, linearise
from beforehand.report.diagram.logs import EventLike, EventLogs, collect
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.names import labels, message_name, natural, quoted, some_of

MOST: Final = 20_000  # events that a page draws smoothly

Flags = Mapping[tuple[str, int], str]  # process and seq of an event, and what is wrong with it
Judge = Callable[[Sequence[EventLike], bool], Flags]

_NO_FLAGS: Final[Flags] = MappingProxyType({})


def build(
    events: Iterable[EventLike],
    *,
    run: str | None = None,
    around: tuple[str, int] | None = None,
    most: int = MOST,
    flags: Flags = _NO_FLAGS,
    judge: Judge | None = None,
) -> Diagram:
    """The diagram of a run, or of at most `most` of its events.

    `around` names a message to show, by its sender, or what people call that, and its number. `flags`
    says what is wrong with an event, which is named by its process and `seq`. A `judge` finds it out: it
    gets all events up to the last one that is shown, each after all that it follows, and whether these
    are all of the run.
    """
    if most < 1:
        raise ReportError(f"a diagram of {most} events has nothing to show; ask for 1 or more")
    logs = collect(events, run, None if around else most)
    message = None if around is None else _find(logs, *around)
    line = linearise(logs, most if message is None else None)
    part = _part(line, message, most)
    found: Flags = {}
    if judge is not None:
        seen = part[-1] + 1
        found = judge(line.events[:seen], seen == logs.count)
    return Drawing(logs, line, part, message).diagram({**found, **flags})


def _find(logs: EventLogs, sender: str, mid: int) -> tuple[str, int]:
    """The message that is meant, with the full name of its sender."""
    known: dict[str, set[int]] = {}
    for log in logs.by_process.values():
        for event in log.events:
            if (name := message_of(event)) is not None:
                known.setdefault(name[0], set()).add(name[1])
    names = sorted({*known, *logs.by_process}, key=natural)
    called = dict(zip(labels(names), names, strict=True))
    whole = sender if sender in names else called.get(sender)
    where = f"in run {quoted(logs.run)}"
    if whole is None:
        near = get_close_matches(sender, list(called), 3) or list(called)
        raise ReportError(f"there is no process {quoted(sender)} {where}; there is {some_of(near)}")
    if mid not in known.get(whole, ()):
        numbers = known.get(whole)
        has = f"its messages are {min(numbers)} to {max(numbers)}" if numbers else "it sent none"
        meant = quoted(message_name(sender, mid))
        raise ReportError(f"there is no message {meant} {where}; {has}")
    return whole, mid


def _part(line: Linearisation, message: tuple[str, int] | None, most: int) -> Sequence[int]:
    """Which places of the line to draw."""
    if message is None or len(line) <= most:
        return range(min(len(line), most))
    places = [place for place, event in enumerate(line.events) if message_of(event) == message]
    span = places[-1] + 1 - places[0]
    if span > most:
        return _nearest(line, places[:most], most)
    start = max(0, min(places[0] - (most - span) // 2, len(line) - most))
    return range(start, start + most)


def _nearest(line: Linearisation, places: list[int], most: int) -> list[int]:
    """These places and, of the same processes, what comes shortly before and after them.

    For a message that waits so long that not all of its time can be shown.
    """
    logs: dict[str, list[int]] = {}
    ends = []  # of a growing part of a log: which log, where, and where it grows to
    for place, event in enumerate(line.events):
        logs.setdefault(event.process, []).append(place)
    for place in places:
        log = logs[line.events[place].process]
        at = bisect_left(log, place)
        ends += [(log, at, -1), (log, at, 1)]
    found = set(places)
    while ends and len(found) < most:
        ends = [(log, at + step, step) for log, at, step in ends if 0 <= at + step < len(log)]
        for log, at, _ in ends:
            if len(found) < most:
                found.add(log[at])
    return sorted(found)
