"""Fingerprints of worlds: the sum of the hashes of their parts, the smallest among all renamings.

Most steps change few parts, so the sums over states, frames and clocks are kept apart, for each
renaming, and updated.
"""

import numpy as np

from beforehand._kernel import Int, Ints, bare, compiled, inlined
from beforehand.checker.packed import buffers, tables
from beforehand.checker.packed.buffers import Scratch
from beforehand.checker.packed.tables import SearchConstants, StepTables
from beforehand.checker.packed.world_row import counter, pending


@inlined
def copy_sums(sums: Ints, target: Ints) -> None:
    """Copy the partial sums of a world."""
    for part in range(buffers.SUMS):
        for renaming in range(sums.shape[1]):
            target[part, renaming] = sums[part, renaming]


@bare
def compute_sums(row: Ints, constants: SearchConstants, steps: StepTables, sums: Ints) -> None:
    """The partial sums of a world: [part, renaming]."""
    for renaming in range(len(constants.renamed)):
        total = np.uint64(0)
        for process in range(constants.processes):
            total += steps.state_hash[row[process], renaming]
        sums[buffers.STATE_SUM, renaming] = total
    _sum_frames(row, constants, steps, sums)
    _sum_clocks(row, constants, sums)


@bare
def update(
    scratch: Scratch,
    source: Int,
    process: Int,
    outcome: Int,
    removed: Int,
    constants: SearchConstants,
    steps: StepTables,
) -> None:
    """The sums of the world being built, after a step of a process from the world at `source`.

    `removed` is the frame that was taken out of flight, or -1.
    """
    old, row = scratch.rows[source], scratch.rows[buffers.MOST_SILENT]
    old_sums, sums = scratch.sums[source], scratch.sums[buffers.MOST_SILENT]
    group = len(constants.renamed)
    for renaming in range(group):
        sums[buffers.STATE_SUM, renaming] = old_sums[buffers.STATE_SUM, renaming]
        sums[buffers.FRAME_SUM, renaming] = old_sums[buffers.FRAME_SUM, renaming]
        sums[buffers.CLOCK_SUM, renaming] = old_sums[buffers.CLOCK_SUM, renaming]
        if removed >= 0:
            sums[buffers.FRAME_SUM, renaming] -= steps.frame_hash[removed, renaming]
    if outcome >= 0:
        after = steps.outcomes[outcome]
        for renaming in range(group):
            before = steps.state_hash[old[process], renaming]
            sums[buffers.STATE_SUM, renaming] += (
                steps.state_hash[after[tables.AFTER], renaming] - before
            )
            for at in range(after[tables.FRAMES], after[tables.FRAMES_END]):
                sums[buffers.FRAME_SUM, renaming] += steps.frame_hash[steps.pool[at], renaming]
        if after[tables.MESSAGE] >= 0 or after[tables.DELIVERIES] < after[tables.DELIVERIES_END]:
            _sum_clocks(row, constants, sums)
    if constants.fifo:
        _sum_frames(row, constants, steps, sums)


@bare
def _sum_frames(row: Ints, constants: SearchConstants, steps: StepTables, sums: Ints) -> None:
    """On FIFO links, the number of frames ahead of a frame counts too."""
    first = constants.frames_at
    end = first + np.int64(row[constants.in_flight_at])
    for renaming in range(len(constants.renamed)):
        total = np.uint64(0)
        for at in range(first, end):
            frame = row[at]
            value = steps.frame_hash[frame, renaming]
            if constants.fifo:
                for other in range(first, at):
                    same = (
                        steps.frames[row[other], tables.SENDER]
                        == steps.frames[frame, tables.SENDER]
                    )
                    if (
                        same
                        and steps.frames[row[other], tables.TO] == steps.frames[frame, tables.TO]
                    ):
                        value = scrambled(value)
            total += value
        sums[buffers.FRAME_SUM, renaming] = total


@bare
def _sum_clocks(row: Ints, constants: SearchConstants, sums: Ints) -> None:
    count = constants.processes
    for renaming in range(len(constants.renamed)):
        total = np.uint64(0)
        renamed = constants.renamed[renaming]
        for process in range(count):
            clock = row[constants.process_clocks_at + process]
            if clock:
                for other in range(count):
                    value = counter(clock, 4 * other)
                    total += constants.process_clock_hash[renamed[process], renamed[other], value]
        for message in range(constants.messages):
            waiting = pending(row, constants, message)
            if waiting:
                image = constants.renamed_message[renaming, message]
                total += constants.pending_hash[image, constants.renamed_set[renaming, waiting]]
                clock = row[constants.message_clocks_at + message]
                for other in range(count):
                    value = counter(clock, 4 * other)
                    total += constants.message_clock_hash[image, renamed[other], value]
        sums[buffers.CLOCK_SUM, renaming] = total


@inlined
def fingerprint(row: Ints, constants: SearchConstants, sums: Ints) -> Int:
    """The fingerprint of a world up to renaming: the smallest of all renamings; never 0."""
    best = renamed_fingerprint(row, constants, sums, 0)
    for renaming in range(1, len(constants.renamed)):
        best = min(best, renamed_fingerprint(row, constants, sums, renaming))
    return best if best else np.uint64(1)


@inlined
def renamed_fingerprint(row: Ints, constants: SearchConstants, sums: Ints, renaming: Int) -> Int:
    """The fingerprint of a world under one renaming."""
    total = (
        sums[buffers.STATE_SUM, renaming]
        + sums[buffers.FRAME_SUM, renaming]
        + sums[buffers.CLOCK_SUM, renaming]
    )
    return scrambled(total + np.uint64(row[constants.faults_at]) * np.uint64(0xD6E8FEB86659FD93))


@inlined
def scrambled(value: Int) -> Int:
    """Mix the bits of a number."""
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)


@compiled
def fingerprint_of(row: Ints, constants: SearchConstants, steps: StepTables, sums: Ints) -> Int:
    """The fingerprint of a world; `sums` is scratch."""
    compute_sums(row, constants, steps, sums)
    return fingerprint(row, constants, sums)
