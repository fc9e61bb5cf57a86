"""What was delivered and waits for the application to take it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mypy_extensions import i64

from beforehand.runtime.engine.message import Batch, Message, Parcel
from beforehand.runtime.engine.peer import Peer


class Inbox:
    """Messages in causal order, and the peers that should hear that theirs have come, or were taken."""

    unread: i64  # messages that nobody has taken
    owed: list[Peer]
    _parcels: deque[Parcel]
    _opened: Parcel | None  # the one before these, of which some have been taken

    def __init__(self) -> None:
        self.unread = 0
        self.owed = []
        self._parcels = deque()
        self._opened = None

    def put(self, peer: Peer, first: i64, payloads: tuple[bytes, ...]) -> None:
        """Messages of a peer were delivered."""
        count: i64 = len(payloads)
        self._parcels.append(Parcel(peer, first, payloads))
        self.unread += count
        peer.got += count
        self._owe(peer)

    def take(self) -> Message:
        """The next message; there must be one."""
        parcel = self._opened
        if parcel is None:
            parcel = self._parcels.popleft()
            self._opened = parcel
        message = parcel.take()
        if parcel.left() == 0:
            self._opened = None
        self.unread -= 1
        parcel.origin.taken += 1
        parcel.origin.taken_bytes += len(message.payload)
        self._owe(parcel.origin)
        return message

    def take_many(self, most: i64) -> Batch:
        """As many messages as there are, but at most so many."""
        parcels: list[Parcel] = []
        count: i64 = 0
        while self.unread > 0 and count < most:
            parcel = self._opened
            if parcel is None:
                parcel = self._parcels.popleft()
            piece = parcel.split(min(parcel.left(), most - count))
            self._opened = parcel if parcel.left() > 0 else None
            parcels.append(piece)
            got: i64 = len(piece.payloads)
            count += got
            self.unread -= got
            piece.origin.taken += got
            piece.origin.taken_bytes += total_size(piece.payloads)
            self._owe(piece.origin)
        return Batch(parcels, count)

    def drain(self) -> Drain:
        """Takes one message after the other, as long as there are any."""
        return Drain(self)

    def _owe(self, peer: Peer) -> None:
        if not peer.owed:
            peer.owed = True
            self.owed.append(peer)


class Drain(Iterator[Message]):
    """Takes messages out of an inbox; each is taken when it is asked for, so none is lost."""

    _inbox: Inbox

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        if self._inbox.unread == 0:
            raise StopIteration
        return self._inbox.take()


def total_size(payloads: tuple[bytes, ...]) -> i64:
    """The bytes of all of them."""
    size: i64 = 0
    for payload in payloads:
        size += len(payload)
    return size
