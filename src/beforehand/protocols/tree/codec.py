"""The encoding of the frames of `tree`: messages with addresses, and the steps of a slide.

    message:     tag, source (name), id, to (names), payload
    broadcast:   tag, source (name), id, payload
    lock:        tag, mover (name), side (names)
    all others:  tag, name

Several names are in ascending order, without duplicates, and at least one. A lasting refusal has a tag
of its own.
"""

from itertools import pairwise
from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field, name_field, names_field, payload_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE
from beforehand.errors import LocalProtocolError
from beforehand.protocols import tags
from beforehand.protocols.frames import Frame, FrameKind
from beforehand.protocols.tree.frames import (
    TreeAsk,
    TreeBroadcast,
    TreeClear,
    TreeFarewell,
    TreeGo,
    TreeGone,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeMessage,
    TreeReady,
    TreeRefusal,
)


def _ascend(names: tuple[str, ...]) -> bool:
    """Whether each name is greater than the one before; as strings and as UTF-8 that is the same."""
    return all(before < after for before, after in pairwise(names))


def _encode_names(names: tuple[str, ...]) -> bytes:
    if not names or not _ascend(names):
        raise LocalProtocolError(f"{names} cannot be sent: give names in ascending order")
    return names_field(names)


def _decode_names(reader: Reader) -> tuple[str, ...]:
    names = reader.names(1)
    if not _ascend(names):
        raise reader.problem("names that are not in ascending order")
    return names


class TreeMessageKind(FrameKind):
    """A message with the receivers that it has yet to reach."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, TreeMessage)
        head = self.prefix + name_field(frame.source) + id_field(frame.number)
        return head + _encode_names(frame.to) + payload_field(frame.payload)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        source = reader.name()
        number = reader.id()
        to = _decode_names(reader)
        return TreeMessage(source, number, to, reader.payload())


class TreeLockKind(FrameKind):
    """A lock, with the side of the tree that would move."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, TreeLock)
        return self.prefix + name_field(frame.mover) + _encode_names(frame.side)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        mover = reader.name()
        return TreeLock(mover, _decode_names(reader))


class TreeRefusalKind(FrameKind):
    """A refusal, whose tag shows whether it lasts."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, TreeRefusal)
        tag = tags.TREE_LASTING_REFUSAL if frame.lasting else tags.TREE_REFUSAL
        return ONE_BYTE[tag] + name_field(frame.mover)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        return TreeRefusal(reader.name(), tag == tags.TREE_LASTING_REFUSAL)


FRAMES: Final[tuple[FrameKind, ...]] = (
    TreeMessageKind(TreeMessage, tags.TREE_MESSAGE),
    FrameKind(TreeBroadcast, tags.TREE_BROADCAST, "name id payload"),
    TreeLockKind(TreeLock, tags.TREE_LOCK),
    TreeRefusalKind(TreeRefusal, (tags.TREE_REFUSAL, tags.TREE_LASTING_REFUSAL)),
    FrameKind(TreeAsk, tags.TREE_ASK, "name"),
    FrameKind(TreeReady, tags.TREE_READY, "name"),
    FrameKind(TreeGo, tags.TREE_GO, "name"),
    FrameKind(TreeFarewell, tags.TREE_FAREWELL, "name"),
    FrameKind(TreeHandover, tags.TREE_HANDOVER, "name"),
    FrameKind(TreeLast, tags.TREE_LAST, "name"),
    FrameKind(TreeClear, tags.TREE_CLEAR, "name"),
    FrameKind(TreeGone, tags.TREE_GONE, "name"),
)
