"""Carrying out: what workloads send and what cores want done, and the frames on their way.

The effects of a core are carried out in their order, and frames arrive when the network says so. The
cores are those that the runtime drives, unmodified; no protocol is known here by name.

What the application does about a delivery comes after all effects of the call that brought it: the
core has finished that step, so whatever is sent next happens after all of its deliveries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand import wire
from beforehand.errors import ScenarioError
from beforehand.protocols.base import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.simulator.contents import Contents
from beforehand.simulator.engine import MAX_TIME, Call, Engine, Event
from beforehand.simulator.faults import Faults
from beforehand.simulator.meters import Meters
from beforehand.simulator.network import Network
from beforehand.simulator.noncausal import Bystander
from beforehand.simulator.records import Copy, Message, Process, Sending
from beforehand.simulator.streams import Stream
from beforehand.simulator.watcher import Watcher
from beforehand.simulator.workload import Stage, Workload

AGES: Final = 8  # frames that a mean age is about


class Arrival(Event):
    """A frame arrives."""

    def __init__(self, carrier: Carrier, sender: Process, receiver: Process, frame: Frame) -> None:
        super().__init__()
        self.carrier = carrier
        self.sender = sender
        self.receiver = receiver
        self.frame = frame
        self.sent_at = carrier.engine.now

    def happen(self) -> None:
        carrier = self.carrier
        carrier.arriving -= 1
        receiver = self.receiver
        receiver.age += (self.time - self.sent_at - receiver.age) // AGES
        carrier.arrive(self.sender, receiver, self.frame)
        self.after = carrier.spare
        carrier.spare = self


class Wake(Event):
    """A process has finished its jobs, unless a new one has come."""

    def __init__(self, carrier: Carrier, process: Process) -> None:
        super().__init__()
        self.carrier = carrier
        self.process = process

    def happen(self) -> None:
        self.carrier.wake(self, self.process)


class Carrier(Stage):
    """The processes and what is under way between them."""

    meters: Final[Meters]
    ended_at: i64  # when something last happened that was not a mere look at the clock
    seed: Final[int]
    by_name: Final[dict[str, Process]]
    open: i64  # copies that are neither delivered nor given up
    arriving: i64  # frames on their way
    news_at: i64  # when a message was last sent, left or arrived for the first time
    anybody_stopped: bool
    spare: Arrival | None  # events that have happened, linked by `after`
    _contents: Final[Contents]
    _network: Final[Network]
    _faults: Final[Faults]
    _workload: Final[Workload]
    _watcher: Final[Watcher | None]
    _bystander: Final[Bystander]
    _split: Final[bool]  # a message to several receivers goes out as one to each
    _flush_after: Final[i64]  # negative: the cores put nothing off
    _flushing: set[int]  # processes with a flush ahead

    def __init__(
        self,
        processes: list[Process],
        contents: Contents,
        network: Network,
        faults: Faults,
        workload: Workload,
        watcher: Watcher | None,
        seed: int,
        split: bool,
        flush_after: i64,
    ) -> None:
        self.engine = Engine()
        self.processes = processes
        self.meters = Meters()
        self.ended_at = 0
        self.seed = seed
        self.by_name = {process.name: process for process in processes}
        self.open = 0
        self.arriving = 0
        self.news_at = 0
        self.anybody_stopped = False
        self.spare = None
        self._contents = contents
        self._network = network
        self._faults = faults
        self._workload = workload
        self._watcher = watcher
        self._bystander = Bystander(processes)
        self._split = split
        self._flush_after = flush_after
        self._flushing = set()

    def noncausal_known(self) -> bool:
        """Whether non-causal latency could be followed to the end."""
        return not self._bystander.gave_up

    # ---- what workloads do ----

    def stream(self, purpose: str) -> Stream:
        return Stream(f"{self.seed}/{purpose}")

    def send(
        self, process: Process, receivers: Sequence[Process], note: object, payload_bytes: i64 = -1
    ) -> None:
        if process.busy_until > self.engine.now or process.outbox:
            if not process.outbox:
                self.engine.schedule(Wake(self, process), process.busy_until)
            process.outbox.append(Sending(list(receivers), payload_bytes, note))
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
        self, process: Process, receivers: Sequence[Process], note: object, payload_bytes: i64
    ) -> None:
        self.meters.actions += 1
        if self.anybody_stopped:
            gone = process.core.dropped()
            receivers = [receiver for receiver in receivers if receiver.name not in gone]
            if not receivers:
                self.meters.skipped += 1
                self._workload.skipped(process, note)
                return
        if payload_bytes < 0:
            payload_bytes = self._contents.payload_bytes(process)
        if self._split:
            for receiver in receivers:
                self._send_one(process, [receiver], note, payload_bytes)
        else:
            self._send_one(process, receivers, note, payload_bytes)
        self._workload.sent(process, note)

    def _send_one(
        self, process: Process, receivers: Sequence[Process], note: object, payload_bytes: i64
    ) -> None:
        now = self.engine.now
        message = Message(process, receivers, now, payload_bytes, note)
        message.job = self._contents.job(process)
        self._open_message(message, now)
        payload = self._contents.payload(payload_bytes)
        if len(receivers) == 1:
            effects = process.core.send(receivers[0].name, payload, int(now))
        else:
            names = [receiver.name for receiver in receivers]
            effects = process.core.send(names, payload, int(now))
        self.ended_at = max(self.ended_at, now)
        self.news_at = max(self.news_at, now)  # it may be ahead: when a frame will be out
        if self._watcher is not None:
            self._watcher.sent(process, message, receivers, now)
        self.carry(process, effects, receivers[0])
        if self._watcher is not None:
            self._watcher.held_at_sender(process, message, now)

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

    # ---- what cores want ----

    def carry(self, process: Process, effects: list[Effect], likely: Process) -> None:
        """Do what a core says, then what the application does about it.

        `likely` is whom it is most likely about: nearly always that saves looking for the name.
        """
        delivered: list[Message] | None = None
        for effect in effects:
            if isinstance(effect, Transmit):
                peer = likely if effect.to is likely.name else self.by_name[effect.to]
                self._transmit(process, peer, effect.frame)
            elif isinstance(effect, Deliver):
                peer = likely if effect.sender is likely.name else self.by_name[effect.sender]
                message = self._deliver(process, peer, effect.message_id)
                if message is not None:
                    if delivered is None:
                        delivered = [message]
                    else:
                        delivered.append(message)
        if self._flush_after >= 0:
            self._schedule_flush(process)
        if delivered is not None:
            for message in delivered:
                if message.job >= 0:
                    self._book_job(process, message.job)
                self._workload.delivered(process, message)

    def _transmit(self, process: Process, receiver: Process, frame: Frame) -> None:
        now = self.engine.now
        meters = self.meters
        size = wire.size(frame)
        metadata = size
        fresh = False
        if frame.messages():
            metadata -= frame.payload_bytes()
            fresh = self._release(process, receiver, frame, metadata, now)
        else:
            meters.control_frames += 1
            if self._watcher is not None:
                self._watcher.control(process, process, receiver, frame, size, now)
        meters.frames += 1
        meters.metadata_bytes += int(metadata)
        meters.wire_bytes += int(size + self._network.header)
        left = self._network.leaves(process, size, now)
        self.ended_at = max(self.ended_at, now)
        if fresh:
            self.news_at = max(self.news_at, left)
        self._travel(process, receiver, frame, left)
        if self._faults.duplicates():
            meters.doubled += 1
            self._travel(process, receiver, frame, left)

    def _release(
        self, process: Process, receiver: Process, frame: Frame, metadata: i64, now: i64
    ) -> bool:
        """Note the first release of each message in a frame; whether there was one."""
        fresh = False
        first = frame.about()
        for number in range(first, first + frame.messages()):
            copy = _copy(process, number, receiver)
            again = copy is None or copy.released_at >= 0
            if copy is not None and copy.released_at < 0:
                fresh = True
                copy.released_at = now
                if not copy.closed:
                    self.meters.held.change(-1, now)
                    self.meters.held_time.add(now - copy.message().sent_at)
                    process.in_transit += 1
                    if process.in_transit > self.meters.most_in_transit:
                        self.meters.most_in_transit = process.in_transit
            if self._watcher is not None:
                size = frame.payload_sizes()[number - first]
                self._watcher.released(process, number, receiver, size, metadata, again, now)
                metadata = 0
        return fresh

    def _travel(self, process: Process, receiver: Process, frame: Frame, left: i64) -> None:
        at = self._network.arrives(process, receiver, left)
        if self._faults.loses() or self._faults.cuts(process, receiver, left, at):
            self.meters.lost += 1
        else:
            self.arriving += 1
            self.engine.schedule(self._arrival(process, receiver, frame), at)

    def _arrival(self, sender: Process, receiver: Process, frame: Frame) -> Arrival:
        """An event for a frame: one that has happened before, if there is one to spare."""
        spare = self.spare
        if spare is None:
            return Arrival(self, sender, receiver, frame)
        following = spare.after
        self.spare = following if isinstance(following, Arrival) else None
        spare.after = None
        spare.sender = sender
        spare.receiver = receiver
        spare.frame = frame
        spare.sent_at = self.engine.now
        return spare

    def arrive(self, sender: Process, receiver: Process, frame: Frame) -> None:
        """A frame arrives: give it to the core."""
        if receiver.stopped:
            return
        now = self.engine.now
        self.ended_at = max(self.ended_at, now)
        fresh: list[Copy] = NO_COPIES
        if frame.messages():
            fresh = self._note_arrival(sender, receiver, frame, now)
        elif self._watcher is not None:
            self._watcher.control(receiver, sender, receiver, frame, wire.size(frame), now)
        self.carry(receiver, receiver.core.receive(sender.name, frame, now), sender)
        for copy in fresh:
            if not copy.closed and self._watcher is not None:
                self._watcher.held_at_receiver(receiver, copy, now)

    def _note_arrival(
        self, sender: Process, receiver: Process, frame: Frame, now: i64
    ) -> list[Copy]:
        """Note the first arrival of each message in a frame; if somebody watches, say which."""
        fresh = NO_COPIES if self._watcher is None else []
        first = frame.about()
        for number in range(first, first + frame.messages()):
            copy = _copy(sender, number, receiver)
            again = copy is None or copy.arrived_at >= 0
            if copy is not None and copy.arrived_at < 0:
                copy.arrived_at = now
                if not copy.closed:
                    self.news_at = max(self.news_at, now)
                    sender.in_transit -= 1
                    self.meters.buffered.change(1, now)
            if self._watcher is not None:
                size = frame.payload_sizes()[number - first]
                metadata = 0 if number > first else wire.size(frame) - frame.payload_bytes()
                self._watcher.received(sender, number, receiver, size, metadata, again, now)
                if copy is not None and not again:
                    fresh.append(copy)
        return fresh

    def _deliver(self, process: Process, sender: Process, number: i64) -> Message | None:
        """A core delivers; the message, unless it was delivered before."""
        now = self.engine.now
        copy = _copy(sender, number, process)
        if self._watcher is not None:
            self._watcher.delivered(process, sender, number, copy, now)
        if copy is None or copy.closed:
            self.meters.duplicates += 1
            return None
        message = copy.message()
        past = message.past
        self._close(copy)
        if copy.arrived_at >= 0:
            self.meters.buffered.change(-1, now)
        self.meters.delivered += 1
        self.meters.latency.add(now - message.sent_at)
        late = self._bystander.delivered(copy, past, now)
        if late >= 0:
            self.meters.noncausal.add(late)
        return message

    def _close(self, copy: Copy) -> None:
        self.open -= 1
        copy.message().close(copy)
        self._bystander.closed(copy)

    def _book_job(self, process: Process, length: i64) -> None:
        """Jobs of a process follow each other; it sends nothing until the last one is done."""
        start = max(self.engine.now, process.busy_until)
        if start + length > MAX_TIME:
            raise ScenarioError(
                f"the jobs of {process.name} would end after the end of time (146 years); make them "
                "shorter or fewer"
            )
        process.busy_until = start + length
        self.meters.jobs += 1
        self.meters.job_starts += int(start)
        self.ended_at = max(self.ended_at, process.busy_until)

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

    def _schedule_flush(self, process: Process) -> None:
        if int(process.index) not in self._flushing:
            self._flushing.add(int(process.index))

            self.engine.schedule(
                Call(lambda: self._flush(process)), self.engine.now + self._flush_after
            )

    def _flush(self, process: Process) -> None:
        self._flushing.discard(int(process.index))
        if not process.stopped:
            effects = process.core.flush()
            if effects:
                self.carry(process, effects, process)


def _copy(sender: Process, number: i64, receiver: Process) -> Copy | None:
    """The copy of a message that is not delivered everywhere yet."""
    message = sender.message(number)
    return None if message is None else message.copy_to(receiver)


NO_COPIES: Final[list[Copy]] = []  # shared, never changed
