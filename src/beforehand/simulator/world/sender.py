"""What workloads do: causal-sends, and the messages that are open because of them.

A message is open from its causal-send until it is delivered everywhere, or given up where somebody is
gone. A broadcast is for everybody who takes part at that moment, the sender included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.measures.meters import Meters
from beforehand.simulator.measures.noncausal import Bystander
from beforehand.simulator.overlays.dynamics import Crowd
from beforehand.simulator.workloads.message_sizes import Contents
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.engine import Engine, Event
from beforehand.simulator.world.observers import Watcher
from beforehand.simulator.world.processes import Copy, Message, Process, Sending
from beforehand.simulator.world.random_streams import Stream


class Wake(Event):
    """A process has finished its jobs, unless a new one has come."""

    def __init__(self, sender: Sender, process: Process) -> None:
        super().__init__()
        self.sender = sender
        self.process = process

    def happen(self) -> None:
        self.sender.wake(self, self.process)


class Sender(Crowd):
    """The processes and the messages between them that are not delivered everywhere."""

    meters: Final[Meters]
    ended_at: i64  # when something last happened that was not a mere look at the clock
    news_at: i64  # when a message was last sent, left or arrived for the first time
    seed: Final[int]
    open: i64  # copies that are neither delivered nor given up
    orphans: i64  # the same, of senders who are gone: they may be lost, or be passed on by others
    anybody_stopped: bool
    _contents: Final[Contents]
    _workload: Final[Workload]
    _watcher: Final[Watcher | None]
    _bystander: Final[Bystander]
    _split: Final[bool]  # a message to several receivers goes out as one to each
    _broadcasts: Final[bool]  # the protocol can send to everybody
    _only_broadcasts: Final[bool]  # and to nobody else
    _relays: Final[bool]  # processes pass on the messages of others

    def __init__(
        self,
        processes: list[Process],
        contents: Contents,
        workload: Workload,
        watcher: Watcher | None,
        seed: int,
        split: bool,
        casts: Sequence[str],
        relays: bool,
    ) -> None:
        self.engine = Engine()
        self.processes = processes
        self.present = [process for process in processes if process.present]
        self.meters = Meters()
        self.ended_at = 0
        self.news_at = 0
        self.seed = seed
        self.open = 0
        self.orphans = 0
        self.anybody_stopped = False
        self._contents = contents
        self._workload = workload
        self._watcher = watcher
        self._bystander = Bystander(processes)
        self._split = split
        self._broadcasts = "broadcast" in casts
        self._only_broadcasts = len(casts) == 1 and self._broadcasts
        self._relays = relays

    def noncausal_known(self) -> bool:
        """Whether non-causal latency could be followed to the end."""
        return not self._bystander.gave_up

    # ---- what workloads do ----

    def stream(self, purpose: str) -> Stream:
        return Stream(f"{self.seed}/{purpose}")

    def send(
        self,
        process: Process,
        receivers: Sequence[Process] | None,
        note: object,
        payload_bytes: i64 = -1,
    ) -> None:
        if process.busy_until > self.engine.now or process.outbox:
            if not process.outbox:
                self.engine.schedule(Wake(self, process), process.busy_until)
            to = None if receivers is None else list(receivers)
            process.outbox.append(Sending(to, payload_bytes, note))
        else:
            self._send(process, receivers, note, payload_bytes)

    def wake(self, event: Wake, process: Process) -> None:
        """Send what had to wait, unless there is another job."""
        sent: i64 = 0
        while sent < len(process.outbox) and not process.stopped:
            if process.busy_until > self.engine.now:
                self.engine.schedule(event, process.busy_until)
                break
            waiting = process.outbox[sent]
            sent += 1
            self._send(process, waiting.receivers, waiting.note, waiting.payload_bytes)
        del process.outbox[: int(sent)]

    def _send(
        self,
        process: Process,
        receivers: Sequence[Process] | None,
        note: object,
        payload_bytes: i64,
    ) -> None:
        self.meters.actions += 1
        everybody = self._broadcasts and (receivers is None or self._only_broadcasts)
        if everybody and self._relays:
            to: Sequence[Process] = self.present
        elif everybody or receivers is None:
            to = [each for each in self.processes if each.present]
        else:
            to = receivers
        if self.anybody_stopped and to is not self.present:
            gone = process.core.dropped()
            to = [receiver for receiver in to if receiver.name not in gone]
            if not to:
                self.meters.skipped += 1
                self._workload.skipped(process, note)
                return
        if payload_bytes < 0:
            payload_bytes = self._contents.payload_bytes(process)
        if self._split and not everybody:
            for receiver in to:
                self._send_one(process, [receiver], False, note, payload_bytes)
        else:
            self._send_one(process, to, everybody, note, payload_bytes)
        self._workload.sent(process, note)

    def _send_one(
        self,
        process: Process,
        receivers: Sequence[Process],
        everybody: bool,
        note: object,
        payload_bytes: i64,
    ) -> None:
        now = self.engine.now
        message = Message(process, receivers, now, payload_bytes, note)
        message.job = self._contents.job(process)
        self._open_message(message, now)
        payload = self._contents.payload(payload_bytes)
        if everybody:
            effects = process.core.send(None, payload, int(now))
        elif len(receivers) == 1:
            effects = process.core.send(receivers[0].name, payload, int(now))
        else:
            names = [receiver.name for receiver in receivers]
            effects = process.core.send(names, payload, int(now))
        self.ended_at = max(self.ended_at, now)
        self.news_at = max(self.news_at, now)  # it may be ahead: when a frame will be out
        if self._watcher is not None:
            self._watcher.sent(process, message, receivers, everybody, now)
        self.carry(process, effects, receivers[0])
        if self._watcher is not None:
            self._watcher.held_at_sender(process, message, now)

    # ---- what is open ----

    def _open_message(self, message: Message, now: i64) -> None:
        message.sender.open.add(message)
        self._bystander.sent(message)
        self.meters.sent += 1
        self.meters.copies += message.waiting
        self.open += message.waiting
        if message.several:
            for copy in message.copies():
                self._open_copy(copy, message.sender, now)
        else:
            self._open_copy(message, message.sender, now)

    def _open_copy(self, copy: Copy, sender: Process, now: i64) -> None:
        self._bystander.addressed(copy)
        if copy.receiver is not sender:
            self.meters.held.change(1, now)
        if copy.receiver.stopped:
            self.give_up(copy)

    def admitted(self, newcomer: Process, contact: Process) -> None:
        """A newcomer takes part from now on: it will deliver what its contact has not delivered."""
        now = self.engine.now
        newcomer.present = True
        self.present.append(newcomer)
        if self._watcher is not None:
            self._watcher.joined(newcomer, contact)
        for process in self.processes:
            for message in process.open_messages():
                known = message.copy_to(contact)
                if known is not None and not known.closed:
                    self._address(message, newcomer, known, now)

    def _address(self, message: Message, newcomer: Process, known: Copy, now: i64) -> None:
        """One more receiver of a message that is under way."""
        copy = message.add(newcomer)
        copy.released_at = known.released_at
        self.meters.copies += 1
        if message.sender.stopped:
            self.orphans += 1
        else:
            self.open += 1
        self._bystander.addressed(copy)
        if copy.released_at < 0:
            self.meters.held.change(1, now)
        else:
            message.sender.in_transit += 1

    def _close(self, copy: Copy) -> None:
        if copy.message().sender.stopped:
            self.orphans -= 1
        else:
            self.open -= 1
        copy.message().close(copy)
        self._bystander.closed(copy)

    def give_up(self, copy: Copy) -> None:
        """One of the two is gone for ever: the copy cannot arrive, or nobody waits for it."""
        now = self.engine.now
        self.ended_at = max(self.ended_at, now)
        if self._watcher is not None:
            self._watcher.given_up(copy)
        if copy.released_at < 0:
            if copy.receiver is not copy.message().sender:
                self.meters.held.change(-1, now)
        elif copy.arrived_at < 0:
            copy.message().sender.in_transit -= 1
        else:
            self.meters.buffered.change(-1, now)
        self._close(copy)
