"""The transport: carries out the effects of cores, and holds the frames in flight.

The effects of a core are carried out in order; the network decides when frames arrive. The cores are
those that the runtime drives, unmodified; no protocol is known here by name.

The application reacts to a delivery after all effects of the call that brought it: by then the core
has finished that step, so whatever is sent next happens after all of its deliveries.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand import wire
from beforehand.protocols.effects import Admit, Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.simulator.overlays.dynamics import OverlayDynamics
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.event_queue import Callback, ScheduledEvent
from beforehand.simulator.world.frame_contents import NO_COPIES, FrameContents
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import OpenMessage, Process
from beforehand.simulator.world.run_setup import RunSetup

AGE_WEIGHT: Final = 8  # the moving average of transit times is over about so many frames


class FrameArrival(ScheduledEvent):
    """A frame arrives."""

    def __init__(
        self,
        transport: SimulatedTransport,
        sender: Process,
        receiver: Process,
        frame: Frame,
        sent_at: i64,
    ) -> None:
        super().__init__()
        self.transport = transport
        self.sender = sender
        self.receiver = receiver
        self.frame = frame
        self.sent_at = sent_at

    def fire(self) -> None:
        receiver = self.receiver
        receiver.frame_age += (self.time - self.sent_at - receiver.frame_age) // AGE_WEIGHT
        self.transport.arrive(self)


class SimulatedTransport:
    """Between the cores: effects out of them, frames into them."""

    application: Application  # is notified of deliveries; set once it exists

    def __init__(self, setup: RunSetup, open_messages: OpenMessages) -> None:
        self.in_flight: i64 = 0  # frames
        self._spare: FrameArrival | None = None  # events for reuse, linked by `next_event`
        self._queue: Final = setup.queue
        self._population: Final = setup.population
        self._open_messages: Final = open_messages
        self._contents: Final = FrameContents(setup, open_messages)
        self._network: Final = setup.network
        self._faults: Final = setup.faults
        self._overlay: Final = setup.overlay
        self._meters: Final = setup.meters
        self._observer: Final = setup.observer
        self._flush_after: Final[i64] = setup.flush_after  # negative: the cores postpone nothing
        self._flushing: set[int] = set()  # processes with a flush ahead

    def pending(self) -> i64:
        """Events ahead: arrivals and flushes."""
        return self.in_flight + len(self._flushing)

    # ---- effects ----

    def carry_out(self, process: Process, effects: list[Effect], likely: Process) -> None:
        """Carry out the effects of a core, then let the application react.

        `likely` is the peer that they most likely concern, which nearly always saves a lookup.
        """
        by_name = self._population.by_name
        delivered: list[OpenMessage] | None = None
        for effect in effects:
            if isinstance(effect, Transmit):
                peer = likely if effect.to is likely.name else by_name[effect.to]
                self._transmit(process, peer, effect.frame)
            elif isinstance(effect, Deliver):
                peer = likely if effect.sender is likely.name else by_name[effect.sender]
                message = self._open_messages.deliver(process, peer, effect.message_id)
                if message is not None:
                    if delivered is None:
                        delivered = [message]
                    else:
                        delivered.append(message)
            elif isinstance(effect, Admit):
                self._open_messages.admit(by_name[effect.newcomer], process)
        if self._overlay is not None:
            self._update_overlay(process, effects, self._overlay)
        if self._flush_after >= 0:
            self._schedule_flush(process)
        if delivered is not None:
            for message in delivered:
                self.application.delivered(process, message)

    def _update_overlay(
        self, process: Process, effects: list[Effect], overlay: OverlayDynamics
    ) -> None:
        """Report the links that came into use; the overlay may react at once."""
        for effect in effects:
            if isinstance(effect, Safe):
                overlay.safe(process, self._population.by_name[effect.peer])
            elif isinstance(effect, Admit):
                overlay.admitted(process, self._population.by_name[effect.newcomer])

    def _schedule_flush(self, process: Process) -> None:
        if int(process.index) not in self._flushing:
            self._flushing.add(int(process.index))
            flush = Callback(lambda: self._flush(process))
            self._queue.schedule(flush, self._queue.now + self._flush_after)

    def _flush(self, process: Process) -> None:
        self._flushing.discard(int(process.index))
        if not process.stopped:
            effects = process.core.flush()
            if effects:
                self.carry_out(process, effects, process)

    # ---- frames ----

    def _transmit(self, process: Process, receiver: Process, frame: Frame) -> None:
        now = self._queue.now
        meters = self._meters
        size = wire.size(frame)
        metadata = size
        fresh = False
        if frame.messages():
            metadata -= frame.payload_bytes()
            fresh = self._contents.released(process, receiver, frame, metadata, now)
        else:
            meters.control_frames += 1
            if self._observer is not None:
                self._observer.control(process, process, receiver, frame, size)
        meters.frames += 1
        meters.metadata_bytes += int(metadata)
        meters.wire_bytes += int(size + self._network.header)
        left = self._network.leaves(process, size, now)
        meters.ended_at = max(meters.ended_at, now)
        if fresh:
            self._open_messages.news_at = max(self._open_messages.news_at, left)
        self._travel(process, receiver, frame, left)
        if self._faults.duplicates():
            meters.doubled += 1
            self._travel(process, receiver, frame, left)

    def _travel(self, process: Process, receiver: Process, frame: Frame, left: i64) -> None:
        at = self._network.arrives(process, receiver, left)
        if self._faults.loses() or self._faults.cuts(process, receiver, left, at):
            self._meters.lost += 1
        else:
            self.in_flight += 1
            self._queue.schedule(self._arrival(process, receiver, frame), at)

    def _arrival(self, sender: Process, receiver: Process, frame: Frame) -> FrameArrival:
        """An event for a frame, reused if possible."""
        now = self._queue.now
        spare = self._spare
        if spare is None:
            return FrameArrival(self, sender, receiver, frame, now)
        following = spare.next_event
        self._spare = following if isinstance(following, FrameArrival) else None
        spare.next_event = None
        spare.sender = sender
        spare.receiver = receiver
        spare.frame = frame
        spare.sent_at = now
        return spare

    def arrive(self, arrival: FrameArrival) -> None:
        """A frame arrives: pass it to the core."""
        self.in_flight -= 1
        if not arrival.receiver.stopped:
            self._receive(arrival.sender, arrival.receiver, arrival.frame)
        arrival.next_event = self._spare
        self._spare = arrival

    def _receive(self, sender: Process, receiver: Process, frame: Frame) -> None:
        now = self._queue.now
        self._meters.ended_at = max(self._meters.ended_at, now)
        fresh = NO_COPIES
        if frame.messages():
            fresh = self._contents.arrived(sender, receiver, frame, now)
        else:
            self._meters.control_received += 1
            if self._observer is not None:
                self._observer.control(receiver, sender, receiver, frame, wire.size(frame))
        self.carry_out(receiver, receiver.core.receive(sender.name, frame, now), sender)
        for copy in fresh:
            if not copy.closed and self._observer is not None:
                self._observer.held_at_receiver(receiver, copy)
