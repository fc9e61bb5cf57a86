"""A diagram as JSON: a list for each field, because a page holds thousands of marks.

None is -1, repeated texts are indices of a table, and kinds are numbers. Integers that JavaScript cannot
represent exactly are text.
"""

from collections.abc import Iterable
from typing import Any, Final, get_args

from beforehand.report.diagram.model import Diagram, MarkKind

KINDS: Final = get_args(MarkKind)
ARROWS: Final = ("message", "relay", "control")
BARS: Final = ("held", "buffered")
NONE: Final = -1
MOST_EXACT: Final = 2**53 - 1  # JavaScript rounds larger numbers


def columns(diagram: Diagram) -> dict[str, Any]:
    """The input of the script of the page."""
    marks, messages = diagram.marks, diagram.messages
    arrows, bars = diagram.arrows, diagram.bars
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    details = {"": 0}
    return {
        "run": diagram.run,
        "note": diagram.note,
        "axis": diagram.axis,
        "origin": str(diagram.origin_ns),
        "processes": list(diagram.processes),
        "labels": list(diagram.labels),
        "kinds": list(KINDS),
        "marks": {
            "process": [mark.process for mark in marks],
            "seq": [mark.seq for mark in marks],
            "kind": [kinds[mark.kind] for mark in marks],
            "time": [mark.time_ns for mark in marks],
            "order": [mark.order for mark in marks],
            "message": _numbers(mark.message for mark in marks),
            "peer": _numbers(mark.peer for mark in marks),
            "detail": [details.setdefault(mark.detail, len(details)) for mark in marks],
            "payload": [mark.payload_bytes for mark in marks],
            "meta": [mark.meta_bytes for mark in marks],
        },
        "details": list(details),
        "messages": {
            "sender": [message.sender for message in messages],
            "mid": [_exact(message.mid) for message in messages],
            "to": [None if message.to is None else list(message.to) for message in messages],
            "send": _numbers(message.send for message in messages),
            "payload": [message.payload_bytes for message in messages],
        },
        "arrows": {
            "kind": [ARROWS.index(arrow.kind) for arrow in arrows],
            "start": [arrow.start for arrow in arrows],
            "end": _numbers(arrow.end for arrow in arrows),
            "message": _numbers(arrow.message for arrow in arrows),
        },
        "bars": {
            "kind": [BARS.index(bar.kind) for bar in bars],
            "start": [bar.start for bar in bars],
            "end": _numbers(bar.end for bar in bars),
            "message": [bar.message for bar in bars],
        },
        "flags": [
            {"mark": flag.mark, "sentence": flag.sentence, "chain": list(flag.chain)}
            for flag in diagram.flags
        ],
        "differs": list(diagram.differs),
        "selected": NONE if diagram.selected is None else diagram.selected,
    }


def _numbers(values: Iterable[int | None]) -> list[int]:
    return [NONE if value is None else value for value in values]


def _exact(value: int) -> int | str:
    return value if abs(value) <= MOST_EXACT else str(value)
