"""The frames of `tree`: messages with addresses, and the steps of a slide.

    message:     tag, source (name), id, to (names), payload
    broadcast:   tag, source (name), id, payload
    lock:        tag, mover (name), side (names)
    all others:  tag, name

Names that come together are in ascending order, each once, and at least one. A refusal that lasts has
a tag of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from beforehand.errors import LocalProtocolError
from beforehand.protocols.frames import Frame
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
from beforehand.wire import tags
from beforehand.wire.fields import id_field, name_field, names_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE


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


def _encode_message(frame: Frame) -> bytes:
    assert isinstance(frame, TreeMessage)
    head = ONE_BYTE[tags.TREE_MESSAGE] + name_field(frame.source) + id_field(frame.number)
    return head + _encode_names(frame.to) + payload_field(frame.payload)


def _decode_message(reader: Reader) -> Frame:
    source = reader.name()
    number = reader.id()
    to = _decode_names(reader)
    return TreeMessage(source, number, to, reader.payload())


def _encode_broadcast(frame: Frame) -> bytes:
    assert isinstance(frame, TreeBroadcast)
    head = ONE_BYTE[tags.TREE_BROADCAST] + name_field(frame.source) + id_field(frame.number)
    return head + payload_field(frame.payload)


def _decode_broadcast(reader: Reader) -> Frame:
    source = reader.name()
    number = reader.id()
    return TreeBroadcast(source, number, reader.payload())


def _encode_lock(frame: Frame) -> bytes:
    assert isinstance(frame, TreeLock)
    return ONE_BYTE[tags.TREE_LOCK] + name_field(frame.mover) + _encode_names(frame.side)


def _decode_lock(reader: Reader) -> Frame:
    mover = reader.name()
    return TreeLock(mover, _decode_names(reader))


def _encode_refusal(frame: Frame) -> bytes:
    assert isinstance(frame, TreeRefusal)
    tag = tags.TREE_LASTING_REFUSAL if frame.lasting else tags.TREE_REFUSAL
    return ONE_BYTE[tag] + name_field(frame.mover)


def _decode_refusal(reader: Reader) -> Frame:
    return TreeRefusal(reader.name(), False)


def _decode_lasting_refusal(reader: Reader) -> Frame:
    return TreeRefusal(reader.name(), True)


def _named(tag: int, frame_class: Callable[[str], Frame]) -> Kind:
    """A frame whose only field is a name."""

    def encode(frame: Frame) -> bytes:
        (name,) = frame.key()
        assert isinstance(name, str)
        return ONE_BYTE[tag] + name_field(name)

    def decode(reader: Reader) -> Frame:
        return frame_class(reader.name())

    return Kind(frame_class, encode, {tag: decode})


KINDS: Final[list[Kind]] = [
    Kind(TreeMessage, _encode_message, {tags.TREE_MESSAGE: _decode_message}),
    Kind(TreeBroadcast, _encode_broadcast, {tags.TREE_BROADCAST: _decode_broadcast}),
    Kind(TreeLock, _encode_lock, {tags.TREE_LOCK: _decode_lock}),
    Kind(
        TreeRefusal,
        _encode_refusal,
        {
            tags.TREE_REFUSAL: _decode_refusal,
            tags.TREE_LASTING_REFUSAL: _decode_lasting_refusal,
        },
    ),
    _named(tags.TREE_ASK, TreeAsk),
    _named(tags.TREE_READY, TreeReady),
    _named(tags.TREE_GO, TreeGo),
    _named(tags.TREE_FAREWELL, TreeFarewell),
    _named(tags.TREE_HANDOVER, TreeHandover),
    _named(tags.TREE_LAST, TreeLast),
    _named(tags.TREE_CLEAR, TreeClear),
    _named(tags.TREE_GONE, TreeGone),
]
