"""From the events of a trace to a diagram: all of it, or a part that can be drawn.

`logs.py` puts the events of each process in its order, `linearise.py` those of all in one line, and a
part of that line is drawn: its beginning, or the events around a message. So every event comes after
its cause.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from beforehand.errors import ReportError
from beforehand.report.diagram.drawing import Drawing, Problem, message_of
from beforehand.report.diagram.linearise import Linearisation, linearise
from beforehand.report.diagram.logs import EventLike, EventLogs, collect
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.names import labels, message_name, natural, quoted, some_of

MOST: Final = 20_000  # events that a page draws smoothly

Flags = Mapping[tuple[str, int], str]  # process and seq of an event -> the problem with it
Problems = Mapping[tuple[str, int], Problem]
Judge = Callable[[Sequence[EventLike], bool], Problems]

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

    `around` names a message to show, by its sender (or the label of it) and its number. `flags` has
    the problems of events, by process and `seq`. A `judge` determines them: it gets all events up to
    the last one that is shown, causes before effects, and whether these are all events of the run.
    """
    if most < 1:
        raise ReportError(f"a diagram of {most} events has nothing to show; ask for 1 or more")
    logs = collect(events, run, None if around else most)
    message = None if around is None else _find(logs, *around)
    line = linearise(logs, most if message is None else None)
    part = _part(line, message, most)
    judged: Problems = {}
    if judge is not None:
        seen = part[-1] + 1
        judged = judge(line.events[:seen], seen == logs.count)
    given = {key: Problem(sentence) for key, sentence in flags.items()}
    return Drawing(logs, line, part, message).diagram({**judged, **given})


def _find(logs: EventLogs, sender: str, mid: int) -> tuple[str, int]:
    """The message, with the full name of its sender."""
    known: dict[str, set[int]] = {}
    for log in logs.by_process.values():
        for event in log.events:
            if (name := message_of(event)) is not None:
                known.setdefault(name[0], set()).add(name[1])
    names = sorted({*known, *logs.by_process}, key=natural)
    by_label = dict(zip(labels(names), names, strict=True))
    process = sender if sender in names else by_label.get(sender)
    where = f"in run {quoted(logs.run)}"
    if process is None:
        near = get_close_matches(sender, list(by_label), 3) or list(by_label)
        raise ReportError(f"there is no process {quoted(sender)} {where}; there is {some_of(near)}")
    numbers = known.get(process, set())
    if mid not in numbers:
        sent = f"its messages are {min(numbers)} to {max(numbers)}" if numbers else "it sent none"
        message = quoted(message_name(sender, mid))
        raise ReportError(f"there is no message {message} {where}; {sent}")
    return process, mid


def _part(line: Linearisation, message: tuple[str, int] | None, most: int) -> Sequence[int]:
    """Which events of the line to draw."""
    if message is None or len(line) <= most:
        return range(min(len(line), most))
    indices = [index for index, event in enumerate(line.events) if message_of(event) == message]
    span = indices[-1] + 1 - indices[0]
    if span > most:
        return _nearest(line, indices[:most], most)
    start = max(0, min(indices[0] - (most - span) // 2, len(line) - most))
    return range(start, start + most)


def _nearest(line: Linearisation, indices: list[int], most: int) -> list[int]:
    """These events and, of the same processes, those shortly before and after them.

    For a message that waits so long that not all of its time can be shown.
    """
    logs: dict[str, list[int]] = {}
    ends = []  # of a growing part of a log: the log, the position in it, and the direction
    for index, event in enumerate(line.events):
        logs.setdefault(event.process, []).append(index)
    for index in indices:
        log = logs[line.events[index].process]
        at = bisect_left(log, index)
        ends += [(log, at, -1), (log, at, 1)]
    shown = set(indices)
    while ends and len(shown) < most:
        ends = [(log, at + step, step) for log, at, step in ends if 0 <= at + step < len(log)]
        for log, at, _ in ends:
            if len(shown) < most:
                shown.add(log[at])
    return sorted(shown)
