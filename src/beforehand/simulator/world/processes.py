"""What a simulation remembers: its processes, and the messages that are not yet delivered everywhere.

A message is forgotten at its last delivery, so the memory follows what is in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.protocols.support.structures import SlidingArray

NEVER: Final = -1  # the time of what has not happened


class Copy:
    """A message on its way to one receiver: the times at which things first happened to it."""

    receiver: Final[Process]
    released_at: i64  # network-sent
    arrived_at: i64  # received
    closed: bool  # delivered, or given up because one of the two is gone for ever
    era: i64  # of the receiver, when it was sent: see noncausal.py

    def __init__(self, receiver: Process) -> None:
        self.receiver = receiver
        self.released_at = NEVER
        self.arrived_at = NEVER
        self.closed = False
        self.era = 0

    def message(self) -> Message:
        """What it is a copy of."""
        raise NotImplementedError


class Message(Copy):
    """A causal-send. If it has one receiver, as most have, it is its own copy."""

    sender: Final[Process]
    number: Final[i64]
    sent_at: Final[i64]
    payload_bytes: Final[i64]
    job: i64  # nanoseconds of work that its delivery means for the receiver; NEVER: none
    note: Final[object]  # of the workload that sent it, for its own use
    waiting: i64  # receivers that have not delivered it
    several: Final[bool]  # receivers
    released: bool  # its sender has let it go anywhere: only where others pass it on
    parts: dict[int, Part]  # receiver -> copy, if there are several
    past: list[Message]  # what its sender knew when it sent it: see noncausal.py

    def __init__(
        self,
        sender: Process,
        receivers: Sequence[Process],
        sent_at: i64,
        payload_bytes: i64,
        note: object,
    ) -> None:
        super().__init__(receivers[0])
        self.sender = sender
        self.number = sender.core.sent + 1
        self.sent_at = sent_at
        self.payload_bytes = payload_bytes
        self.job = NEVER
        self.note = note
        self.waiting = len(receivers)
        self.several = len(receivers) > 1
        self.released = False
        self.parts = NO_PARTS
        if self.several:
            self.parts = {int(each.index): Part(each, self) for each in receivers}
        self.past = NO_PAST

    def message(self) -> Message:
        return self

    def close(self, copy: Copy) -> None:
        """A receiver needs it no more; after the last one it is forgotten."""
        copy.closed = True
        self.waiting -= 1
        if self.waiting:
            return
        self.sender.forget(self.number)
        # The whole history would hang on what it knew, and its parts point back at it.
        self.past = NO_PAST
        self.parts = NO_PARTS

    def copy_to(self, receiver: Process) -> Copy | None:
        """The copy for a receiver; None if it is no receiver."""
        if self.several:
            return self.parts.get(int(receiver.index))
        return self if self.receiver is receiver else None

    def add(self, receiver: Process) -> Copy:
        """One more receiver of a message with several, while it is open."""
        part = Part(receiver, self)
        self.parts[int(receiver.index)] = part
        self.waiting += 1
        return part

    def copies(self) -> list[Copy]:
        """One for each receiver, as long as one is not closed."""
        if self.several:
            return list(self.parts.values())
        return [self]


class Part(Copy):
    """The copy of a message with several receivers."""

    _message: Final[Message]

    def __init__(self, receiver: Process, message: Message) -> None:
        super().__init__(receiver)
        self._message = message

    def message(self) -> Message:
        return self._message


class Delivery:
    """A message that was delivered at a process, and when."""

    time: Final[i64]
    message: Final[Message]

    def __init__(self, time: i64, message: Message) -> None:
        self.time = time
        self.message = message


class Sending:
    """A causal-send that waits until its process has time for it."""

    def __init__(self, receivers: list[Process] | None, payload_bytes: i64, note: object) -> None:
        self.receivers = receivers  # None: everybody
        self.payload_bytes = payload_bytes
        self.note = note


class Process:
    """One process: its core, and what the simulation knows about it."""

    index: Final[i64]
    name: Final[str]
    core: Final[Core]
    present: bool  # it takes part; newcomers do so later
    stopped: bool
    seq: i64  # events in its trace
    uplink_free_at: i64  # when the last byte that it has to send is out
    busy_until: i64  # the end of its last job
    age: i64  # how long the frames that it got lately were under way, waiting for uplinks included
    ticking: bool  # it will look after lost frames
    outbox: list[Sending]  # what it will send when it is no longer busy
    # Its messages by their number, from the oldest that is not delivered everywhere; None: forgotten.
    open: SlidingArray[Message | None]
    in_transit: i64  # copies that it has released and that have not arrived
    # For noncausal.py:
    known: list[Message]  # for each other sender with open messages that it knows of, the newest
    era: i64
    era_began_at: i64
    open_now: i64  # open copies to it that were sent in this era
    open_before: i64  # and in earlier ones
    delivered: SlidingArray[Delivery] | None  # what it delivered since then; None: nothing
    mark: i64  # the round in which `marked` was set
    marked: i64  # what that round has to remember about this process

    def __init__(self, index: i64, name: str, core: Core) -> None:
        self.index = index
        self.name = name
        self.core = core
        self.present = True
        self.stopped = False
        self.seq = 0
        self.uplink_free_at = 0
        self.busy_until = 0
        self.age = 0
        self.ticking = False
        self.outbox = []
        self.open = SlidingArray(1)
        self.in_transit = 0
        self.known = NO_PAST
        self.era = 0
        self.era_began_at = 0
        self.open_now = 0
        self.open_before = 0
        self.delivered = None
        self.mark = 0
        self.marked = 0

    def message(self, number: i64) -> Message | None:
        """One of its messages, if it is not delivered everywhere."""
        if number < self.open.first or number >= self.open.next:
            return None
        return self.open[number]

    def open_messages(self) -> list[Message]:
        """All of its messages that are not delivered everywhere."""
        return [message for message in self.open.elements() if message is not None]

    def forget(self, number: i64) -> None:
        """A message has been delivered everywhere."""
        self.open[number] = None
        while len(self.open) and self.open.peek() is None:
            self.open.remove()


# Shared by all that have none; replaced, never changed.
NO_PARTS: Final[dict[int, Part]] = {}
NO_PAST: Final[list[Message]] = []
