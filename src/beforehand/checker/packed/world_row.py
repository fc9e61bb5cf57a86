"""A world as a row of 32-bit numbers.

    states of the processes | what each was told | clocks of the messages | who has yet to deliver
    them | faults | actions so far | how many frames are in flight | the frames, in order of sending

Clocks are half bytes, one for each process. Only open messages have one, those that somebody has yet
to deliver; and every count in a clock is rounded down to the last open message of its process, as in
`Oracle.fingerprint`: what is older will never be asked for. Of its own messages a process is only ever
asked about those that it has yet to deliver itself. The rule of the oracle is in `_deliver`: a delivery
of message k of process i is wrong at a process that was told of k or later of i already, or that does
not have to deliver it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed.tables import (
    AFTER,
    DELIVERIES,
    DELIVERIES_END,
    FRAMES,
    FRAMES_END,
    IDLE,
    MESSAGE,
    RECEIVERS,
    Shape,
    Steps,
)

FINE: Final = 0
WRONG: Final = 1  # the delivery breaks a promise
FULL: Final = 2  # no room for the frames

# Counters of four bits in the word of faults.
LOSSES: Final = 0
DUPLICATES: Final = 4
TICKS: Final = 8
ROUNDS: Final = 12  # of timers, when nothing else was left

_FOUR: Final[Int] = np.uint32(15)
_EIGHT: Final[Int] = np.uint32(255)


@inlined
def counter(word: Int, which: Int) -> Int:
    """One of the counters in the word of faults, or a count in a clock."""
    return np.int64(word >> np.uint32(which) & _FOUR)


@inlined
def with_counter(word: Int, which: Int, value: Int) -> Int:
    """The word with another value for one of its counters."""
    return np.uint32(word & ~(_FOUR << np.uint32(which)) | np.uint32(value) << np.uint32(which))


@inlined
def copy_row(row: Ints, target: Ints) -> None:
    """Copy a row; assigning slices would do the same, but takes numba seconds to compile."""
    for place in range(len(row)):
        target[place] = row[place]


@inlined
def count_fault(row: Ints, shape: Shape, which: Int) -> None:
    """One more fault of a kind."""
    word = row[shape.faults_at]
    row[shape.faults_at] = with_counter(word, which, counter(word, which) + 1)


@inlined
def pending(row: Ints, shape: Shape, message: Int) -> Int:
    """Who has yet to deliver a message, as bits; four messages share a word."""
    word = row[shape.pending_at + message // 4]
    return np.int64(word >> np.uint32(8 * (message % 4)) & _EIGHT)


@inlined
def set_pending(row: Ints, shape: Shape, message: Int, receivers: Int) -> None:
    """Say who has yet to deliver a message."""
    place = shape.pending_at + message // 4
    shift = np.uint32(8 * (message % 4))
    row[place] = np.uint32(row[place] & ~(_EIGHT << shift) | np.uint32(receivers) << shift)


@bare
def apply(row: Ints, process: Int, outcome: Int, shape: Shape, steps: Steps) -> Int:
    """Let a local step happen in a world; returns FINE, WRONG or FULL."""
    told = steps.outcomes[outcome]
    row[process] = told[AFTER]
    message = told[MESSAGE]
    if message >= 0 and told[RECEIVERS]:
        number = np.uint32(shape.number[message]) << np.uint32(4 * process)
        known = row[shape.processes + process] & ~(_FOUR << np.uint32(4 * process))
        row[2 * shape.processes + message] = known | number
        set_pending(row, shape, message, told[RECEIVERS])
    result = FINE
    for place in range(told[DELIVERIES], told[DELIVERIES_END]):
        if result == FINE and not _deliver(row, process, steps.pool[place], shape):
            result = WRONG
    if message >= 0 or told[DELIVERIES] < told[DELIVERIES_END]:
        _round(row, shape)
    flying = shape.faults_at + 2
    count = np.int64(row[flying])
    if flying + 1 + count + told[FRAMES_END] - told[FRAMES] > len(row):
        result = FULL
    else:
        for place in range(told[FRAMES], told[FRAMES_END]):
            count += 1
            row[flying + count] = steps.pool[place]
        row[flying] = count
    return result


@inlined
def _deliver(row: Ints, process: Int, message: Int, shape: Shape) -> bool:
    fine = False
    if message >= 0:
        waiting = pending(row, shape, message)
        told = row[shape.processes + process]
        heard = counter(told, 4 * shape.sender[message])
        if waiting >> process & 1 and heard < shape.number[message]:
            fine = True
            clock = row[2 * shape.processes + message]
            merged = np.uint32(0)
            for other in range(shape.processes):
                count = max(counter(told, 4 * other), counter(clock, 4 * other))
                merged |= np.uint32(count) << np.uint32(4 * other)
            row[shape.processes + process] = merged
            waiting &= ~(1 << process)
            set_pending(row, shape, message, waiting)
            if not waiting:
                row[2 * shape.processes + message] = 0
    return fine


@inlined
def _round(row: Ints, shape: Shape) -> None:
    """Round every count down to the last message of its process that will still be asked for."""
    count = shape.processes
    for process in range(count):
        opened = 0
        own = 0
        for message in range(shape.first_message[process], shape.first_message[process + 1]):
            waiting = pending(row, shape, message)
            if waiting:
                opened |= 1 << shape.number[message]
            if waiting >> process & 1:
                own |= 1 << shape.number[message]
        for place in range(count, 2 * count + shape.messages):
            value = counter(row[place], 4 * process)
            if value:
                asked = own if place == count + process else opened
                while value and not asked >> value & 1:
                    value -= 1
                row[place] = with_counter(row[place], 4 * process, value)


@inlined
def remove_frame(row: Ints, shape: Shape, index: Int) -> None:
    """Take a frame out of flight."""
    flying = shape.faults_at + 2
    left = np.int64(row[flying]) - 1
    row[flying] = left
    for place in range(flying + 1 + index, flying + 1 + left):
        row[place] = row[place + 1]


@inlined
def is_complete(row: Ints, shape: Shape, steps: Steps) -> bool:
    """Whether everything is delivered and nobody waits for anything."""
    complete = True
    for place in range(shape.pending_at, shape.faults_at):
        if row[place]:
            complete = False
    for process in range(shape.processes):
        if not steps.states[row[process], IDLE]:
            complete = False
    return complete
