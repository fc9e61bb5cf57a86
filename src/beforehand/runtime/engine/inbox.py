"""Messages that were delivered and that the application has not taken yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mypy_extensions import i64

from beforehand.runtime.engine.counters import Counters
from beforehand.runtime.engine.flow_control import FlowControl
from beforehand.runtime.engine.message import Batch, DeliveredRun, Message
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.engine.sessions import Sessions
from beforehand.runtime.recording.node_trace import NodeTrace


class Inbox:
    """Messages in causal order; taking one makes room in the window of its sender."""

    def __init__(self, sessions: Sessions, flow: FlowControl, counters: Counters) -> None:
        self.unread: i64 = 0  # messages that the application has not taken
        self.trace: NodeTrace | None = None
        self._opened: DeliveredRun | None = None  # partly taken; it comes before `_runs`
        self._sessions = sessions
        self._flow = flow
        self._counters = counters
        self._runs: deque[DeliveredRun] = deque()

    def deliver(self, sender: str, first: i64, payloads: tuple[bytes, ...]) -> None:
        """Messages `first`, `first` + 1, ... of a process were delivered."""
        peer = self._sessions.processes.get(sender)
        if peer is None:  # relayed by others: there is no session with the sender
            peer = Peer(sender, sender)
            self._sessions.processes[sender] = peer
        count: i64 = len(payloads)
        self._runs.append(DeliveredRun(peer, first, payloads))
        self.unread += count
        self._counters.delivered += count
        self._flow.delivered(peer, count)
        if self.trace is not None:
            sizes = [len(payload) for payload in payloads]
            self.trace.record_run("deliver", sender, first, None, sizes)

    def take(self) -> Message:
        """The next message; there must be one."""
        run = self._opened
        if run is None:
            run = self._runs.popleft()
            self._opened = run
        at = run.taken
        payload = run.payloads[at]
        run.taken = at + 1
        if run.remaining() == 0:
            self._opened = None
        self.unread -= 1
        self._flow.consumed(run.origin, 1, len(payload))
        return Message(run.sender, run.first + at, payload)

    def take_many(self, most: i64) -> Batch:
        """All unread messages, but at most this many."""
        runs: list[DeliveredRun] = []
        count: i64 = 0
        while self.unread > 0 and count < most:
            run = self._opened
            if run is None:
                run = self._runs.popleft()
            taken = run.split(min(run.remaining(), most - count))
            self._opened = run if run.remaining() > 0 else None
            runs.append(taken)
            messages: i64 = len(taken.payloads)
            count += messages
            self.unread -= messages
            self._flow.consumed(taken.origin, messages, total_size(taken.payloads))
        return Batch(runs, count)

    def drain(self) -> InboxIterator:
        """An iterator that takes one message after the other until none is left."""
        return InboxIterator(self)


class InboxIterator(Iterator[Message]):
    """Takes a message out of an inbox only when it is asked for it, so that none is lost."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        if self._inbox.unread == 0:
            raise StopIteration
        return self._inbox.take()


def total_size(payloads: tuple[bytes, ...]) -> i64:
    """The sum of the payloads' lengths."""
    size: i64 = 0
    for payload in payloads:
        size += len(payload)
    return size
