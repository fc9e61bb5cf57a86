"""What a simulation remembers: its processes, and the messages that are not yet delivered everywhere.

A message is forgotten at its last delivery, so the memory follows what is in flight.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.base import Core
from beforehand.protocols.structures import SlidingArray

NEVER: Final = -1  # the time of what has not happened


class Message:
    """A causal-send."""

    sender: Final[Process]
    number: Final[i64]
    sent_at: Final[i64]
    payload_bytes: Final[i64]
    job: i64  # nanoseconds of work that its delivery means for the receiver
    note: Final[object]  # of the workload that sent it, for its own use
    waiting: i64  # receivers that have not delivered it
    sole: Copy | None  # the copy of a message with one receiver
    copies: dict[int, Copy]  # receiver -> copy, of a message with several
    past: list[Message]  # what its sender knew when it sent it: see noncausal.py

    def __init__(
        self, sender: Process, number: i64, sent_at: i64, payload_bytes: i64, note: object
    ) -> None:
        self.sender = sender
        self.number = number
        self.sent_at = sent_at
        self.payload_bytes = payload_bytes
        self.note = note
        self.job = 0
        self.waiting = 0
        self.sole = None
        self.copies = NO_COPIES
        self.past = NO_PAST

    def address(self, receiver: Process) -> Copy:
        """One more receiver."""
        copy = Copy(self, receiver)
        if self.waiting == 0:
            self.sole = copy
        else:
            if self.sole is not None:
                self.copies = {int(self.sole.receiver.index): self.sole}
                self.sole = None
            self.copies[int(receiver.index)] = copy
        self.waiting += 1
        return copy

    def close(self, copy: Copy) -> bool:
        """A receiver needs it no more; True if it was the last one: then it is forgotten."""
        copy.closed = True
        self.waiting -= 1
        if self.waiting:
            return False
        del self.sender.open[int(self.number)]
        self.past = NO_PAST  # or the whole history would hang on it
        return True

    def copy_to(self, receiver: Process) -> Copy | None:
        """The copy for a receiver; None if it is no receiver."""
        sole = self.sole
        if sole is not None:
            return sole if sole.receiver is receiver else None
        return self.copies.get(int(receiver.index))

    def all_copies(self) -> list[Copy]:
        """One for each receiver."""
        return list(self.copies.values()) if self.sole is None else [self.sole]


class Copy:
    """A message on its way to one receiver: the times at which things first happened to it."""

    message: Final[Message]
    receiver: Final[Process]
    released_at: i64  # network-sent
    arrived_at: i64  # received
    closed: bool  # delivered, or given up because one of the two is gone for ever

    def __init__(self, message: Message, receiver: Process) -> None:
        self.message = message
        self.receiver = receiver
        self.released_at = NEVER
        self.arrived_at = NEVER
        self.closed = False


class Delivery:
    """A message that was delivered at a process, and when."""

    time: Final[i64]
    message: Final[Message]

    def __init__(self, time: i64, message: Message) -> None:
        self.time = time
        self.message = message


class Sending:
    """A causal-send that waits until its process has time for it."""

    def __init__(self, receivers: list[Process], payload_bytes: i64, note: object) -> None:
        self.receivers = receivers
        self.payload_bytes = payload_bytes
        self.note = note


class Process:
    """One process: its core, and what the simulation knows about it."""

    index: Final[i64]
    name: Final[str]
    core: Final[Core]
    stopped: bool
    seq: i64  # events in its trace
    uplink_free_at: i64  # when the last byte that it has to send is out
    busy_until: i64  # the end of its last job
    outbox: deque[Sending]  # what it will send when it is no longer busy
    open: dict[int, Message]  # number -> message, of those not delivered everywhere
    oldest_open: i64  # no message with a lower number is open
    in_transit: i64  # copies that it has released and that have not arrived
    # For noncausal.py:
    known: list[Message]  # for each other sender with open messages that it knows of, the newest
    inbound: SlidingArray[Copy]  # copies on their way to it, in the order of their causal-send
    delivered: SlidingArray[Delivery]  # what it delivered since the oldest of those was sent
    mark: i64  # the round in which `marked` was set
    marked: i64  # what that round has to remember about this process

    def __init__(self, index: i64, name: str, core: Core) -> None:
        self.index = index
        self.name = name
        self.core = core
        self.stopped = False
        self.seq = 0
        self.uplink_free_at = 0
        self.busy_until = 0
        self.outbox = deque()
        self.open = {}
        self.oldest_open = 1
        self.in_transit = 0
        self.known = NO_PAST
        self.inbound = SlidingArray()
        self.delivered = SlidingArray()
        self.mark = 0
        self.marked = 0

    def first_open(self) -> i64:
        """The lowest number of an open message, or the number of the next one if none is open."""
        while self.oldest_open <= self.core.sent and int(self.oldest_open) not in self.open:
            self.oldest_open += 1
        return self.oldest_open


# Shared by all that have none; replaced, never changed.
NO_COPIES: Final[dict[int, Copy]] = {}
NO_PAST: Final[list[Message]] = []
