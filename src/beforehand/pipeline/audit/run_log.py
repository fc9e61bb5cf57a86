"""The log of one run as arrays, ready for the kernels.

`ProcessTable` numbers the processes and messages of a run; `RunLog` holds its events in those numbers.
"""

from __future__ import annotations

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

MOST_MESSAGES: Final = 2**31 - 1  # of one run: messages and copies are numbered in 32 bits
_IN_MEMORY: Final = (
    2**28
)  # bytes; larger arrays live in files, of which the system keeps what is in use

# What a process did besides sending and delivering, in bits.
GONE: Final = 1  # it crashed, or left, or somebody gave up on it
CUT_SHORT: Final = 2  # it was stopped before everything had arrived
JOINED: Final = 4  # it came while the others were at it
STARTED: Final = 8
STOPPED: Final = 16


def array(size: int, dtype: DTypeLike, fill: int = 0) -> Ints:
    """An array of one value, in a file without a name if it is large."""
    if size * np.dtype(dtype).itemsize <= _IN_MEMORY:
        return np.full(size, fill, dtype)
    with tempfile.TemporaryFile() as file:
        made: Ints = np.memmap(file, dtype, "w+", shape=(size,))
    if fill:
        made[:] = fill
    return made


@dataclass(frozen=True)
class ProcessTable:
    """The processes of a run in the order of their names."""

    names: list[str]
    largest: (
        Ints  # int64: the greatest number of a message of each, whether its sending is seen or not
    )
    rows: Ints  # int64: events of any kind in its log
    last: Ints  # int64: the greatest `seq` in it
    flags: Ints  # uint8: GONE and so on

    @cached_property
    def base(self) -> Ints:
        """Where the messages of each process begin, and after the last of them their number."""
        if float(self.largest.sum(dtype=np.float64)) > MOST_MESSAGES:
            raise TraceError(
                f"its messages have numbers up to {int(self.largest.max())}; number those of each "
                f"sender 1, 2, 3, ..., and split a run of more than {MOST_MESSAGES} messages"
            )
        return np.concatenate([[0], np.cumsum(self.largest)])

    @property
    def messages(self) -> int:
        """How many numbers there are for messages; some may never have been sent."""
        return int(self.base[-1])

    @cached_property
    def has_gaps(self) -> Ints:
        """Of which processes the log is not whole."""
        return np.asarray((self.rows != self.last) | (self.rows == 0) | self.is_open, np.uint8)

    @cached_property
    def is_open(self) -> Ints:
        """Of which processes the log has a beginning and no end, as if the process had been killed."""
        return np.asarray((self.flags & (STARTED | STOPPED)) == STARTED)


@dataclass
class RunLog:
    """The causal-sends and deliveries of a run; see `kernels` for what the arrays mean."""

    table: ProcessTable
    start: Ints
    events: Ints
    is_sent: Ints
    to_size: Ints  # int32: of each message, how many receivers it has; -1: everybody
    receivers_at: Ints  # int64: where they begin
    receivers: Ints  # int32: sorted for each message
    seq: Ints  # of each event
    numbers: Ints | None  # of each message in the trace, if they are not 1, 2, 3, ...

    @property
    def processes(self) -> int:
        """How many there are."""
        return len(self.table.names)

    @cached_property
    def sender(self) -> Ints:
        """Of each message."""
        made = array(self.table.messages, np.int32)
        for process, (begin, end) in enumerate(pairwise(self.table.base.tolist())):
            made[begin:end] = process
        return made

    @cached_property
    def copies_at(self) -> Ints:
        """Where the copies of each message begin, and after the last of them their number.

        One for each receiver; of a message for everybody, or that may have been sent while nobody
        wrote it down, one for each process.
        """
        counts = array(self.table.messages + 1, np.int64)
        assembly.count_copies(
            self.to_size, self.is_sent, self.sender, self.table.has_gaps, self.processes, counts
        )
        return counts

    def receivers_of(self, message: int) -> list[str]:
        """Whom a message was sent to; nobody if it was not sent."""
        names = self.table.names
        if not self.is_sent[message]:
            return []
        if self.to_size[message] < 0:
            return names
        begin = int(self.receivers_at[message])
        to = self.receivers[begin : begin + int(self.to_size[message])]
        return [names[each] for each in to.tolist()]

    def number(self, message: int) -> int:
        """The number of a message at its sender."""
        if self.numbers is not None:
            return int(self.numbers[message])
        return int(message - self.table.base[self.sender[message]] + 1)

    def id(self, message: int) -> MessageId:
        """A message as it is called everywhere else."""
        return MessageId(self.table.names[self.sender[message]], self.number(message))
