"""The frames of `tree`: messages on their way, and the steps of moving a subtree (`slide.py`).

A message carries its origin, its number and the receivers that it has yet to reach: addresses, and
nothing about causality. The letters F, H, L and K are those of docs/tree.md.
"""

from dataclasses import dataclass
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import RelayedFrame


class TreeBroadcast(RelayedFrame):
    """The `number`-th message of `source`, for everybody."""


class TreeMessage(RelayedFrame):
    """The `number`-th message of `source`, for those of its receivers that lie this way.

    They are in the order of their names, and at least one.
    """

    __slots__ = ("to",)
    to: Final[tuple[str, ...]]

    def __init__(self, source: str, number: i64, to: tuple[str, ...], payload: bytes) -> None:
        super().__init__(source, number, payload)
        self.to = to

    def key(self) -> tuple[object, ...]:
        return (self.source, int(self.number), self.to, self.payload)


@dataclass(frozen=True, eq=False, repr=False)
class TreeRequest(Frame):
    """A control frame between a process and its parent that consists of a name."""

    name: str


class TreeAsk(TreeRequest):
    """To one's parent: I want to hang under `name`, or nearer to it."""


class TreeGo(TreeRequest):
    """To the one who asked: hang under `name` now."""


@dataclass(frozen=True, eq=False, repr=False)
class SlideFrame(Frame):
    """A step in moving `mover` from one process to a neighbour of it."""

    mover: str


@dataclass(frozen=True, eq=False, repr=False)
class TreeLock(SlideFrame):
    """Will you take in `mover`? All of its `side` comes along: itself and what is behind it."""

    side: tuple[str, ...]


class TreeReady(SlideFrame):
    """I will, and take part in no other slide until it is done."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeRefusal(SlideFrame):
    """Not now; `lasting`: not ever, since no way leads there."""

    lasting: bool


class TreeFarewell(SlideFrame):
    """F: the last frame that the mover sends to its old parent, which passes it on to the new one."""


class TreeHandover(SlideFrame):
    """H: the new parent has taken over what goes to the mover's side, but for what is yours."""


class TreeLast(SlideFrame):
    """L: the last frame that the old parent sends to the mover."""


class TreeClear(SlideFrame):
    """K: all that the mover sent over its old parent is before this."""


class TreeGone(SlideFrame):
    """The mover was dropped: the fence of this frame brings the drop to the third process."""
