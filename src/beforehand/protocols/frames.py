"""What travels between cores: small immutable values, and for each kind of them one description.

Each protocol defines its own frames next to its core, so that a frame of another protocol is never
mistaken for one of its own. Whatever others ask about a single frame (how many messages it carries,
whose they are) is a method of `Frame`. Whatever holds for all frames of a class (first byte, encoding,
name in diagrams) is its `FrameKind`, which the protocol registers (`registry.py`).

The table of kinds is filled by registration and read by `beforehand.wire`. The first byte of a frame
determines its kind. A frame from outside this package has a two-byte tag, so that there are enough of
them for everybody; `docs/wire-format.md` lists the ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Final

from mypy_extensions import i64, mypyc_attr

from beforehand.encoding.fields import FIELDS, decode_field, encode_field
from beforehand.encoding.reader import Reader
from beforehand.errors import LocalProtocolError

FIRST_EXTENSION: Final = 0x9000  # tags of frames that are defined outside this package
LAST_EXTENSION: Final = 0x9FFF


@mypyc_attr(allow_interpreted_subclasses=True)
class Frame:
    """The base of all frames. Equality and hash go by the class and its `key()`."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()  # as dataclasses define it

    def key(self) -> tuple[object, ...]:
        """The fields, in the order of the constructor: what makes two frames of a class equal.

        Frames that are dataclasses inherit it; those of hot paths write it out, and their constructor.
        """
        return tuple([getattr(self, name) for name in self.__match_args__])

    def kind(self) -> FrameKind:
        """What all frames of this class share. (Frames of hot paths override it to save a look-up.)"""
        kind = _BY_CLASS.get(type(self))
        return kind if kind is not None else UnregisteredKind(type(self), 0)

    def content(self) -> Frame:
        """The frame of the protocol: itself, or what is inside a frame that only wraps another."""
        return self

    def messages(self) -> int:
        """How many application messages this frame carries; none for control frames."""
        return 0

    def payload_bytes(self) -> i64:
        """How many bytes of what it carries are the application's."""
        return 0

    def payload_sizes(self) -> list[int]:
        """The same for each of its messages, in order."""
        return [int(self.payload_bytes())] if self.messages() else []

    def about(self) -> i64:
        """The number of the (first) message that it carries or refers to; 0 if there is none."""
        return 0

    def origin(self) -> str:
        """Whose (first) message it carries, where messages are relayed; empty: its sender's own."""
        return ""

    def restriction(self) -> str:
        """What its receiver has to wait for before it may act on the message; empty for nothing."""
        return ""

    def deferrable(self) -> bool:
        """Whether a node may first use the messages that came with it, as for acknowledgements."""
        return False

    def bundle(self) -> tuple[Frame, ...]:
        """The frames that this one is a sequence of; empty for all but such sequences."""
        return ()

    def split_to_fit(self, room: i64) -> list[Frame]:
        """The same messages in frames that take at most `room` bytes each, where that is possible."""
        return [self]

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), self.key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(field) for field in self.key()])})"


class Envelope(Frame):
    """A frame that wraps another one, and carries whatever that one carries."""

    __slots__ = ("inner",)
    inner: Final[Frame]

    def __init__(self, inner: Frame) -> None:
        self.inner = inner

    def content(self) -> Frame:
        return self.inner.content()

    def messages(self) -> int:
        return self.inner.messages()

    def payload_bytes(self) -> i64:
        return self.inner.payload_bytes()

    def payload_sizes(self) -> list[int]:
        return self.inner.payload_sizes()

    def about(self) -> i64:
        return self.inner.about()

    def origin(self) -> str:
        return self.inner.origin()

    def bundle(self) -> tuple[Frame, ...]:
        return self.inner.bundle()


@mypyc_attr(allow_interpreted_subclasses=True)
class FrameKind:
    """One kind of frame: its class, its tag on the wire, its encoding, its name in diagrams.

    `fields` lists the fields of the constructor, separated by spaces, by the names that
    `encoding/fields.py` defines. That is all a frame of such fields needs. Frames that consist of
    something else, or that have several tags, override `encode` and `decode`. Then decoding must be
    total (a frame or RemoteProtocolError, in time and memory linear in the bytes) and canonical (what is
    accepted encodes to the same bytes).
    """

    frame: Final[Callable[..., Frame]]  # the class
    tags: Final[tuple[int, ...]]
    prefix: Final[bytes]  # the first of the tags, encoded
    fields: Final[tuple[str, ...]]
    label: Final[str]  # what diagrams call it
    acknowledges: Final[bool]  # it refers to a message that its receiver sent, not its sender
    permits: Final[bool]  # it lifts the `restriction` of a message

    def __init__(
        self,
        frame: Callable[..., Frame],
        tags: int | tuple[int, ...],
        fields: str = "",
        *,
        label: str = "",
        acknowledges: bool = False,
        permits: bool = False,
    ) -> None:
        self.frame = frame
        self.tags = (tags,) if isinstance(tags, int) else tags
        self.prefix = tag_bytes(self.tags[0])
        self.fields = tuple(fields.split())
        self.label = label or _default_label(frame.__name__)
        self.acknowledges = acknowledges
        self.permits = permits
        for field in self.fields:
            if field not in FIELDS:
                raise LocalProtocolError(
                    f"{frame.__name__}: unknown field {field!r}; choose from {', '.join(FIELDS)}"
                )

    def encode(self, frame: Frame) -> bytes:
        """All bytes of a frame of this kind, the tag included."""
        key = frame.key()
        if len(key) != len(self.fields):
            raise LocalProtocolError(
                f"{frame} has {len(key)} fields, but {len(self.fields)} were registered"
            )
        parts = [self.prefix]
        before: object = None
        for position in range(len(key)):
            value = key[position]
            parts.append(encode_field(self.fields[position], value, before))
            before = value
        return b"".join(parts)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        """The frame whose bytes after the tag are next in the reader."""
        values: list[object] = []
        before: object = None
        for field in self.fields:
            before = decode_field(field, reader, before)
            values.append(before)
        return self.frame(*values)

    def decode_at(self, data: bytes, offset: i64, peer: str) -> tuple[Frame, i64]:
        """The frame that starts, with its one-byte tag, at an offset; and the offset after it."""
        reader = Reader(data, offset + 1, peer)
        frame = self.decode(data[offset], reader)
        return frame, reader.position

    def size(self, frame: Frame) -> i64:
        """The length of `encode(frame)`."""
        return len(self.encode(frame))

    def name_of(self, frame: Frame) -> str:
        """What diagrams call this frame."""
        return self.label


class UnregisteredKind(FrameKind):
    """The kind of frames that no protocol has registered: they have a name, but no encoding."""

    def encode(self, frame: Frame) -> bytes:
        name = type(frame).__name__
        raise LocalProtocolError(
            f"{name} cannot be sent: register the protocol that has this frame, with its FrameKind"
        )


# The kind of each frame that may be sent: by its class, by its first byte, by its two-byte tag.
_BY_CLASS: Final[dict[object, FrameKind]] = {}
BY_FIRST_BYTE: Final[list[FrameKind | None]] = [None] * 256
BY_EXTENSION: Final[dict[int, FrameKind]] = {}


def allot(kinds: tuple[FrameKind, ...]) -> None:
    """Give kinds of frames their tags; LocalProtocolError, and nothing changes, if one is taken."""
    fresh = [kind for kind in kinds if _BY_CLASS.get(kind.frame) is not kind]
    for kind in fresh:
        if kind.frame in _BY_CLASS:
            raise LocalProtocolError(
                f"{kind.frame.__name__} has a FrameKind already; share that one"
            )
        for tag in kind.tags:
            _check_tag(kind, tag)
    for kind in fresh:
        _BY_CLASS[kind.frame] = kind
        for tag in kind.tags:
            if tag <= 0xFF:
                BY_FIRST_BYTE[tag] = kind
            else:
                BY_EXTENSION[tag] = kind


def _check_tag(kind: FrameKind, tag: int) -> None:
    name = kind.frame.__name__
    taken: FrameKind | None = None
    if FIRST_EXTENSION <= tag <= LAST_EXTENSION:
        taken = BY_EXTENSION.get(tag)
    elif 0 < tag <= 0xFF and kind.frame.__module__.startswith("beforehand.protocols."):
        taken = BY_FIRST_BYTE[tag]
    else:
        raise LocalProtocolError(
            f"{name}: the tag {tag:#x} is out of range; choose one from {FIRST_EXTENSION:#x} to "
            f"{LAST_EXTENSION:#x}"
        )
    if taken is not None:
        raise LocalProtocolError(
            f"{name}: the tag {tag:#x} belongs to {taken.frame.__name__}; choose another one from "
            f"{FIRST_EXTENSION:#x} to {LAST_EXTENSION:#x}"
        )


def tag_bytes(tag: int) -> bytes:
    """A tag on the wire: one byte, or two for an extension."""
    return tag.to_bytes(1 if tag <= 0xFF else 2, "big")


def _default_label(class_name: str) -> str:
    """The words of a class name without the first, which is mostly the protocol's name."""
    words = re.findall(r"[A-Z][a-z0-9]*", class_name)
    return " ".join(words[1:] or words).lower()
