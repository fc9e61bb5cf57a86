"""The log of one run as arrays, ready for the kernels.

`ProcessTable` numbers the processes and messages of a run; `RunLog` holds its events in those numbers.
"""

import tempfile
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from beforehand._kernel import Ints
from beforehand.causality.ids import MessageId
from beforehand.errors import TraceError
from beforehand.pipeline.audit.kernels import assembly
from beforehand.pipeline.audit.kernels.arrays import LogArrays

MOST_MESSAGES: Final = 2**31 - 1  # of one run: messages and copies are numbered in 32 bits
_IN_MEMORY: Final = 2**28  # bytes; larger arrays are memory-mapped files

# What a process did besides sending and delivering, in bits.
GONE: Final = 1  # it crashed, left, or was evicted
CUT_SHORT: Final = 2  # it was stopped before everything had arrived
JOINED: Final = 4  # it joined while the others were running
STARTED: Final = 8
STOPPED: Final = 16


def array(size: int, dtype: DTypeLike, fill: int = 0) -> Ints:
    """An array filled with one value, in an anonymous file if it is large."""
    if size * np.dtype(dtype).itemsize <= _IN_MEMORY:
        return np.full(size, fill, dtype)
    with tempfile.TemporaryFile() as file:
        mapped: Ints = np.memmap(file, dtype, "w+", shape=(size,))
    if fill:
        mapped[:] = fill
    return mapped


@dataclass(frozen=True)
class ProcessTable:
    """The processes of a run in the order of their names."""

    names: list[str]
    largest: Ints  # int64: the greatest number of a message of each, also of one never sent
    rows: Ints  # int64: events of any kind in its log
    last: Ints  # int64: the greatest `seq` among them
    flags: Ints  # uint8: GONE and so on

    @cached_property
    def base(self) -> Ints:
        """Where the messages of each process begin, and after the last their number."""
        if float(self.largest.sum(dtype=np.float64)) > MOST_MESSAGES:
            raise TraceError(
                f"message numbers go up to {int(self.largest.max())}; number the messages of each "
                f"sender 1, 2, 3, ..., and split runs of more than {MOST_MESSAGES} messages"
            )
        return np.concatenate([[0], np.cumsum(self.largest)])

    @property
    def messages(self) -> int:
        """How many message numbers there are; some may never have been sent."""
        return int(self.base[-1])

    @cached_property
    def has_gaps(self) -> Ints:
        """Which processes have an incomplete log."""
        return np.asarray((self.rows != self.last) | (self.rows == 0) | self.is_open, np.uint8)

    @cached_property
    def is_open(self) -> Ints:
        """Which processes have a start and no stop in their log, as if they had been killed."""
        return np.asarray((self.flags & (STARTED | STOPPED)) == STARTED)


@dataclass
class RunLog:
    """The causal-sends and deliveries of a run; `kernels/arrays.py` explains the arrays."""

    table: ProcessTable
    start: Ints
    events: Ints
    is_sent: Ints
    to_size: Ints
    receivers_at: Ints
    receivers: Ints
    seq: Ints  # of each event
    numbers: Ints | None  # of each message in the trace, if they aren't 1, 2, 3, ...

    @cached_property
    def arrays(self) -> LogArrays:
        """What the kernels take."""
        return LogArrays(
            start=self.start,
            events=self.events,
            base=self.table.base,
            sender=self.sender,
            is_sent=self.is_sent,
            has_gaps=self.table.has_gaps,
            to_size=self.to_size,
            receivers_at=self.receivers_at,
            receivers=self.receivers,
            copies_at=self.copies_at,
        )

    @property
    def processes(self) -> int:
        """How many processes."""
        return len(self.table.names)

    @cached_property
    def sender(self) -> Ints:
        """Of each message."""
        senders = array(self.table.messages, np.int32)
        for process, (begin, end) in enumerate(pairwise(self.table.base.tolist())):
            senders[begin:end] = process
        return senders

    @cached_property
    def copies_at(self) -> Ints:
        """Where the copies of each message begin, and after the last their number.

        There is one for each receiver; of a broadcast, or of a message that may have been sent during a
        gap in the log, one for each process.
        """
        counts = array(self.table.messages + 1, np.int64)
        assembly.count_copies(
            self.to_size, self.is_sent, self.sender, self.table.has_gaps, self.processes, counts
        )
        return counts

    def receivers_of(self, message: int) -> list[str]:
        """The receivers of a message; empty if it wasn't sent."""
        names = self.table.names
        if not self.is_sent[message]:
            return []
        if self.to_size[message] < 0:
            return names
        begin = int(self.receivers_at[message])
        to = self.receivers[begin : begin + int(self.to_size[message])]
        return [names[receiver] for receiver in to.tolist()]

    def number(self, message: int) -> int:
        """The number of a message at its sender."""
        if self.numbers is not None:
            return int(self.numbers[message])
        return int(message - self.table.base[self.sender[message]] + 1)

    def id(self, message: int) -> MessageId:
        """The id of a message, as all other code knows it."""
        return MessageId(self.table.names[self.sender[message]], self.number(message))
