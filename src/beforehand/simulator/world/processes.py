"""The state of a run: its processes, and the messages that are not yet delivered everywhere.

A message is forgotten at its last delivery, so memory follows what is in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.protocols.support.structures import SlidingArray

NEVER: Final = -1  # the time of what has not happened


class MessageCopy:
    """A message on its way to one receiver: the times of its first release and first arrival."""

    def __init__(self, receiver: Process) -> None:
        self.released_at: i64 = NEVER  # network-sent
        self.arrived_at: i64 = NEVER  # received
        # Delivered, or given up because its sender or receiver is gone for good.
        self.closed: bool = False
        self.era: i64 = 0  # of the receiver, when it was sent: see noncausal.py
        self.receiver: Final = receiver

    def message(self) -> OpenMessage:
        """The message that this is a copy of."""
        raise NotImplementedError


class OpenMessage(MessageCopy):
    """A causal-send. With a single receiver, which is the usual case, it is its own copy."""

    def __init__(
        self,
        sender: Process,
        receivers: Sequence[Process],
        sent_at: i64,
        payload_bytes: i64,
        tag: object,
    ) -> None:
        super().__init__(receivers[0])
        # Nanoseconds of work that its delivery starts at the receiver; NEVER: none.
        self.job: i64 = NEVER
        # By its sender, to some neighbour: only where messages are relayed.
        self.released: bool = False
        self.sender: Final = sender
        self.number: Final[i64] = sender.core.sent + 1
        self.sent_at: Final = sent_at
        self.payload_bytes: Final = payload_bytes
        self.tag: Final = tag  # of the workload that sent it, for its own use
        self.waiting: i64 = len(receivers)  # receivers that have not delivered it
        self.multicast: Final[bool] = len(receivers) > 1  # it has several receivers
        self.copy_by_receiver: dict[int, MulticastCopy] = NO_COPIES  # by the index of the process
        if self.multicast:
            self.copy_by_receiver = {
                int(receiver.index): MulticastCopy(receiver, self) for receiver in receivers
            }
        self.past = NO_PAST  # what its sender knew when it sent it: see noncausal.py

    def message(self) -> OpenMessage:
        return self

    def close(self, copy: MessageCopy) -> None:
        """A receiver no longer waits for it; after the last one it is forgotten."""
        copy.closed = True
        self.waiting -= 1
        if self.waiting:
            return
        self.sender.forget(self.number)
        # Its past would keep the whole history alive, and its copies point back at it.
        self.past = NO_PAST
        self.copy_by_receiver = NO_COPIES

    def copy_to(self, receiver: Process) -> MessageCopy | None:
        """The copy for a process; None if the process is not a receiver."""
        if self.multicast:
            return self.copy_by_receiver.get(int(receiver.index))
        return self if self.receiver is receiver else None

    def add(self, receiver: Process) -> MessageCopy:
        """One more receiver of an open multicast."""
        copy = MulticastCopy(receiver, self)
        self.copy_by_receiver[int(receiver.index)] = copy
        self.waiting += 1
        return copy

    def copies(self) -> list[MessageCopy]:
        """One for each receiver, as long as one is not closed."""
        if self.multicast:
            return list(self.copy_by_receiver.values())
        return [self]


class MulticastCopy(MessageCopy):
    """The copy of a message with several receivers."""

    def __init__(self, receiver: Process, message: OpenMessage) -> None:
        super().__init__(receiver)
        self._message: Final = message

    def message(self) -> OpenMessage:
        return self._message


class DeliveryRecord:
    """A message that a process delivered, and when."""

    def __init__(self, time: i64, message: OpenMessage) -> None:
        self.time: Final = time
        self.message: Final = message


class DeferredSend:
    """A causal-send that waits until its process has finished its jobs."""

    def __init__(self, receivers: list[Process] | None, payload_bytes: i64, tag: object) -> None:
        self.receivers = receivers  # None: everybody
        self.payload_bytes = payload_bytes
        self.tag = tag


class Process:
    """One process: its core, and what the simulation knows about it."""

    def __init__(self, index: i64, name: str, core: Core) -> None:
        self.present: bool = True  # it has joined; newcomers do so during the run
        self.stopped: bool = False
        self.seq: i64 = 0  # events in its trace
        self.uplink_free_at: i64 = 0  # when the last byte that it has to send is out
        self.busy_until: i64 = 0  # the end of its last job
        # Mean transit time of recent frames to it, waiting for uplinks included.
        self.frame_age: i64 = 0
        self.ticking: bool = False  # a tick is scheduled
        self.in_transit: i64 = 0  # copies that it has released and that have not arrived
        # For noncausal.py, with `known`:
        self.era: i64 = 0
        self.era_began_at: i64 = 0
        self.open_now: i64 = 0  # open copies to it that were sent in this era
        self.open_before: i64 = 0  # and in earlier ones
        # Its deliveries since then; None: none.
        self.delivered: SlidingArray[DeliveryRecord] | None = None
        self.mark: i64 = 0  # the round in which `marked` was set
        self.marked: i64 = 0  # the value that the round keeps for this process
        self.index: Final = index
        self.name: Final = name
        self.core: Final = core
        self.outbox: list[DeferredSend] = []  # sends that wait for the end of its jobs
        # Its messages by number, from the oldest that is not delivered everywhere; None: forgotten.
        self.open: SlidingArray[OpenMessage | None] = SlidingArray(1)
        self.known = NO_PAST  # of each other sender with open messages, the newest that it knows

    def active(self) -> bool:
        """Whether it has joined and has not stopped."""
        return self.present and not self.stopped

    def message(self, number: i64) -> OpenMessage | None:
        """One of its messages, if it is not delivered everywhere."""
        if number < self.open.first or number >= self.open.next:
            return None
        return self.open[number]

    def copy_to(self, receiver: Process, number: i64) -> MessageCopy | None:
        """The copy for a receiver of one of its messages, if that is not delivered everywhere."""
        message = self.message(number)
        return None if message is None else message.copy_to(receiver)

    def open_messages(self) -> list[OpenMessage]:
        """All of its messages that are not delivered everywhere."""
        return [message for message in self.open.elements() if message is not None]

    def forget(self, number: i64) -> None:
        """A message has been delivered everywhere."""
        self.open[number] = None
        while len(self.open) and self.open.peek() is None:
            self.open.remove()


class Population:
    """The processes of a run: all of them, and those that take part now."""

    def __init__(self, processes: list[Process]) -> None:
        self.any_stopped: bool = False
        self.processes: Final = processes  # newcomers at the end
        self.by_name: Final[dict[str, Process]] = {process.name: process for process in processes}
        # Those that have joined and neither left nor crashed.
        self.present = [process for process in processes if process.present]

    def join(self, newcomer: Process) -> None:
        """A newcomer takes part from now on."""
        newcomer.present = True
        self.present.append(newcomer)

    def stop(self, process: Process) -> None:
        """A process takes no further step."""
        process.stopped = True
        self.any_stopped = True
        self.present = [other for other in self.present if other is not process]


# Shared by all that have none; replaced, never changed.
NO_COPIES: Final[dict[int, MulticastCopy]] = {}
NO_PAST: Final[list[OpenMessage]] = []
