"""A space-time diagram, as plain values: processes are lines, and what happens on them are marks.

Marks are numbered by their place in `Diagram.marks`, and messages by theirs in `Diagram.messages`. The
marks of a process come in the order of that process, and `order` never goes back along a line or an
arrow, so that a diagram can be drawn by order where clocks disagree.
"""

from dataclasses import dataclass
from typing import Literal

MarkKind = Literal[
    "send", "release", "receive", "deliver", "control", "hold", "evict", "start", "stop"
]
Axis = Literal["time", "order"]


@dataclass(frozen=True)
class Mark:
    """An event of the trace."""

    process: int  # its place in `Diagram.processes`
    seq: int
    kind: MarkKind
    time_ns: int  # since `Diagram.origin_ns`; negative before the first send
    order: int  # 0, 1, 2, ...: later than all that it follows
    message: int | None  # which it is about
    peer: int | None  # the other process: whom it goes to or comes from, if that is one
    detail: str
    payload_bytes: int
    meta_bytes: int


@dataclass(frozen=True)
class DiagramMessage:
    """A message of which the diagram shows something."""

    sender: int
    mid: int
    to: tuple[int, ...] | None  # None: everybody, or its sending is not in the diagram
    send: int | None  # the mark of its causal-send
    payload_bytes: int


@dataclass(frozen=True)
class Arrow:
    """A frame on its way; one that is not seen to arrive ends nowhere."""

    kind: Literal["message", "relay", "control"]
    start: int  # mark
    end: int | None  # mark
    message: int | None


@dataclass(frozen=True)
class Bar:
    """A message waits: at its sender from send to release, at a receiver from receive to deliver."""

    kind: Literal["held", "buffered"]
    start: int  # mark
    end: int | None  # mark; None: until the end of what is shown
    message: int


@dataclass(frozen=True)
class Flag:
    """A mark that something is wrong with, and what."""

    mark: int
    sentence: str
    chain: tuple[int, ...] = ()  # messages that prove it, from the late one to the early one


@dataclass(frozen=True)
class Diagram:
    """All that is drawn."""

    run: str
    processes: tuple[str, ...]  # as the trace has them, from top to bottom
    labels: tuple[str, ...]  # as people read them: n1 and not n1@9c017489ccba3459
    marks: tuple[Mark, ...]
    messages: tuple[DiagramMessage, ...]
    arrows: tuple[Arrow, ...]
    bars: tuple[Bar, ...]
    flags: tuple[Flag, ...]
    axis: Axis  # by which to draw it at first
    origin_ns: int  # the time of the first send, or of the first mark if there is none
    selected: int | None  # message to begin with
    note: str  # which part of the trace is drawn and what is unknown; empty if it is complete
    protocol: str = ""  # if it is known
    verdict: str = ""  # on the deliveries, in a few words; empty if they were not judged
    differs: tuple[int, ...] = ()  # marks of deliveries in another order than in another run
