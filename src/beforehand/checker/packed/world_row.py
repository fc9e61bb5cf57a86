"""A world as a row of 32-bit numbers.

    local states | clocks of processes | clocks of open messages | their receivers yet to deliver them
    | fault counters | actions so far | number of frames in flight | the frames, in order of sending

Clocks have four bits per process. Only open messages have one, those that some receiver has yet to
deliver; and every count in a clock is rounded down to the last open message of that process, as in
`Oracle.fingerprint`: older messages will never be asked about. Of its own messages a process is only
asked about those that it has yet to deliver itself. The rule of the oracle is in `_deliver`:
delivering message k of process i is wrong if the clock of the receiver already covers k, or if the
receiver does not have to deliver it.
"""

from typing import Final

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed import tables
from beforehand.checker.packed.tables import SearchConstants, StepTables

FINE: Final = 0
WRONG: Final = 1  # a delivery breaks a guarantee, or the core failed
FULL: Final = 2  # the frames do not fit into the row

# Shifts of the four-bit counters in the word of faults.
LOSSES: Final = 0
DUPLICATES: Final = 4
TICKS: Final = 8
ROUNDS: Final = 12  # of all timers, when nothing else could happen

_FOUR_BITS: Final[Int] = np.uint32(15)
_EIGHT_BITS: Final[Int] = np.uint32(255)


@inlined
def counter(word: Int, shift: Int) -> Int:
    """A counter in the word of faults, or a count in a clock."""
    return np.int64(word >> np.uint32(shift) & _FOUR_BITS)


@inlined
def with_counter(word: Int, shift: Int, value: Int) -> Int:
    """The word with another value for one of its counters."""
    return np.uint32(
        word & ~(_FOUR_BITS << np.uint32(shift)) | np.uint32(value) << np.uint32(shift)
    )


@inlined
def copy_row(row: Ints, target: Ints) -> None:
    """Copy a row; assigning a slice would do the same, but takes numba seconds to compile."""
    for column in range(len(row)):
        target[column] = row[column]


@inlined
def count_fault(row: Ints, constants: SearchConstants, shift: Int) -> None:
    """Count one more fault of a kind."""
    word = row[constants.faults_at]
    row[constants.faults_at] = with_counter(word, shift, counter(word, shift) + 1)


@inlined
def pending(row: Ints, constants: SearchConstants, message: Int) -> Int:
    """The receivers that have yet to deliver a message, as bits; four messages share a word."""
    word = row[constants.pending_at + message // 4]
    return np.int64(word >> np.uint32(8 * (message % 4)) & _EIGHT_BITS)


@inlined
def set_pending(row: Ints, constants: SearchConstants, message: Int, receivers: Int) -> None:
    """Set the receivers that have yet to deliver a message."""
    at = constants.pending_at + message // 4
    shift = np.uint32(8 * (message % 4))
    row[at] = np.uint32(row[at] & ~(_EIGHT_BITS << shift) | np.uint32(receivers) << shift)


@bare
def apply(
    row: Ints, process: Int, outcome: Int, constants: SearchConstants, steps: StepTables
) -> Int:
    """Apply the outcome of a local step to a world; returns FINE, WRONG or FULL."""
    after = steps.outcomes[outcome]
    row[process] = after[tables.AFTER]
    message = after[tables.MESSAGE]
    if message >= 0 and after[tables.RECEIVERS]:
        number = np.uint32(constants.number[message]) << np.uint32(4 * process)
        clock = row[constants.process_clocks_at + process] & ~(_FOUR_BITS << np.uint32(4 * process))
        row[constants.message_clocks_at + message] = clock | number
        set_pending(row, constants, message, after[tables.RECEIVERS])
    result = FINE
    for at in range(after[tables.DELIVERIES], after[tables.DELIVERIES_END]):
        if result == FINE and not _deliver(row, process, steps.pool[at], constants):
            result = WRONG
    if message >= 0 or after[tables.DELIVERIES] < after[tables.DELIVERIES_END]:
        _round_clocks(row, constants)
    count = np.int64(row[constants.in_flight_at])
    if constants.frames_at + count + after[tables.FRAMES_END] - after[tables.FRAMES] > len(row):
        result = FULL
    else:
        for at in range(after[tables.FRAMES], after[tables.FRAMES_END]):
            row[constants.frames_at + count] = steps.pool[at]
            count += 1
        row[constants.in_flight_at] = count
    return result


@inlined
def _deliver(row: Ints, process: Int, message: Int, constants: SearchConstants) -> bool:
    fine = False
    if message >= 0:
        waiting = pending(row, constants, message)
        known = row[constants.process_clocks_at + process]
        covered = counter(known, 4 * constants.sender[message])
        if waiting >> process & 1 and covered < constants.number[message]:
            fine = True
            clock = row[constants.message_clocks_at + message]
            merged = np.uint32(0)
            for other in range(constants.processes):
                count = max(counter(known, 4 * other), counter(clock, 4 * other))
                merged |= np.uint32(count) << np.uint32(4 * other)
            row[constants.process_clocks_at + process] = merged
            waiting &= ~(1 << process)
            set_pending(row, constants, message, waiting)
            if not waiting:
                row[constants.message_clocks_at + message] = 0
    return fine


@inlined
def _round_clocks(row: Ints, constants: SearchConstants) -> None:
    """Round every count down to the last message of its process that may still be asked about."""
    for process in range(constants.processes):
        opened = 0  # the open messages of the process, as bits, ...
        own = 0  # ... and those to itself
        for message in range(
            constants.first_message[process], constants.first_message[process + 1]
        ):
            waiting = pending(row, constants, message)
            if waiting:
                opened |= 1 << constants.number[message]
            if waiting >> process & 1:
                own |= 1 << constants.number[message]
        for at in range(constants.process_clocks_at, constants.pending_at):
            value = counter(row[at], 4 * process)
            if value:
                asked = own if at == constants.process_clocks_at + process else opened
                while value and not asked >> value & 1:
                    value -= 1
                row[at] = with_counter(row[at], 4 * process, value)


@inlined
def remove_frame(row: Ints, constants: SearchConstants, index: Int) -> None:
    """Remove a frame from those in flight."""
    remaining = np.int64(row[constants.in_flight_at]) - 1
    row[constants.in_flight_at] = remaining
    for at in range(constants.frames_at + index, constants.frames_at + remaining):
        row[at] = row[at + 1]


@inlined
def is_complete(row: Ints, constants: SearchConstants, steps: StepTables) -> bool:
    """Whether everything is delivered and every core is idle."""
    complete = True
    for at in range(constants.pending_at, constants.faults_at):
        if row[at]:
            complete = False
    for process in range(constants.processes):
        if not steps.states[row[process], tables.IDLE]:
            complete = False
    return complete
