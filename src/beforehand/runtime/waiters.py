"""Tasks that wait inside a node: for room, for messages, for deliveries.

All of them survive cancellation: a task that is cancelled just after it was woken passes the wake-up
on, so that none is lost; and nothing was accepted or taken for it, so nothing is lost or duplicated.
"""

import asyncio
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import count

from beforehand.errors import PeerDroppedError
from beforehand.runtime.engine.peer import Peer


class WaitQueue:
    """Tasks in the order of their tickets; one that was woken in vain waits again with its own."""

    _tickets = count(1)  # shared, since queues come and go

    def __init__(self) -> None:
        self.waiting: list[tuple[int, asyncio.Future[None]]] = []  # a heap

    def __bool__(self) -> bool:
        return bool(self.waiting)

    async def wait(self, ticket: int = 0) -> int:
        """Wait to be woken; the ticket for waiting again, should it have been in vain."""
        entry = (ticket or next(self._tickets), asyncio.get_running_loop().create_future())
        heappush(self.waiting, entry)
        future = entry[1]
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.wake()
            elif entry in self.waiting:
                self.waiting.remove(entry)
                heapify(self.waiting)
            raise
        return entry[0]

    def wake(self) -> None:
        """Wake the first task."""
        while self.waiting:
            _, future = heappop(self.waiting)
            if not future.done():
                future.set_result(None)
                return

    def wake_all(self) -> None:
        """Wake all tasks, such as when the node is closed."""
        while self.waiting:
            self.wake()


class BlockedSenders:
    """Tasks that wait for room in the window of a peer, by its name."""

    def __init__(self) -> None:
        self._queues: dict[str, WaitQueue] = {}

    def __bool__(self) -> bool:
        return bool(self._queues)

    def any_for(self, names: Iterable[str] | None) -> bool:
        """Whether a task waits for one of these peers; None stands for all."""
        return any(self._queues.get(name) for name in (self._queues if names is None else names))

    async def wait(self, name: str, ticket: int) -> int:
        """Wait for room, behind those who already wait for the same peer: see `WaitQueue.wait`."""
        queue = self._queues.setdefault(name, WaitQueue())
        try:
            return await queue.wait(ticket)
        finally:
            if not queue and self._queues.get(name) is queue:
                del self._queues[name]

    def wake(self, name: str) -> None:
        """Let the first task that waits for a peer try."""
        if name in self._queues:
            self._queues[name].wake()

    def wake_all(self) -> None:
        """Wake all tasks, such as when the node is closed."""
        for queue in self._queues.values():
            queue.wake_all()


class Receipts:
    """Tasks that wait until a peer has delivered a certain number of our messages."""

    def __init__(self) -> None:
        self._waiting: dict[Peer, list[tuple[int, int, asyncio.Future[None]]]] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def expect(self, peer: Peer, position: int) -> asyncio.Future[None]:
        """Done when the peer has delivered the `position`-th message to it; fails if it is dropped."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._waiting.setdefault(peer, []), (position, self._count, future))
        return future

    def update(self, peer: Peer) -> None:
        """The peer has delivered more, or is gone."""
        heap = self._waiting.get(peer)
        if heap is None:
            return
        delivered = peer.outgoing.delivered
        while heap and (peer.gone or heap[0][0] <= delivered):
            position, _, future = heappop(heap)
            if future.done():
                continue
            if position <= delivered:
                future.set_result(None)
            else:
                future.set_exception(
                    PeerDroppedError(f"{peer.name} was dropped before it delivered the message")
                )
        if not heap:
            del self._waiting[peer]

    def fail(self, error: Exception) -> None:
        """No more receipts will come."""
        for heap in self._waiting.values():
            for _, _, future in heap:
                if not future.done():
                    future.set_exception(error)
        self._waiting.clear()
