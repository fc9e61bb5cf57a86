"""Carrying out: what cores want done, and the frames on their way.

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
from beforehand.protocols.effects import Admit, Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.simulator.overlays.dynamics import Overlay
from beforehand.simulator.workloads.message_sizes import Contents
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.engine import MAX_TIME, Call, Event
from beforehand.simulator.world.faults import Faults
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Watcher
from beforehand.simulator.world.processes import Copy, Message, Process
from beforehand.simulator.world.sender import Sender

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


class Carrier(Sender):
    """The processes and what is under way between them."""

    by_name: Final[dict[str, Process]]
    arriving: i64  # frames on their way
    spare: Arrival | None  # events that have happened, linked by `after`
    _network: Final[Network]
    _faults: Final[Faults]
    _overlay: Final[Overlay | None]
    _flush_after: Final[i64]  # negative: the cores put nothing off
    _flushing: set[int]  # processes with a flush ahead

    def __init__(
        self,
        processes: list[Process],
        contents: Contents,
        network: Network,
        faults: Faults,
        overlay: Overlay | None,
        workload: Workload,
        watcher: Watcher | None,
        seed: int,
        split: bool,
        casts: Sequence[str],
        flush_after: i64,
    ) -> None:
        relays = overlay is not None
        super().__init__(processes, contents, workload, watcher, seed, split, casts, relays)
        self.by_name = {process.name: process for process in processes}
        self.arriving = 0
        self.spare = None
        self._network = network
        self._faults = faults
        self._overlay = overlay
        self._flush_after = flush_after
        self._flushing = set()

    # ---- what cores want ----

    def carry(self, process: Process, effects: list[Effect], likely: Process) -> None:
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
            elif isinstance(effect, Admit):
                self.admitted(self.by_name[effect.newcomer], process)
        if self._overlay is not None:
            self._change_links(process, effects, self._overlay)
        if self._flush_after >= 0:
            self._schedule_flush(process)
        if delivered is not None:
            for message in delivered:
                if message.job >= 0:
                    self._book_job(process, message.job)
                self._workload.delivered(process, message)

    def _change_links(self, process: Process, effects: list[Effect], overlay: Overlay) -> None:
        """Tell the overlay what has become of its links; what it does about it comes after."""
        for effect in effects:
            if isinstance(effect, Safe):
                overlay.safe(process, self.by_name[effect.peer])
            elif isinstance(effect, Admit):
                overlay.admitted(process, self.by_name[effect.newcomer])

    def _transmit(self, process: Process, receiver: Process, frame: Frame) -> None:
        now = self.engine.now
        meters = self.meters
        size = wire.size(frame)
        metadata = size
        fresh = False
        if frame.messages():
            metadata -= frame.payload_bytes()
            if frame.origin():
                fresh = self._release_relayed(process, receiver, frame, metadata, now)
            else:
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
                self._released(copy, process, now)
            if self._watcher is not None:
                size = frame.payload_sizes()[number - first]
                self._watcher.released(
                    process, process, number, receiver, size, metadata, again, now
                )
                metadata = 0
        return fresh

    def _release_relayed(
        self, process: Process, receiver: Process, frame: Frame, metadata: i64, now: i64
    ) -> bool:
        """The same where processes pass on the messages of others.

        A message is on its way to all of its receivers as soon as its sender lets it go anywhere.
        """
        fresh = False
        for part in frame.bundle() or (frame,):
            if not part.messages():
                continue
            source = self.by_name[part.origin()]
            number = part.about()
            if source is process:
                message = source.message(number)
                if message is not None and not message.released:
                    fresh = True
                    message.released = True
                    for copy in message.copies():
                        if copy.receiver is not source and copy.released_at < 0:
                            self._released(copy, source, now)
            if self._watcher is not None:
                size = part.payload_bytes()
                self._watcher.released(
                    process, source, number, receiver, size, metadata, False, now
                )
                metadata = 0
        return fresh

    def _released(self, copy: Copy, sender: Process, now: i64) -> None:
        copy.released_at = now
        if not copy.closed:
            self.meters.held.change(-1, now)
            self.meters.held_time.add(now - copy.message().sent_at)
            sender.in_transit += 1
            if sender.in_transit > self.meters.most_in_transit:
                self.meters.most_in_transit = sender.in_transit

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
            if frame.origin():
                fresh = self._note_relayed(receiver, frame, now)
            else:
                fresh = self._note_arrival(sender, receiver, frame, now)
        else:
            self.meters.control_received += 1
            if self._watcher is not None:
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
                self._arrived(copy, sender, now)
            if self._watcher is not None:
                size = frame.payload_sizes()[number - first]
                metadata = 0 if number > first else wire.size(frame) - frame.payload_bytes()
                self._watcher.received(sender, number, receiver, size, metadata, again, now)
                if copy is not None and not again:
                    fresh.append(copy)
        return fresh

    def _note_relayed(self, receiver: Process, frame: Frame, now: i64) -> list[Copy]:
        """The same where processes pass on the messages of others, perhaps to others still."""
        fresh = NO_COPIES if self._watcher is None else []
        metadata = 0 if self._watcher is None else wire.size(frame) - frame.payload_bytes()
        for part in frame.bundle() or (frame,):
            if not part.messages():
                continue
            source = self.by_name[part.origin()]
            number = part.about()
            copy = _copy(source, number, receiver)
            again = copy is None or copy.arrived_at >= 0 or source is receiver
            if copy is not None and not again:
                self._arrived(copy, source, now)
            if self._watcher is not None:
                # If it is open, and not for the receiver, it only passes through.
                passes = copy is None and source.message(number) is not None
                self._watcher.received(
                    source,
                    number,
                    receiver,
                    part.payload_bytes(),
                    metadata,
                    again and not passes,
                    now,
                )
                metadata = 0
                if copy is not None and not again:
                    fresh.append(copy)
        return fresh

    def _arrived(self, copy: Copy, sender: Process, now: i64) -> None:
        copy.arrived_at = now
        if not copy.closed:
            self.news_at = max(self.news_at, now)
            sender.in_transit -= 1
            self.meters.buffered.change(1, now)

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
