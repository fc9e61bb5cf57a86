"""Positions in a picture of fixed width.

From left to right, a mark is at its time, or as far to the right as it takes to leave room after the
mark before it and after the start of its arrow. So marks do not overlap, and no arrow points back.
Without room for time, that is the order of events.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from beforehand.report.diagram.model import Diagram

APART: Final = 10.0  # pixels between two marks, if there is room
TIME: Final = 0.5  # the least share of the width that is for time
_ROUNDS: Final = 24  # of halving: more than pixels need


class DiagramLayout(NamedTuple):
    """For each mark, how far it is to the right; and what time is where, if it is drawn by time."""

    x: list[float]
    first: int  # nanoseconds that are at 0
    last: int
    scale: float  # pixels for a nanosecond; 0 if it is drawn by order


def across(diagram: Diagram, width: float) -> DiagramLayout:
    """Marks from 0 to `width`."""
    marks = diagram.marks
    # Long before the first and after the last of these, there are only lines and start-up.
    busy = [mark.time_ns for mark in marks if mark.message is not None]
    busy = busy or [mark.time_ns for mark in marks if mark.kind not in ("start", "stop")]
    first, last = min(busy, default=0), max(busy, default=0)
    if diagram.axis == "order" or first == last:
        longest = max((mark.order for mark in marks), default=0) or 1
        return DiagramLayout([mark.order * width / longest for mark in marks], 0, 0, 0.0)
    times = [min(max(mark.time_ns, first), last) - first for mark in marks]
    follows = _follows(diagram)
    turns = sorted(range(len(marks)), key=lambda mark: marks[mark].order)

    def placed(scale: float, apart: float) -> list[float]:
        x = [0.0] * len(marks)
        for mark in turns:
            least = max((x[before] + apart for before in follows[mark]), default=0.0)
            x[mark] = max(least, times[mark] * scale)
        return x

    steps = max(placed(0.0, 1.0)) or 1.0  # on the longest way
    apart = min(APART, (1 - TIME) * width / steps)
    # The widest scale with which all is inside: the more room for time, the wider it gets.
    low, high = 0.0, width / (last - first)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if max(placed(middle, apart)) <= width else (low, middle)
    return DiagramLayout(placed(low, apart), first, last, low)


def _follows(diagram: Diagram) -> list[list[int]]:
    """For each mark those that it must be to the right of."""
    follows: list[list[int]] = [[] for _ in diagram.marks]
    for before, after in pairwise(range(len(diagram.marks))):
        if diagram.marks[before].process == diagram.marks[after].process:
            follows[after].append(before)
    for arrow in diagram.arrows:
        if arrow.end is not None:
            follows[arrow.end].append(arrow.start)
    return follows


def ticks(first: int, last: int, most: int) -> list[int]:
    """Round times for the axis, at most so many and one."""
    step = 1
    while (last - first) // step > most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return list(range(-(-first // step) * step, last + 1, step))


def tracks(bars: Sequence[tuple[float, float]], most: int) -> list[int]:
    """For each bar the track that it runs on, so that bars at the same time lie side by side."""
    free = [0.0] * most  # from where on each track is free
    chosen = [0] * len(bars)
    for number in sorted(range(len(bars)), key=bars.__getitem__):
        start, end = bars[number]
        # The first free one; if all are taken, the one that is free first.
        track = min(range(most), key=lambda track: max(free[track], start))
        free[track] = max(free[track], end)
        chosen[number] = track
    return chosen
