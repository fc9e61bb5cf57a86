"""The frames of `ks`: messages with their log of entries (sender, clock, destinations), and flushes.

    message:  tag, id, names, receivers, log, payload
    flush:    tag, name of the dropped peer, count, last - count

In a message:

- names: all that occur in the frame, each once, sorted by their bytes; below, a process is its
  place in this table, from 0 on;
- a set of processes: its size, then its elements from the lowest on, each as its distance from the
  least that it could be: the first from 0, the others from the one after their predecessor;
- receivers: a set of at least one;
- log: the number of entries, then for each: how many places its sender is after that of the entry
  before, its clock, the set of its destinations. If the sender is the same, the clock is told
  as what it adds to the one before; so it is never 0. The first entry comes after place 0, clock 0.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.ks import KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from beforehand.protocols.clocks.ks_log import Destinations, Entry
from beforehand.protocols.frames import Frame
from beforehand.wire import tags
from beforehand.wire.fields import id_field, name_field, names_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import MAX_VALUE, ONE_BYTE, varint

NOBODY: Final[Destinations] = (
    frozenset()
)  # shared: a set takes 200 bytes, and one on the wire takes 1


def _encode_message(frame: Frame) -> bytes:
    assert isinstance(frame, KsMessage)
    if not frame.receivers:
        raise LocalProtocolError("a ks message without receivers cannot be sent")
    occurring = set(frame.receivers)
    for sender, _, destinations in frame.log:
        occurring.add(sender)
        occurring.update(destinations)
    names = tuple(sorted(occurring))  # by code points, which is also the order of the bytes
    places = {name: place for place, name in enumerate(names)}
    parts = [ONE_BYTE[tags.KS_MESSAGE], id_field(frame.number), names_field(names)]
    _add_set(parts, frame.receivers, places)
    _add_log(parts, frame.log, places)
    parts.append(payload_field(frame.payload))
    return b"".join(parts)


def _add_set(parts: list[bytes], elements: Destinations, places: dict[str, int]) -> None:
    parts.append(varint(len(elements)))
    least = 0
    for place in sorted([places[name] for name in elements]):
        parts.append(varint(place - least))
        least = place + 1


def _add_log(parts: list[bytes], log: tuple[Entry, ...], places: dict[str, int]) -> None:
    parts.append(varint(len(log)))
    place = 0
    before = 0
    for sender, clock, destinations in log:
        step = places[sender] - place
        if step:
            before = 0
        if step < 0 or not before < clock <= MAX_VALUE:
            raise LocalProtocolError(
                f"a log with message {clock} of {sender!r} in a wrong place cannot be sent; "
                "sort it by sender and clock"
            )
        parts.append(varint(step))
        parts.append(varint(clock - before))
        _add_set(parts, destinations, places)
        place = places[sender]
        before = clock


def _decode_message(reader: Reader) -> Frame:
    number = reader.id()
    names = reader.names(1)
    for place in range(1, len(names)):
        if names[place - 1] >= names[place]:
            raise reader.problem("names that are not sorted, or not distinct")
    used: set[int] = set()
    receivers = _set(reader, names, 1, used)
    log = _log(reader, names, used)
    if len(used) < len(names):
        raise reader.problem(f"{len(names)} names of which only {len(used)} are used")
    return KsMessage(number, receivers, log, reader.payload())


def _set(reader: Reader, names: tuple[str, ...], least: i64, used: set[int]) -> Destinations:
    elements: list[str] = []
    place: i64 = 0
    for _ in range(reader.count(least, 1)):
        place += reader.varint()
        if place >= len(names):
            raise reader.problem(f"place {place} in a table of {len(names)} names")
        elements.append(names[place])
        used.add(place)
        place += 1
    return frozenset(elements) if elements else NOBODY


def _log(reader: Reader, names: tuple[str, ...], used: set[int]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    place: i64 = 0
    clock: i64 = 0
    for _ in range(reader.count(0, 3)):
        step = reader.varint()
        place += step
        if place >= len(names):
            raise reader.problem(f"place {place} in a table of {len(names)} names")
        clock = reader.id() + (0 if step else clock)
        if clock > MAX_VALUE:
            raise reader.problem(f"a clock of {clock}, which is more than {MAX_VALUE}")
        used.add(place)
        entries.append((names[place], clock, _set(reader, names, 0, used)))
    return tuple(entries)


def _encode_flush(frame: Frame) -> bytes:
    assert isinstance(frame, KsFlush)
    if not 0 <= frame.count <= frame.last <= MAX_VALUE:
        raise LocalProtocolError(
            f"a flush of {frame.count} messages up to number {frame.last} cannot be sent"
        )
    head = ONE_BYTE[tags.KS_FLUSH] + name_field(frame.peer)
    return head + varint(frame.count) + varint(frame.last - frame.count)


def _decode_flush(reader: Reader) -> Frame:
    peer = reader.name()
    count = reader.varint()
    last = count + reader.varint()
    if last > MAX_VALUE:
        raise reader.problem(f"messages up to number {last}, which is more than {MAX_VALUE}")
    return KsFlush(peer, count, last)


KINDS: Final[list[Kind]] = [
    Kind(KsMessage, _encode_message, {tags.KS_MESSAGE: _decode_message}),
    Kind(KsFlush, _encode_flush, {tags.KS_FLUSH: _decode_flush}),
]
