"""A run as a space-time diagram in text: a column for each process, time downwards.

Each step happens at one process, so its lines are in one column, next to bars for the other processes.
Frames that carry no message are in parentheses: a reader can skip them. A delivery that violates a
guarantee is marked with `!!`.
"""

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from beforehand.checker.actions import Run
from beforehand.checker.explain.run_events import RunEvent, messages_in, run_events
from beforehand.checker.setting import Setting
from beforehand.protocols.effects import Wait
from beforehand.protocols.frames import Frame

WIDTH = 80  # characters of a line by default
NARROWEST = 16  # characters of a column: with fewer, most lines would break inside words
_GAP = 2  # characters between columns
_BAR = "|"
_WRONG = "!! "


def spacetime(setting: Setting, run: Run, width: int = WIDTH) -> list[str]:
    """The lines of the diagram: as wide as needed, but if possible not beyond `width`."""
    names = setting.processes
    steps = [
        (number, process, _lines(list(group)))
        for (number, process), group in groupby(run_events(setting, run), key=_where)
    ]
    margin = len(str(len(run))) + _GAP
    widest = max(NARROWEST, (width - margin) // len(names) - _GAP)
    texts = [text for *_, lines in steps for text in lines]
    column = min(widest, max(map(len, [*texts, *names])))
    rows = [_row("", names, column, margin)]
    numbered = 0  # the last step whose number was printed
    for number, process, lines in steps:
        for text in (piece for line in lines for piece in _wrapped(line, column)):
            cells = [text if name == process else _BAR for name in names]
            rows.append(_row("" if number == numbered else str(number), cells, column, margin))
            numbered = number
    return rows


def _wrapped(line: str, column: int) -> list[str]:
    return wrap(line, column, subsequent_indent="  ", break_on_hyphens=False)


def _where(event: RunEvent) -> tuple[int, str]:
    return event.step, event.process


def _row(head: str, cells: Sequence[str], column: int, margin: int) -> str:
    body = "".join(cell.ljust(column + _GAP) for cell in cells)
    return (head.rjust(margin - _GAP) + " " * _GAP + body).rstrip()


def _lines(events: list[RunEvent]) -> list[str]:
    """One line for each event of a step, except for the obvious."""
    sent = {event.message for event in events if event.kind == "send"}
    # A message that is released when it is sent has one line for both.
    released = {event.message: event for event in events if event.kind == "release"}
    return [
        _text(event, released.get(event.message))
        for event in events
        if event.kind != "release" or event.message not in sent
    ]


def _text(event: RunEvent, released: RunEvent | None) -> str:
    message = event.message
    match event.kind:
        case "send":
            return f"sends {message} to {_names(event)}{_remark(released)}"
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
            return _frame_text(event)


def _frame_text(event: RunEvent) -> str:
    """The line of a frame without a message, or of a lost one."""
    assert event.frame is not None and event.to is not None
    carried = messages_in(event.sender, event.frame)
    name = ", ".join(map(str, carried)) or _short_name(event.sender, event.to[0], event.frame)
    if event.kind == "lose":
        return f"{name} from {event.sender} is lost"
    if event.process == event.sender:
        return f"({name} to {_names(event)})"
    more = ", and another copy will" if event.repeated else ""
    return f"({name} from {event.sender}{more})"


def _short_name(sender: str, receiver: str, frame: Frame) -> str:
    """A control frame and the message that it refers to, if any: `ack a#1`, `permit b#2`, `beta`."""
    content = frame.content()
    kind = content.kind()
    number = int(content.about())
    if not number:
        return kind.name_of(content)
    return f"{kind.name_of(content)} {receiver if kind.acknowledges else sender}#{number}"


def _names(event: RunEvent) -> str:
    return "everybody" if event.to is None else ", ".join(event.to)


def _remark(released: RunEvent | None) -> str:
    """What the receiver of a message has to wait for, in a word or two; empty for nothing."""
    frame = None if released is None else released.frame
    text = "" if frame is None else frame.content().restriction()
    return f", {text}" if text else ""


def _until(waits: tuple[Wait, ...]) -> str:
    texts = [f"{wait.kind} of {wait.peer}" for wait in waits]
    return f" until {' and '.join(dict.fromkeys(texts))}" if texts else ""
