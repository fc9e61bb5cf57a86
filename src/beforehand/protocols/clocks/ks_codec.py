"""The encoding of the frames of `ks`: messages with a log of (sender, clock, destinations), flushes.

    message:  tag, id, names, receivers, log, payload
    flush:    tag, name of the dropped peer, count, last - count

In a message:

- names: all that occur in the frame, without duplicates, sorted by their bytes; everything below
  refers to a process by its index in this table;
- a set of processes: its size, then its elements in ascending order, each as its distance from the
  lowest index possible: the first from 0, the others from their predecessor plus one;
- receivers: a set of at least one;
- log: the number of entries, then for each: the increase of the sender's index since the entry
  before, the clock, the set of destinations. If the sender is the same, the clock is encoded as its
  increase, so it is never 0. The first entry increases index 0 and clock 0.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field, name_field, names_field, payload_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import MAX_VALUE, varint
from beforehand.errors import LocalProtocolError
from beforehand.protocols import tags
from beforehand.protocols.clocks.ks import KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from beforehand.protocols.clocks.ks_log import Destinations, Entry
from beforehand.protocols.frames import Frame, FrameKind

# Shared: an empty set takes 200 bytes in memory and only 1 on the wire.
NOBODY: Final[Destinations] = frozenset()


class KsMessageKind(FrameKind):
    """A message with its log."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, KsMessage)
        if not frame.receivers:
            raise LocalProtocolError("a ks message without receivers cannot be sent")
        occurring = set(frame.receivers)
        for sender, _, destinations in frame.log:
            occurring.add(sender)
            occurring.update(destinations)
        names = tuple(sorted(occurring))  # by code points, which is also the order of the bytes
        indices = {name: index for index, name in enumerate(names)}
        parts = [self.prefix, id_field(frame.number), names_field(names)]
        _add_set(parts, frame.receivers, indices)
        _add_log(parts, frame.log, indices)
        parts.append(payload_field(frame.payload))
        return b"".join(parts)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        number = reader.id()
        names = reader.names(1)
        for index in range(1, len(names)):
            if names[index - 1] >= names[index]:
                raise reader.problem("names that are not sorted, or not distinct")
        used: set[int] = set()
        receivers = _set(reader, names, 1, used)
        log = _log(reader, names, used)
        if len(used) < len(names):
            raise reader.problem(f"{len(names)} names of which only {len(used)} are used")
        return KsMessage(number, receivers, log, reader.payload())


def _add_set(parts: list[bytes], elements: Destinations, indices: dict[str, int]) -> None:
    parts.append(varint(len(elements)))
    least = 0
    for index in sorted([indices[name] for name in elements]):
        parts.append(varint(index - least))
        least = index + 1


def _add_log(parts: list[bytes], log: tuple[Entry, ...], indices: dict[str, int]) -> None:
    parts.append(varint(len(log)))
    index = 0
    before = 0
    for sender, clock, destinations in log:
        step = indices[sender] - index
        if step:
            before = 0
        if step < 0 or not before < clock <= MAX_VALUE:
            raise LocalProtocolError(
                f"a log with message {clock} of {sender!r} out of order cannot be sent; "
                "sort it by sender and clock"
            )
        parts.append(varint(step))
        parts.append(varint(clock - before))
        _add_set(parts, destinations, indices)
        index = indices[sender]
        before = clock


def _set(reader: Reader, names: tuple[str, ...], least: i64, used: set[int]) -> Destinations:
    elements: list[str] = []
    index: i64 = 0
    for _ in range(reader.count(least, 1)):
        index += reader.varint()
        if index >= len(names):
            raise reader.problem(f"index {index} in a table of {len(names)} names")
        elements.append(names[index])
        used.add(index)
        index += 1
    return frozenset(elements) if elements else NOBODY


def _log(reader: Reader, names: tuple[str, ...], used: set[int]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    index: i64 = 0
    clock: i64 = 0
    for _ in range(reader.count(0, 3)):
        step = reader.varint()
        index += step
        if index >= len(names):
            raise reader.problem(f"index {index} in a table of {len(names)} names")
        clock = reader.id() + (0 if step else clock)
        if clock > MAX_VALUE:
            raise reader.problem(f"a clock of {clock}, which is more than {MAX_VALUE}")
        used.add(index)
        entries.append((names[index], clock, _set(reader, names, 0, used)))
    return tuple(entries)


class KsFlushKind(FrameKind):
    """A flush."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, KsFlush)
        if not 0 <= frame.count <= frame.last <= MAX_VALUE:
            raise LocalProtocolError(
                f"a flush of {frame.count} messages up to number {frame.last} cannot be sent"
            )
        head = self.prefix + name_field(frame.peer)
        return head + varint(frame.count) + varint(frame.last - frame.count)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        peer = reader.name()
        count = reader.varint()
        last = count + reader.varint()
        if last > MAX_VALUE:
            raise reader.problem(f"messages up to number {last}, which is more than {MAX_VALUE}")
        return KsFlush(peer, count, last)


FRAMES: Final[tuple[FrameKind, ...]] = (
    KsMessageKind(KsMessage, tags.KS_MESSAGE),
    KsFlushKind(KsFlush, tags.KS_FLUSH),
)
