"""A run as a space-time diagram in text: a column for each process, time downwards.

Each step happens at one process, so its lines stand in one column, and the lives of the others go on
beside it as bars. Frames that carry no message are in parentheses: they explain, but one can read
over them. The delivery that breaks a promise is marked with `!!`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from beforehand.checker.actions import Run
from beforehand.checker.explain.frame_names import remark, short_name
from beforehand.checker.explain.run_events import Event, messages_in, tell
from beforehand.checker.setting import Setting
from beforehand.protocols.effects import Wait

WIDTH = 80  # characters of a line, unless told otherwise
NARROWEST = 16  # characters of a column: with less, words break and nobody can follow
_GAP = 2  # characters between columns
_BAR = "|"
_WRONG = "!! "


def spacetime(setting: Setting, run: Run, width: int = WIDTH) -> list[str]:
    """The lines of the diagram: as wide as they need to be, but if possible not beyond `width`."""
    names = setting.processes
    steps = [
        (number, process, _lines(list(group)))
        for (number, process), group in groupby(tell(setting, run), key=_where)
    ]
    margin = len(str(len(run))) + _GAP
    widest = max(NARROWEST, (width - margin) // len(names) - _GAP)
    texts = [text for *_, lines in steps for text in lines]
    column = min(widest, max(map(len, [*texts, *names])))
    found = [_row("", names, column, margin)]
    told = 0  # the step whose number is there already
    for number, process, lines in steps:
        for text in (piece for line in lines for piece in _wrapped(line, column)):
            cells = [text if name == process else _BAR for name in names]
            found.append(_row("" if number == told else str(number), cells, column, margin))
            told = number
    return found


def _wrapped(line: str, column: int) -> list[str]:
    return wrap(line, column, subsequent_indent="  ", break_on_hyphens=False)


def _where(event: Event) -> tuple[int, str]:
    return event.step, event.process


def _row(head: str, cells: Sequence[str], column: int, margin: int) -> str:
    body = "".join(cell.ljust(column + _GAP) for cell in cells)
    return (head.rjust(margin - _GAP) + " " * _GAP + body).rstrip()


def _lines(events: list[Event]) -> list[str]:
    """What one step has to say, in one line for each event, and for what goes without saying none."""
    sent = {event.message for event in events if event.kind == "send"}
    # A message that leaves when it is sent has one line for both.
    leaving = {event.message: event for event in events if event.kind == "release"}
    return [
        _words(event, leaving.get(event.message))
        for event in events
        if event.kind != "release" or event.message not in sent
    ]


def _words(event: Event, leaving: Event | None) -> str:
    message = event.message
    match event.kind:
        case "send":
            return f"sends {message} to {_names(event)}{_remark(leaving)}"
        case "release":
            own = message is not None and message.sender == event.process
            verb = f"releases {message}" if own else f"passes {message} on"
            return f"{verb} to {_names(event)}{' again' * event.again}{_remark(event)}"
        case "receive":
            relay = (
                "" if message is None or message.sender == event.sender else f" from {event.sender}"
            )
            more = ", and another copy will" if event.repeated else ""
            return f"{message} arrives{relay}{' again' * event.again}{more}"
        case "deliver":
            return f"{_WRONG * event.wrong}delivers {message}"
        case "hold":
            return f"holds {message}{_until(event.waits)}"
        case "open":
            return f"opens a link to {_names(event)}"
        case "close":
            return f"closes a link to {_names(event)}"
        case "tick":
            return "(timer)"
        case _:
            return _about_a_frame(event)


def _about_a_frame(event: Event) -> str:
    """Frames without a message, and lost ones."""
    assert event.frame is not None and event.to is not None
    carried = messages_in(event.sender, event.frame)
    name = ", ".join(map(str, carried)) or short_name(event.sender, event.to[0], event.frame)
    if event.kind == "lose":
        return f"{name} from {event.sender} is lost"
    if event.process == event.sender:
        return f"({name} to {_names(event)})"
    more = ", and another copy will" if event.repeated else ""
    return f"({name} from {event.sender}{more})"


def _names(event: Event) -> str:
    return "everybody" if event.to is None else ", ".join(event.to)


def _remark(leaving: Event | None) -> str:
    text = "" if leaving is None or leaving.frame is None else remark(leaving.frame)
    return f", {text}" if text else ""


def _until(waits: tuple[Wait, ...]) -> str:
    texts = [f"{wait.kind} of {wait.peer}" for wait in waits]
    return f" until {' and '.join(dict.fromkeys(texts))}" if texts else ""
