"""Effects: what a core asks its caller to carry out. Also how it describes messages that it holds."""

from dataclasses import dataclass
from typing import ClassVar, Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame


class Effect:
    """Something that the caller of a core must carry out; a value, compared by its fields."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()  # the fields, in the order of the constructor

    def key(self) -> tuple[object, ...]:
        """The values of the fields."""
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), self.key())

    def __repr__(self) -> str:
        fields = [f"{name}={value!r}" for name, value in zip(self.__match_args__, self.key())]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Effect) and type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.key()))


class Transmit(Effect):
    """Hand `frame` to the network, addressed to the process `to`."""

    __slots__ = ("frame", "to")
    __match_args__: ClassVar[tuple[str, ...]] = ("to", "frame")
    to: Final[str]
    frame: Final[Frame]

    def __init__(self, to: str, frame: Frame) -> None:
        self.to = to
        self.frame = frame


class Deliver(Effect):
    """Hand the payload of message `message_id` of `sender` to the application."""

    __slots__ = ("message_id", "payload", "sender")
    __match_args__: ClassVar[tuple[str, ...]] = ("sender", "message_id", "payload")
    sender: Final[str]
    message_id: Final[i64]
    payload: Final[bytes]

    def __init__(self, sender: str, message_id: i64, payload: bytes) -> None:
        self.sender = sender
        self.message_id = message_id
        self.payload = payload


class DeliverRun(Effect):
    """Deliver messages `first`, `first` + 1, ... of `sender`, in one effect.

    Only cores created with the option `runs` return it: on hot paths an object per message is the
    dominant cost.
    """

    __slots__ = ("first", "payloads", "sender")
    __match_args__: ClassVar[tuple[str, ...]] = ("sender", "first", "payloads")
    sender: Final[str]
    first: Final[i64]
    payloads: Final[tuple[bytes, ...]]

    def __init__(self, sender: str, first: i64, payloads: tuple[bytes, ...]) -> None:
        self.sender = sender
        self.first = first
        self.payloads = payloads


@dataclass(frozen=True, eq=False, repr=False)
class Admit(Effect):
    """From here on `newcomer` takes part, through this process.

    It will deliver whatever this process has not delivered yet, and nothing that it has: the
    application may now send it a copy of its own state, which is exactly what the newcomer lacks.
    """

    newcomer: str


@dataclass(frozen=True, eq=False, repr=False)
class Safe(Effect):
    """The link to `peer` is in use from here on."""

    peer: str


@dataclass(frozen=True)
class Wait:
    """What a held message waits for: the `kind` of thing, from which peer, about which message.

    `message_id` numbers a message of `peer` for a permit or a missing message, and a message of
    one's own for an acknowledgement; for a clock it is the value that the clock of `peer` must reach.
    """

    # "permit", "ack", "you-can-tell", "message", "segment", "flush", "welcome", "slide" or "clock"
    kind: str
    peer: str
    message_id: int

    def __reduce__(self) -> tuple[object, ...]:  # a compiled frozen dataclass needs it spelt out
        return (Wait, (self.kind, self.peer, self.message_id))


@dataclass(frozen=True)
class Held:
    """A message that waits inside a core, at its sender or at its receiver."""

    sender: str
    message_id: int
    receivers: tuple[str, ...]  # those that it waits to go to, or the process that holds it
    since: int  # by the caller's clock: the `now` of the send or receive
    waits: tuple[Wait, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return (Held, (self.sender, self.message_id, self.receivers, self.since, self.waits))
