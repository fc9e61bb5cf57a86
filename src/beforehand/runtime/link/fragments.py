"""Fragmentation of frames larger than a datagram, and their reassembly."""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE, varint
from beforehand.errors import RemoteProtocolError
from beforehand.runtime.link.frames import FRAGMENT

HEAD: Final = 32  # bytes of a fragment in addition to its data, at most
REMEMBERED: Final = 65_536  # reassembled frames whose late duplicates are recognised


def fragment_frames(number: i64, whole: bytes, room: i64) -> list[bytes]:
    """The fragments of a frame, each of at most `room` bytes."""
    total: i64 = len(whole)
    step = room - HEAD
    head = ONE_BYTE[FRAGMENT] + varint(number)
    length = varint(total)
    frames: list[bytes] = []
    offset: i64 = 0
    while offset < total:
        data = whole[offset : offset + step]
        frames.append(head + varint(offset) + length + varint(len(data)) + data)
        offset += step
    return frames


class _PartialFrame:
    """A frame of which some fragments have arrived."""

    def __init__(self, total: i64) -> None:
        self.data = bytearray(total)
        self.lengths: dict[int, int] = {}  # by offset: the length of each fragment
        self.missing = total  # bytes that have not arrived

    def is_seamless(self) -> bool:
        """Whether the fragments, which add up to the whole, neither overlap nor leave a gap."""
        end = 0
        for offset in sorted(self.lengths):
            if offset != end:
                return False
            end += self.lengths[offset]
        return True


class Reassembly:
    """Reassembles the fragments of one peer.

    An honest peer never has more in flight than the window it was granted; more than `limit` bytes
    are refused, so that a broken peer cannot exhaust memory.
    """

    def __init__(self, limit: i64) -> None:
        self.held: i64 = 0  # bytes of frames that are incomplete
        self.limit = limit
        self.partial: dict[int, _PartialFrame] = {}
        self.done: dict[int, bool] = {}  # completed: late duplicates of their fragments are ignored

    def add(self, reader: Reader) -> bytes | None:
        """Read a fragment, after its tag; return the frame that it completes, if any."""
        number = int(reader.varint())
        start = reader.varint()
        total = reader.varint()
        data = reader.payload()
        if not data or start + len(data) > total:
            raise reader.problem(f"a fragment of {len(data)} bytes at offset {start} of {total}")
        if number in self.done:
            return None
        frame = self.partial.get(number)
        if frame is None:
            if self.held + total > self.limit:
                raise RemoteProtocolError(
                    reader.peer, f"fragments of more than the {self.limit} bytes granted"
                )
            frame = _PartialFrame(total)
            self.partial[number] = frame
            self.held += total
        if len(frame.data) != total:
            raise reader.problem("fragments that disagree on the length of their frame")
        if int(start) in frame.lengths:
            return None
        frame.lengths[int(start)] = len(data)
        frame.data[start : start + len(data)] = data
        frame.missing -= len(data)
        if frame.missing > 0:
            return None
        del self.partial[number]
        self.held -= total
        if not frame.is_seamless():
            raise reader.problem("fragments that overlap")
        self.done[number] = True
        if len(self.done) > REMEMBERED:
            del self.done[next(iter(self.done))]
        return bytes(frame.data)
