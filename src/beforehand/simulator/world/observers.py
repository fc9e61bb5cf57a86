"""The observer of a run: it records the trace and lets the oracle judge the deliveries.

Both are optional, and neither has any influence on the run.
"""

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.causality.violations import Violation
from beforehand.protocols.frames import Frame
from beforehand.simulator.world.event_queue import TimingWheel
from beforehand.simulator.world.processes import NEVER, MessageCopy, OpenMessage, Process
from beforehand.trace.recorder import Recorder

AGAIN: Final = "again"  # the detail of a repeated release or arrival of a copy
RELAY: Final = "relay"  # of a release by a process that passes on another's message


class Observer:
    """Reports what happens to the trace and the oracle."""

    def __init__(
        self, queue: TimingWheel, recorder: Recorder | None, oracle: Oracle | None
    ) -> None:
        self.violations: list[Violation] = []
        # Copies that were given up before they were released, or arrived: they may still be.
        self._unreleased: set[tuple[int, int, int]] = set()
        self._unarrived: set[tuple[int, int, int]] = set()
        self._queue: Final = queue
        self._recorder: Final = recorder
        self._oracle: Final = oracle

    def audits(self) -> bool:
        """Whether there is an oracle."""
        return self._oracle is not None

    def _record(
        self,
        process: Process,
        kind: str,
        sender: str | None = None,
        mid: i64 = 0,
        to: tuple[str, ...] | None = None,
        payload_bytes: i64 = 0,
        meta_bytes: i64 = 0,
        detail: str = "",
    ) -> None:
        if self._recorder is not None:
            process.seq += 1
            self._recorder.record(
                process.name,
                process.seq,
                kind,
                sender,
                mid,
                to,
                time_ns=self._queue.now,
                payload_bytes=payload_bytes,
                meta_bytes=meta_bytes,
                detail=detail,
            )

    def started(self, process: Process, how: str = "") -> None:
        """A process starts."""
        self._record(process, "start", detail=how)

    def stopped(self, process: Process, how: str) -> None:
        """A process stops for good."""
        self._record(process, "stop", detail=how)
        if self._oracle is not None:
            self._oracle.excuse(process.name)

    def joined(self, newcomer: Process, contact: Process) -> None:
        """A newcomer takes part, through a contact."""
        if self._oracle is not None:
            self._oracle.join(newcomer.name, contact.name)

    def ended(self, processes: list[Process], cut_short: bool) -> None:
        """The run is over, or has reached its time limit."""
        for process in processes:
            if process.active():
                self._record(process, "stop", detail="cut short" if cut_short else "end of the run")

    def evicted(self, process: Process, peer: Process) -> None:
        """A process drops a peer."""
        self._record(process, "evict", peer.name)

    def sent(
        self, process: Process, message: OpenMessage, receivers: Sequence[Process], everybody: bool
    ) -> None:
        """A causal-send."""
        names = tuple([receiver.name for receiver in receivers])
        if self._oracle is not None:
            self._oracle.send(process.name, names, int(message.number))
        to = None if everybody else names
        self._record(process, "send", process.name, message.number, to, message.payload_bytes)

    def held_at_sender(self, process: Process, message: OpenMessage) -> None:
        """After a causal-send: record the copies that have not been released."""
        names: list[str] = []
        for copy in message.copies():
            if copy.released_at != NEVER or copy.closed:
                continue
            if copy.receiver is process:  # a copy to oneself is never released
                self.held_at_receiver(process, copy)
            else:
                names.append(copy.receiver.name)
        if names:
            self._held(process, message, tuple(names), "at sender")

    def held_at_receiver(self, process: Process, copy: MessageCopy) -> None:
        """After an arrival: the copy was not delivered at once."""
        self._held(process, copy.message(), (process.name,), "at receiver")

    def _held(
        self, process: Process, message: OpenMessage, to: tuple[str, ...], where: str
    ) -> None:
        sender, size = message.sender.name, message.payload_bytes
        self._record(process, "hold", sender, message.number, to, size, 0, where)

    def given_up(self, copy: MessageCopy) -> None:
        """A copy is given up and forgotten, though it may still be on its way."""
        key = _key(copy.message().sender, copy.message().number, copy.receiver)
        if copy.released_at < 0:
            self._unreleased.add(key)
        if copy.arrived_at < 0:
            self._unarrived.add(key)

    def released(
        self,
        process: Process,
        receiver: Process,
        sender: Process,
        number: i64,
        payload_bytes: i64,
        metadata: i64,
        again: bool,
    ) -> None:
        """A copy is handed to the network, by its sender or by a process that relays it."""
        key = _key(sender, number, receiver)
        detail = AGAIN if again and key not in self._unreleased else ""
        self._unreleased.discard(key)
        if sender is not process:
            detail = RELAY
        to = (receiver.name,)
        self._record(process, "release", sender.name, number, to, payload_bytes, metadata, detail)

    def received(
        self,
        process: Process,
        sender: Process,
        number: i64,
        payload_bytes: i64,
        metadata: i64,
        again: bool,
    ) -> None:
        """A copy arrives."""
        key = _key(sender, number, process)
        detail = AGAIN if again and key not in self._unarrived else ""
        self._unarrived.discard(key)
        to = (process.name,)
        self._record(process, "receive", sender.name, number, to, payload_bytes, metadata, detail)

    def delivered(
        self, process: Process, sender: Process, number: i64, copy: MessageCopy | None
    ) -> None:
        """A message is delivered; wrongly, if there is no copy."""
        if self._oracle is not None:
            message = MessageId(sender.name, int(number))
            self.violations.extend(self._oracle.deliver(process.name, message))
        size: i64 = 0 if copy is None else copy.message().payload_bytes
        self._record(process, "deliver", sender.name, number, (process.name,), size)

    def control(
        self, process: Process, sender: Process, receiver: Process, frame: Frame, size: i64
    ) -> None:
        """A frame without a message leaves its sender, or arrives: `process` records it."""
        to, name = (receiver.name,), type(frame).__name__
        self._record(process, "control", sender.name, frame.about(), to, 0, size, name)


def _key(sender: Process, number: i64, receiver: Process) -> tuple[int, int, int]:
    return int(sender.index), int(number), int(receiver.index)
