"""Tasks that wait inside a node: for room, for messages, for deliveries.

All of them survive cancellation: a task that is cancelled just after it was woken passes the wake-up
on, so that none is lost; and nothing was accepted or taken for it, so nothing is lost or doubled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from heapq import heappop, heappush

from beforehand.errors import PeerDroppedError
from beforehand.runtime.engine.peer import Peer


class Line:
    """Tasks that wait in line; those who are woken and find nothing go back to the front."""

    def __init__(self) -> None:
        self.waiting: deque[asyncio.Future[None]] = deque()

    def __bool__(self) -> bool:
        return bool(self.waiting)

    async def wait(self, again: bool) -> None:
        """Until it is our turn; `again`: we have been here and it was for nothing."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self.waiting.appendleft(future)
        else:
            self.waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.wake()
            elif future in self.waiting:
                self.waiting.remove(future)
            raise

    def wake(self) -> None:
        """Let the first one try."""
        while self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(None)
                return

    def wake_all(self) -> None:
        """Let all of them try, or find out that it is over."""
        while self.waiting:
            self.wake()


class Receipts:
    """Tasks that wait until a peer has delivered so many of our messages."""

    def __init__(self) -> None:
        self._waiting: dict[Peer, list[tuple[int, int, asyncio.Future[None]]]] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def expect(self, peer: Peer, place: int) -> asyncio.Future[None]:
        """Done when the `place`-th message to the peer is delivered there; fails if it is dropped."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._waiting.setdefault(peer, []), (place, self._count, future))
        return future

    def note(self, peer: Peer) -> None:
        """The peer has delivered more, or is gone."""
        heap = self._waiting.get(peer)
        if heap is None:
            return
        while heap and (peer.gone or heap[0][0] <= peer.delivered):
            place, _, future = heappop(heap)
            if future.done():
                continue
            if place <= peer.delivered:
                future.set_result(None)
            else:
                future.set_exception(
                    PeerDroppedError(f"{peer.name} was dropped before it delivered the message")
                )
        if not heap:
            del self._waiting[peer]

    def fail(self, error: Exception) -> None:
        """Nobody will tell any more."""
        for heap in self._waiting.values():
            for _, _, future in heap:
                if not future.done():
                    future.set_exception(error)
        self._waiting.clear()
