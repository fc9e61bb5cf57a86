"""What a node reports about its peers and itself, apart from messages."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

UP: Final = "up"  # a session is established, or a silent peer was heard again
SILENT: Final = "silent"  # nothing was received for `silent_after`
DROPPED: Final = "dropped"  # gone for good: dropped here or elsewhere, silent for too long, or left
RESTARTED: Final = "restarted"  # the peer is back under a new incarnation; the old one was dropped
REFUSED: Final = "refused"  # no session: another key, another protocol, a name in use
CONFLICT: Final = "conflict"  # two living nodes with one name
EXPELLED: Final = "expelled"  # the peer has dropped us
MISBEHAVED: Final = "misbehaved"  # the peer sent what no correct node would
TRACE_FAILED: Final = "trace-failed"  # recording has stopped; everything else goes on

MAX_HISTORY: Final = 1024  # events kept for listeners that start late


@dataclass(frozen=True)
class PeerEvent:
    """Something happened to `peer` (or, for its trace, to the node itself)."""

    kind: str
    peer: str
    detail: str

    def __str__(self) -> str:
        return f"{self.peer}: {self.kind}" + (f", {self.detail}" if self.detail else "")


class EventHistory:
    """The latest events of a node, and those who listen to them."""

    def __init__(self) -> None:
        self._past: deque[PeerEvent] = deque(maxlen=MAX_HISTORY)
        self._listeners: list[asyncio.Queue[PeerEvent | None]] = []
        self._closed = False

    def emit(self, event: PeerEvent) -> None:
        """Remember an event, and pass it to all listeners."""
        self.remember(event)
        for listener in self._listeners:
            listener.put_nowait(event)

    def remember(self, event: PeerEvent) -> None:
        """Keep an event for listeners that start later."""
        self._past.append(event)

    def close(self) -> None:
        """End the iteration of all listeners."""
        self._closed = True
        for listener in self._listeners:
            listener.put_nowait(None)

    async def listen(self) -> AsyncGenerator[PeerEvent, None]:
        """All events from the first one on, until the history is closed."""
        queue: asyncio.Queue[PeerEvent | None] = asyncio.Queue()
        for past in self._past:
            queue.put_nowait(past)
        if self._closed:
            queue.put_nowait(None)
        self._listeners.append(queue)
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._listeners.remove(queue)
