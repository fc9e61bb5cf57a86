"""The messages inside frames: notes the first release and the first arrival of every copy.

A frame carries a run of its sender's messages, or, where processes relay messages, a bundle of parts
of any origin. The observer is shown repeated releases and arrivals too.
"""

from typing import Final

from mypy_extensions import i64

from beforehand import wire
from beforehand.protocols.frames import Frame
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import MessageCopy, Process
from beforehand.simulator.world.run_setup import RunSetup


class FrameContents:
    """Updates the open messages as the frames that carry them leave and arrive."""

    def __init__(self, setup: RunSetup, open_messages: OpenMessages) -> None:
        self._open_messages: Final = open_messages
        self._population: Final = setup.population
        self._observer: Final = setup.observer

    def released(
        self, process: Process, receiver: Process, frame: Frame, metadata: i64, now: i64
    ) -> bool:
        """A frame with messages leaves; whether it is the first release of one."""
        if frame.origin():
            return self._released_relayed(process, receiver, frame, metadata, now)
        fresh = False
        first = frame.about()
        for number in range(first, first + frame.messages()):
            copy = process.copy_to(receiver, number)
            again = copy is None or copy.released_at >= 0
            if copy is not None and copy.released_at < 0:
                fresh = True
                self._open_messages.released(copy, process, now)
            if self._observer is not None:
                size = frame.payload_sizes()[number - first]
                self._observer.released(process, receiver, process, number, size, metadata, again)
                metadata = 0
        return fresh

    def _released_relayed(
        self, process: Process, receiver: Process, frame: Frame, metadata: i64, now: i64
    ) -> bool:
        """A message is on its way to all of its receivers once its sender has released it at all."""
        fresh = False
        for part in frame.bundle() or (frame,):
            if not part.messages():
                continue
            source = self._population.by_name[part.origin()]
            number = part.about()
            if source is process:
                message = source.message(number)
                if message is not None and not message.released:
                    fresh = True
                    message.released = True
                    for copy in message.copies():
                        if copy.receiver is not source and copy.released_at < 0:
                            self._open_messages.released(copy, source, now)
            if self._observer is not None:
                size = part.payload_bytes()
                self._observer.released(process, receiver, source, number, size, metadata, False)
                metadata = 0
        return fresh

    def arrived(
        self, sender: Process, receiver: Process, frame: Frame, now: i64
    ) -> list[MessageCopy]:
        """A frame with messages arrives; under observation, returns the copies that are new."""
        if frame.origin():
            return self._arrived_relayed(receiver, frame, now)
        fresh = NO_COPIES if self._observer is None else []
        metadata = 0 if self._observer is None else wire.size(frame) - frame.payload_bytes()
        first = frame.about()
        for number in range(first, first + frame.messages()):
            copy = sender.copy_to(receiver, number)
            again = copy is None or copy.arrived_at >= 0
            if copy is not None and copy.arrived_at < 0:
                self._open_messages.arrived(copy, sender, now)
            if self._observer is not None:
                size = frame.payload_sizes()[number - first]
                self._observer.received(receiver, sender, number, size, metadata, again)
                metadata = 0
                if copy is not None and not again:
                    fresh.append(copy)
        return fresh

    def _arrived_relayed(self, receiver: Process, frame: Frame, now: i64) -> list[MessageCopy]:
        """The receiver may be one of the message's, or merely relay it."""
        fresh = NO_COPIES if self._observer is None else []
        metadata = 0 if self._observer is None else wire.size(frame) - frame.payload_bytes()
        for part in frame.bundle() or (frame,):
            if not part.messages():
                continue
            source = self._population.by_name[part.origin()]
            number = part.about()
            copy = source.copy_to(receiver, number)
            again = copy is None or copy.arrived_at >= 0 or source is receiver
            if copy is not None and not again:
                self._open_messages.arrived(copy, source, now)
            if self._observer is not None:
                # An open message that isn't for the receiver only passes through.
                repeated = again and (copy is not None or source.message(number) is None)
                size = part.payload_bytes()
                self._observer.received(receiver, source, number, size, metadata, repeated)
                metadata = 0
                if copy is not None and not again:
                    fresh.append(copy)
        return fresh


NO_COPIES: Final[list[MessageCopy]] = []  # shared, never changed
