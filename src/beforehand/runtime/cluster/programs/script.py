"""A script: every message of a run, who sends it to whom, and because of what.

A process knows a line once it has sent or delivered it; that makes it send the lines `after` it. So the
order in which lines are sent is not in the script: it depends on the network, as with real users.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Line(NamedTuple):
    """One message; other lines are given by their index in the script."""

    sender: str
    to: tuple[str, ...]
    text: str
    after: int | None = None  # its sender sends it upon this one; None: of its own accord
    needs: int | None = None  # what a receiver must have seen to make sense of it


Script = tuple[Line, ...]


@dataclass(frozen=True)
class ScriptedProgram:
    """A small application with a script."""

    name: str
    title: str  # such as "A group chat"
    least: int  # processes
    names: Callable[[int], list[str]]  # of so many processes
    script: Callable[
        [Sequence[str], int], Script
    ]  # of these processes, with about so many messages
    # What a process (the first argument) saw too early, and what was missing; a sentence.
    explain: Callable[[str, Line, Line], str]
    harm: str  # what users got instead of an answer in time, in the plural


def payload_of(index: int, line: Line) -> bytes:
    """A line as a message."""
    return b"%d %b" % (index, line.text.encode())


def index_of(payload: bytes) -> int:
    """Which line a message is."""
    return int(payload.partition(b" ")[0])
