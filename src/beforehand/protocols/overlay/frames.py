"""The frames of the protocols that broadcast on an overlay (Nédelec, Molli and Mostéfaoui
2018): messages that are forwarded, the control messages by which links are made, and the signals of
their two ends.

A link is identified by its incarnation `e`, a number that its opener gives to no other link: a frame of
an earlier link between the same two processes is never mistaken for this one's.
"""

from dataclasses import dataclass
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame

RelayedId = tuple[str, int]  # who broadcast it, and its number; negative for floods
Route = tuple[
    str, ...
]  # the processes to pass on the way, the last one included; empty: none known

BETA: Final = 1
PI: Final = 2
RHO: Final = 3
PING: Final = 4
NAMES: Final = {BETA: "beta", PI: "pi", RHO: "rho", PING: "ping"}


@dataclass(frozen=True, repr=False)
class Control:
    """A step in the making of a link: its kind, the two ends, and the incarnation."""

    kind: int
    opener: str
    acceptor: str
    e: int

    def target(self) -> str:
        """The process that it is addressed to."""
        return self.opener if self.kind == BETA or self.kind == RHO else self.acceptor

    def __reduce__(self) -> tuple[object, ...]:  # a compiled frozen dataclass needs it spelt out
        return (Control, (self.kind, self.opener, self.acceptor, self.e))

    def __repr__(self) -> str:
        name = NAMES.get(self.kind, str(self.kind))
        return f"Control({name}, {self.opener!r} to {self.acceptor!r}, e={self.e})"


class Relayed(Frame):
    """A broadcast, which each process forwards once. Not to be instantiated itself."""

    __slots__ = ("id", "number", "source")
    source: Final[str]
    number: Final[i64]
    id: Final[RelayedId]  # computed once: the frame stays the same on its way

    def __init__(self, source: str, number: i64, relayed_id: RelayedId) -> None:
        self.source = source
        self.number = number
        self.id = relayed_id


class Broadcast(Relayed):
    """One application message."""

    __slots__ = ("payload",)
    payload: Final[bytes]

    def __init__(self, source: str, number: i64, payload: bytes) -> None:
        super().__init__(source, number, (source, int(number)))
        self.payload = payload

    def key(self) -> tuple[object, ...]:
        return (self.source, int(self.number), self.payload)

    def messages(self) -> int:
        return 1

    def payload_bytes(self) -> i64:
        return len(self.payload)

    def about(self) -> i64:
        return self.number

    def origin(self) -> str:
        return self.source


class Flood(Relayed):
    """A control message for a process to which no route is known: it goes to everyone.

    It is a broadcast like any other, in the same causal order, but not for the application.
    """

    __slots__ = ("control",)
    control: Final[Control]

    def __init__(self, source: str, number: i64, control: Control) -> None:
        super().__init__(source, number, (source, -int(number)))
        self.control = control

    def key(self) -> tuple[object, ...]:
        return (self.source, int(self.number), self.control)


@dataclass(frozen=True, eq=False, repr=False)
class Routed(Frame):
    """A control message on its way over safe links; `path` is what comes after this hop."""

    path: Route
    control: Control


@dataclass(frozen=True, eq=False, repr=False)
class Buffered(Frame):
    """What the opener delivered while the link was made, in its order: the last step (B-beta)."""

    e: int
    frames: tuple[Relayed, ...]

    def bundle(self) -> tuple[Frame, ...]:
        return self.frames

    def origin(self) -> str:
        for frame in self.frames:
            if frame.messages():
                return frame.source
        return ""

    def messages(self) -> int:
        return sum([frame.messages() for frame in self.frames])

    def payload_bytes(self) -> i64:
        return sum(self.payload_sizes())

    def payload_sizes(self) -> list[int]:
        return [int(frame.payload_bytes()) for frame in self.frames if frame.messages()]


@dataclass(frozen=True, eq=False, repr=False)
class Alpha(Frame):
    """The first frame of a new link, and the route by which answers may come back."""

    e: int
    back: Route


@dataclass(frozen=True, eq=False, repr=False)
class LinkSignal(Frame):
    """A signal from one end of a link to the other, about its incarnation `e`."""

    e: int


class Linked(LinkSignal):
    """My link to you is in use from here on (`link-memory`, which knows no better)."""


class Pong(LinkSignal):
    """Your ping has come (`preventive`)."""


class Close(LinkSignal):
    """The last frame of my link to you."""


class Refuse(LinkSignal):
    """Your link to me cannot be; you may try again."""


class Join(LinkSignal):
    """Let me take part; `e` is my link to you."""


@dataclass(frozen=True, eq=False, repr=False)
class Leave(Frame):
    """I have left."""


@dataclass(frozen=True, eq=False, repr=False)
class Welcome(Frame):
    """You take part from here on; `e` is my link to you.

    `versions` are the newest numbers delivered here of each source, for protocols that keep such.
    """

    e: int
    versions: tuple[RelayedId, ...]
