"""Fingerprints of worlds: the sum of the numbers of their parts, the smallest among all renamings.

Most steps change few parts, so the sums over the states, over the frames and over the clocks are kept
apart, for each renaming, and brought up to date.
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
    MESSAGE,
    SENDER,
    TO,
    Shape,
    Steps,
)
from beforehand.checker.packed.world_row import counter, pending

STATES: Final = 0
FLIGHT: Final = 1
CLOCKS: Final = 2
SUMS: Final = 3


@inlined
def copy_sums(sums: Ints, target: Ints) -> None:
    """Copy the sums of a world."""
    for kind in range(SUMS):
        for renaming in range(sums.shape[1]):
            target[kind, renaming] = sums[kind, renaming]


@bare
def measure(row: Ints, shape: Shape, steps: Steps, sums: Ints) -> None:
    """The sums of a world: [kind, renaming]."""
    for renaming in range(len(shape.renamed)):
        total = np.uint64(0)
        for process in range(shape.processes):
            total += steps.state_print[row[process], renaming]
        sums[STATES, renaming] = total
    _measure_frames(row, shape, steps, sums)
    _measure_clocks(row, shape, sums)


@bare
def remeasure(
    old: Ints,
    row: Ints,
    process: Int,
    outcome: Int,
    removed: Int,
    shape: Shape,
    steps: Steps,
    old_sums: Ints,
    sums: Ints,
) -> None:
    """The sums after a step of a process, with one frame (or, -1, none) taken out of flight."""
    group = len(shape.renamed)
    for renaming in range(group):
        sums[STATES, renaming] = old_sums[STATES, renaming]
        sums[FLIGHT, renaming] = old_sums[FLIGHT, renaming]
        sums[CLOCKS, renaming] = old_sums[CLOCKS, renaming]
        if removed >= 0:
            sums[FLIGHT, renaming] -= steps.frame_print[removed, renaming]
    if outcome >= 0:
        told = steps.outcomes[outcome]
        for renaming in range(group):
            before = steps.state_print[old[process], renaming]
            sums[STATES, renaming] += steps.state_print[told[AFTER], renaming] - before
            for place in range(told[FRAMES], told[FRAMES_END]):
                sums[FLIGHT, renaming] += steps.frame_print[steps.pool[place], renaming]
        if told[MESSAGE] >= 0 or told[DELIVERIES] < told[DELIVERIES_END]:
            _measure_clocks(row, shape, sums)
    if shape.fifo:
        _measure_frames(row, shape, steps, sums)


@bare
def _measure_frames(row: Ints, shape: Shape, steps: Steps, sums: Ints) -> None:
    """Of links that keep the order, how many frames are ahead counts too."""
    first = shape.faults_at + 3
    end = first + np.int64(row[first - 1])
    for renaming in range(len(shape.renamed)):
        total = np.uint64(0)
        for place in range(first, end):
            frame = row[place]
            value = steps.frame_print[frame, renaming]
            if shape.fifo:
                for other in range(first, place):
                    same = steps.frames[row[other], SENDER] == steps.frames[frame, SENDER]
                    if same and steps.frames[row[other], TO] == steps.frames[frame, TO]:
                        value = scrambled(value)
            total += value
        sums[FLIGHT, renaming] = total


@bare
def _measure_clocks(row: Ints, shape: Shape, sums: Ints) -> None:
    count = shape.processes
    for renaming in range(len(shape.renamed)):
        total = np.uint64(0)
        renamed = shape.renamed[renaming]
        for process in range(count):
            told = row[count + process]
            if told:
                for other in range(count):
                    value = counter(told, 4 * other)
                    total += shape.told_print[renamed[process], renamed[other], value]
        for message in range(shape.messages):
            waiting = pending(row, shape, message)
            if waiting:
                image = shape.renamed_message[renaming, message]
                total += shape.open_print[image, shape.renamed_mask[renaming, waiting]]
                clock = row[2 * count + message]
                for other in range(count):
                    value = counter(clock, 4 * other)
                    total += shape.clock_print[image, renamed[other], value]
        sums[CLOCKS, renaming] = total


@inlined
def fingerprint(row: Ints, shape: Shape, sums: Ints) -> Int:
    """The smallest among the renamings; never 0."""
    best = own_print(row, shape, sums, 0)
    for renaming in range(1, len(shape.renamed)):
        best = min(best, own_print(row, shape, sums, renaming))
    return best if best else np.uint64(1)


@inlined
def own_print(row: Ints, shape: Shape, sums: Ints, renaming: Int) -> Int:
    """The fingerprint of one renaming."""
    total = sums[STATES, renaming] + sums[FLIGHT, renaming] + sums[CLOCKS, renaming]
    return scrambled(total + np.uint64(row[shape.faults_at]) * np.uint64(0xD6E8FEB86659FD93))


@inlined
def scrambled(value: Int) -> Int:
    """Another number that looks random."""
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)


@bare
def print_of(row: Ints, shape: Shape, steps: Steps, sums: Ints) -> Int:
    """The fingerprint of a world, with room for its sums."""
    measure(row, shape, steps, sums)
    return fingerprint(row, shape, sums)
