"""Frames that are larger than a datagram: cut at the sender, put together at the receiver."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.runtime.link.frames import FRAGMENT
from beforehand.wire.reader import Reader
from beforehand.wire.varint import ONE_BYTE, varint

HEAD: Final = 32  # bytes that a fragment needs beside its piece, at most
REMEMBERED: Final = 65_536  # frames put together: their pieces may come again for a while


def fragment_frames(number: i64, whole: bytes, room: i64) -> list[bytes]:
    """A frame that is too large for one datagram, as pieces that fit into `room` bytes each."""
    total: i64 = len(whole)
    step = room - HEAD
    head = ONE_BYTE[FRAGMENT] + varint(number)
    length = varint(total)
    frames: list[bytes] = []
    at: i64 = 0
    while at < total:
        piece = whole[at : at + step]
        frames.append(head + varint(at) + length + varint(len(piece)) + piece)
        at += step
    return frames


class Cut:
    """A frame of which some pieces have come."""

    data: bytearray
    pieces: dict[int, int]  # where each begins, and its length
    missing: i64  # bytes that have not come

    def __init__(self, total: i64) -> None:
        self.data = bytearray(total)
        self.pieces = {}
        self.missing = total

    def is_seamless(self) -> bool:
        """Whether the pieces, which together are as long as the whole, lie side by side."""
        at = 0
        for start in sorted(self.pieces):
            if start != at:
                return False
            at += self.pieces[start]
        return True


class Pieces:
    """Puts the fragments of one peer together again.

    What an honest peer has under way at once is bounded by the window that it was granted; more is
    refused, so that a broken one cannot fill the memory.
    """

    limit: i64
    held: i64  # bytes of frames that are not whole yet
    cuts: dict[int, Cut]
    done: dict[int, bool]  # the last frames that were put together: late pieces of them are nothing

    def __init__(self, limit: i64) -> None:
        self.limit = limit
        self.held = 0
        self.cuts = {}
        self.done = {}

    def add(self, reader: Reader) -> bytes | None:
        """One more fragment, after its tag; the whole frame if it was the last that was missing."""
        number = int(reader.varint())
        start = reader.varint()
        total = reader.varint()
        piece = reader.payload()
        if not piece or start + len(piece) > total:
            raise reader.problem(f"a piece of {len(piece)} bytes at {start} of {total}")
        if number in self.done:
            return None
        cut = self.cuts.get(number)
        if cut is None:
            if self.held + total > self.limit:
                raise RemoteProtocolError(
                    reader.peer, f"fragments of more than the {self.limit} bytes granted"
                )
            cut = Cut(total)
            self.cuts[number] = cut
            self.held += total
        if len(cut.data) != total:
            raise reader.problem("pieces of one frame that do not agree on its length")
        if int(start) in cut.pieces:
            return None
        cut.pieces[int(start)] = len(piece)
        cut.data[start : start + len(piece)] = piece
        cut.missing -= len(piece)
        if cut.missing > 0:
            return None
        del self.cuts[number]
        self.held -= total
        if not cut.is_seamless():
            raise reader.problem("pieces of one frame that overlap")
        self.done[number] = True
        if len(self.done) > REMEMBERED:
            del self.done[next(iter(self.done))]
        return bytes(cut.data)
