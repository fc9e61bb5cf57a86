"""The frames of `tree`: messages on their way, and the steps of moving a subtree (`slide.py`).

A message carries its origin, its number and the receivers that it has yet to reach: addresses, and
nothing about causality. The letters F, H, L and K are those of docs/tree.md.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame


class TreeMessage(Frame):
    """The `number`-th message of `source`, for those of its receivers that lie this way.

    They are in the order of their names, and at least one.
    """

    __slots__ = ("number", "payload", "source", "to")
    source: Final[str]
    number: Final[i64]
    to: Final[tuple[str, ...]]
    payload: Final[bytes]

    def __init__(self, source: str, number: i64, to: tuple[str, ...], payload: bytes) -> None:
        self.source = source
        self.number = number
        self.to = to
        self.payload = payload

    def key(self) -> tuple[object, ...]:
        return (self.source, int(self.number), self.to, self.payload)

    def messages(self) -> int:
        return 1

    def payload_bytes(self) -> i64:
        return len(self.payload)

    def about(self) -> i64:
        return self.number

    def origin(self) -> str:
        return self.source


class TreeBroadcast(Frame):
    """The `number`-th message of `source`, for everybody."""

    __slots__ = ("number", "payload", "source")
    source: Final[str]
    number: Final[i64]
    payload: Final[bytes]

    def __init__(self, source: str, number: i64, payload: bytes) -> None:
        self.source = source
        self.number = number
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


class TreeAsk(Frame):
    """To one's parent: I want to hang under `target`, or nearer to it."""

    __slots__ = ("target",)
    target: Final[str]

    def __init__(self, target: str) -> None:
        self.target = target

    def key(self) -> tuple[object, ...]:
        return (self.target,)


class TreeGo(Frame):
    """To the one who asked: hang under `parent` now."""

    __slots__ = ("parent",)
    parent: Final[str]

    def __init__(self, parent: str) -> None:
        self.parent = parent

    def key(self) -> tuple[object, ...]:
        return (self.parent,)


class SlideFrame(Frame):
    """A step in moving `mover` from one process to a neighbour of it."""

    __slots__ = ("mover",)
    mover: Final[str]

    def __init__(self, mover: str) -> None:
        self.mover = mover

    def key(self) -> tuple[object, ...]:
        return (self.mover,)


class TreeLock(SlideFrame):
    """Will you take in `mover`? All of its `side` comes along: itself and what is behind it."""

    __slots__ = ("side",)
    side: Final[tuple[str, ...]]

    def __init__(self, mover: str, side: tuple[str, ...]) -> None:
        super().__init__(mover)
        self.side = side

    def key(self) -> tuple[object, ...]:
        return (self.mover, self.side)


class TreeReady(SlideFrame):
    """I will, and take part in no other slide until it is done."""

    __slots__ = ()


class TreeRefusal(SlideFrame):
    """Not now; `lasting`: not ever, since no way leads there."""

    __slots__ = ("lasting",)
    lasting: Final[bool]

    def __init__(self, mover: str, lasting: bool) -> None:
        super().__init__(mover)
        self.lasting = lasting

    def key(self) -> tuple[object, ...]:
        return (self.mover, self.lasting)


class TreeFarewell(SlideFrame):
    """F: the last frame that the mover sends to its old parent, which passes it on to the new one."""

    __slots__ = ()


class TreeHandover(SlideFrame):
    """H: the new parent has taken over what goes to the mover's side, but for what is yours."""

    __slots__ = ()


class TreeLast(SlideFrame):
    """L: the last frame that the old parent sends to the mover."""

    __slots__ = ()


class TreeClear(SlideFrame):
    """K: all that the mover sent over its old parent is before this."""

    __slots__ = ()


class TreeGone(SlideFrame):
    """The mover was dropped: the fence of this frame brings the drop to the third process."""

    __slots__ = ()
