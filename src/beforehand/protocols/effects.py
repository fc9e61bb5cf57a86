"""Effects: what a core asks its caller to carry out; and what a message that is held waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame


class Effect:
    """Something that the caller of a core must carry out."""

    __slots__ = ()


class Transmit(Effect):
    """Hand `frame` to the network, addressed to the process `to`."""

    __slots__ = ("frame", "to")
    __match_args__: ClassVar[tuple[str, ...]] = ("to", "frame")
    to: Final[str]
    frame: Final[Frame]

    def __init__(self, to: str, frame: Frame) -> None:
        self.to = to
        self.frame = frame

    def __reduce__(self) -> tuple[object, ...]:
        return (Transmit, (self.to, self.frame))

    def __repr__(self) -> str:
        return f"Transmit(to={self.to!r}, frame={self.frame!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transmit) and self.to == other.to and self.frame == other.frame

    def __hash__(self) -> int:
        return hash((self.to, self.frame))


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

    def __reduce__(self) -> tuple[object, ...]:
        return (Deliver, (self.sender, int(self.message_id), self.payload))

    def __repr__(self) -> str:
        return f"Deliver(sender={self.sender!r}, message_id={self.message_id}, payload={self.payload!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Deliver)
            and self.sender == other.sender
            and self.message_id == other.message_id
            and self.payload == other.payload
        )

    def __hash__(self) -> int:
        return hash((self.sender, self.message_id, self.payload))


class DeliverRun(Effect):
    """The same for messages `first`, `first` + 1, ... of `sender`, in one effect.

    Only cores made with the option `runs` give it: to a caller in a hurry, an object for each message
    is what costs most.
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

    def __reduce__(self) -> tuple[object, ...]:
        return (DeliverRun, (self.sender, int(self.first), self.payloads))

    def __repr__(self) -> str:
        return f"DeliverRun(sender={self.sender!r}, first={self.first}, payloads={self.payloads!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DeliverRun)
            and self.sender == other.sender
            and self.first == other.first
            and self.payloads == other.payloads
        )

    def __hash__(self) -> int:
        return hash((self.sender, self.first, self.payloads))


class Admit(Effect):
    """From here on `newcomer` takes part, through this process.

    It will deliver whatever this process has not delivered yet, and nothing that it has: the
    application may now send it a copy of its own state, which is exactly what the newcomer misses.
    """

    __slots__ = ("newcomer",)
    __match_args__: ClassVar[tuple[str, ...]] = ("newcomer",)
    newcomer: Final[str]

    def __init__(self, newcomer: str) -> None:
        self.newcomer = newcomer

    def __reduce__(self) -> tuple[object, ...]:
        return (Admit, (self.newcomer,))

    def __repr__(self) -> str:
        return f"Admit(newcomer={self.newcomer!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Admit) and self.newcomer == other.newcomer

    def __hash__(self) -> int:
        return hash((Admit, self.newcomer))


class Safe(Effect):
    """The link to `peer` is in use from here on."""

    __slots__ = ("peer",)
    __match_args__: ClassVar[tuple[str, ...]] = ("peer",)
    peer: Final[str]

    def __init__(self, peer: str) -> None:
        self.peer = peer

    def __reduce__(self) -> tuple[object, ...]:
        return (Safe, (self.peer,))

    def __repr__(self) -> str:
        return f"Safe(peer={self.peer!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Safe) and self.peer == other.peer

    def __hash__(self) -> int:
        return hash((Safe, self.peer))


@dataclass(frozen=True)
class Wait:
    """What a held message waits for: the `kind` of thing, from which peer, about which message.

    `message_id` numbers a message of `peer` for a permit or a missing message, and a message of
    one's own for an acknowledgement; for a clock it is how far that of `peer` must be known to be.
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
