"""Those who look on: the trace that is written, and the oracle that judges.

Both are optional, and neither has any influence on the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.causality.violations import Violation
from beforehand.protocols.frames import Frame
from beforehand.simulator.world.processes import NEVER, Copy, Message, Process
from beforehand.trace.recorder import Recorder

AGAIN: Final = "again"  # the detail of what happens to a copy once more
RELAY: Final = "relay"  # of a release by a process that passes on the message of another


class Watcher:
    """Tells the trace and the oracle what happens."""

    violations: list[Violation]
    # Copies that were given up before they were released, or had arrived: they may yet be.
    _unreleased: set[tuple[int, int, int]]
    _unarrived: set[tuple[int, int, int]]
    _recorder: Final[Recorder | None]
    _oracle: Final[Oracle | None]

    def __init__(self, recorder: Recorder | None, oracle: Oracle | None) -> None:
        self.violations = []
        self._unreleased = set()
        self._unarrived = set()
        self._recorder = recorder
        self._oracle = oracle

    def judges(self) -> bool:
        """Whether there is an oracle."""
        return self._oracle is not None

    def _record(
        self,
        process: Process,
        kind: str,
        sender: str | None,
        mid: i64,
        to: tuple[str, ...] | None,
        now: i64,
        payload_bytes: i64,
        meta_bytes: i64,
        detail: str,
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
                now,
                payload_bytes,
                meta_bytes,
                detail,
            )

    def started(self, process: Process, now: i64 = 0, how: str = "") -> None:
        """A process begins."""
        self._record(process, "start", None, 0, None, now, 0, 0, how)

    def stopped(self, process: Process, how: str, now: i64) -> None:
        """A process stops for ever."""
        self._record(process, "stop", None, 0, None, now, 0, 0, how)
        if self._oracle is not None:
            self._oracle.excuse(process.name)

    def joined(self, newcomer: Process, contact: Process) -> None:
        """A newcomer takes part, through a contact."""
        if self._oracle is not None:
            self._oracle.join(newcomer.name, contact.name)

    def ended(self, processes: list[Process], cut_short: bool, now: i64) -> None:
        """The run is over, or at its time limit."""
        how = "cut short" if cut_short else "end of the run"
        for process in processes:
            if process.present and not process.stopped:
                self._record(process, "stop", None, 0, None, now, 0, 0, how)

    def evicted(self, process: Process, peer: Process, now: i64) -> None:
        """A process gives up on a peer."""
        self._record(process, "evict", peer.name, 0, None, now, 0, 0, "")

    def sent(
        self,
        process: Process,
        message: Message,
        receivers: Sequence[Process],
        everybody: bool,
        now: i64,
    ) -> None:
        """A causal-send."""
        names = tuple([receiver.name for receiver in receivers])
        if self._oracle is not None:
            self._oracle.send(process.name, names, int(message.number))
        to = None if everybody else names
        self._record(
            process, "send", process.name, message.number, to, now, message.payload_bytes, 0, ""
        )

    def held_at_sender(self, process: Process, message: Message, now: i64) -> None:
        """After a causal-send: does it wait?"""
        names: list[str] = []
        for copy in message.copies():
            if copy.released_at != NEVER or copy.closed:
                continue
            if copy.receiver is process:  # to oneself nothing is released
                self.held_at_receiver(process, copy, now)
            else:
                names.append(copy.receiver.name)
        if names:
            self._record(
                process,
                "hold",
                process.name,
                message.number,
                tuple(names),
                now,
                message.payload_bytes,
                0,
                "at sender",
            )

    def held_at_receiver(self, process: Process, copy: Copy, now: i64) -> None:
        """After an arrival: it waits."""
        message = copy.message()
        self._record(
            process,
            "hold",
            message.sender.name,
            message.number,
            (process.name,),
            now,
            message.payload_bytes,
            0,
            "at receiver",
        )

    def given_up(self, copy: Copy) -> None:
        """A copy is given up: nobody knows it any more, though it may still be on its way."""
        key = _key(copy.message().sender, copy.message().number, copy.receiver)
        if copy.released_at < 0:
            self._unreleased.add(key)
        if copy.arrived_at < 0:
            self._unarrived.add(key)

    def released(
        self,
        process: Process,
        sender: Process,
        number: i64,
        receiver: Process,
        payload_bytes: i64,
        metadata: i64,
        again: bool,
        now: i64,
    ) -> None:
        """A copy is handed to the network, by its sender or by somebody who passes it on."""
        key = _key(sender, number, receiver)
        detail = AGAIN if again and key not in self._unreleased else ""
        self._unreleased.discard(key)
        if sender is not process:
            detail = RELAY
        to = (receiver.name,)
        self._record(
            process, "release", sender.name, number, to, now, payload_bytes, metadata, detail
        )

    def received(
        self,
        sender: Process,
        number: i64,
        process: Process,
        payload_bytes: i64,
        metadata: i64,
        again: bool,
        now: i64,
    ) -> None:
        """A copy arrives."""
        key = _key(sender, number, process)
        detail = AGAIN if again and key not in self._unarrived else ""
        self._unarrived.discard(key)
        to = (process.name,)
        self._record(
            process, "receive", sender.name, number, to, now, payload_bytes, metadata, detail
        )

    def delivered(
        self, process: Process, sender: Process, number: i64, copy: Copy | None, now: i64
    ) -> None:
        """A message is delivered; without a copy it is a wrong one."""
        if self._oracle is not None:
            message = MessageId(sender.name, int(number))
            self.violations.extend(self._oracle.deliver(process.name, message))
        size = 0 if copy is None else copy.message().payload_bytes
        self._record(process, "deliver", sender.name, number, (process.name,), now, size, 0, "")

    def control(
        self,
        process: Process,
        sender: Process,
        receiver: Process,
        frame: Frame,
        size: i64,
        now: i64,
    ) -> None:
        """A frame without a message leaves its sender, or arrives."""
        if self._recorder is not None:
            kind = type(frame).__name__
            to = (receiver.name,)
            self._record(process, "control", sender.name, frame.about(), to, now, 0, size, kind)


def _key(sender: Process, number: i64, receiver: Process) -> tuple[int, int, int]:
    return int(sender.index), int(number), int(receiver.index)
