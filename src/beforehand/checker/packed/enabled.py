"""Which events are enabled at a process of a world."""

from __future__ import annotations

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed.buffers import (
    ARRIVE,
    DUPLICATE,
    EVENT,
    EXPANSION_FULL,
    FRAME_FATE,
    FRAME_INDEX,
    LOSE,
    MISSING,
    MOST_EVENTS,
    NONE,
    OUTCOME,
    OVERFLOW,
    TOO_MANY_BRANCHES,
    ZERO,
    Expansion,
    Workspace,
)
from beforehand.checker.packed.hash_tables import find_step
from beforehand.checker.packed.local_steps import FAILED
from beforehand.checker.packed.tables import (
    AFTER,
    DELIVERIES,
    DELIVERIES_END,
    FLAGS,
    FRAMES,
    FRAMES_END,
    PROGRAM_STEPS,
    PROGRAM_STEPS_END,
    SENDER,
    TO,
    SearchConstants,
    StepTables,
)
from beforehand.checker.packed.world_row import DUPLICATES, LOSSES, TICKS, counter


@inlined
def is_silent(outcome: Int, steps: StepTables) -> bool:
    """Whether a step sends no frame; a loss (outcome -1) changes nothing at all."""
    return bool(
        outcome < 0 or steps.outcomes[outcome, FRAMES] == steps.outcomes[outcome, FRAMES_END]
    )


@inlined
def has_work(row: Ints, process: Int, constants: SearchConstants, steps: StepTables) -> bool:
    """Whether a process has program steps left, or a frame is on its way to it."""
    state = steps.states[row[process]]
    has = bool(state[PROGRAM_STEPS] < state[PROGRAM_STEPS_END])
    for at in range(
        constants.frames_at, constants.frames_at + np.int64(row[constants.in_flight_at])
    ):
        if steps.frames[row[at], TO] == process:
            has = True
    return has


@bare
def list_enabled(row: Ints, process: Int, work: Workspace) -> Int:
    """List the events that are enabled at a process in `scratch.enabled`; returns how many.

    Those whose outcome is not known yet are requested instead.
    """
    constants, steps = work.constants, work.steps
    state = np.int64(row[process])
    faults = row[constants.faults_at]
    count = ZERO
    for at in range(steps.states[state, PROGRAM_STEPS], steps.states[state, PROGRAM_STEPS_END]):
        count = _add_event(count, state, np.int64(steps.pool[at]), NONE, ARRIVE, work)
    for index in range(np.int64(row[constants.in_flight_at])):
        frame = np.int64(row[constants.frames_at + index])
        if steps.frames[frame, TO] == process and _is_next(row, index, constants, steps):
            event = constants.first_arrival + frame
            count = _add_event(count, state, event, index, ARRIVE, work)
            if counter(faults, DUPLICATES) < constants.duplicates:
                count = _add_event(count, state, event, index, DUPLICATE, work)
            if counter(faults, LOSSES) < constants.losses:
                count = _add_event(count, state, event, index, LOSE, work)
    if counter(faults, TICKS) < constants.ticks:
        tick = np.int64(constants.tick[process])
        before = count
        count = _add_event(count, state, tick, NONE, ARRIVE, work)
        if count > before and changes_nothing(state, work.scratch.enabled[before, OUTCOME], steps):
            count = before
    return count


@bare
def _add_event(count: Int, state: Int, event: Int, index: Int, fate: Int, work: Workspace) -> Int:
    """Append an event to the list, or request its outcome; returns the new length of the list."""
    steps, enabled = work.steps, work.scratch.enabled
    outcome = NONE
    known = True
    if fate != LOSE:
        key = np.uint64(state) << np.uint64(32) | np.uint64(event)
        outcome = find_step(steps.keys, steps.values, key)
        if outcome < 0:
            known = False
            add_missing(key, work.expansion)
    if known and count < MOST_EVENTS:
        enabled[count, EVENT] = event
        enabled[count, OUTCOME] = outcome
        enabled[count, FRAME_INDEX] = index
        enabled[count, FRAME_FATE] = fate
        count += 1
    elif known:
        work.expansion.status[OVERFLOW] = TOO_MANY_BRANCHES
    return count


@inlined
def add_missing(key: Int, expansion: Expansion) -> None:
    """Request a local step that has not been run yet."""
    count = expansion.status[MISSING]
    if count == len(expansion.missing):
        expansion.status[OVERFLOW] = EXPANSION_FULL
    else:
        expansion.missing[count] = key
        expansion.status[MISSING] = count + 1


@inlined
def _is_next(row: Ints, index: Int, constants: SearchConstants, steps: StepTables) -> bool:
    """Whether a frame can be the next to arrive, and no equal one was listed before."""
    frame = row[constants.frames_at + index]
    is_next = True
    for other in range(constants.frames_at, constants.frames_at + index):
        if row[other] == frame or (constants.fifo and same_link(row[other], frame, steps)):
            is_next = False
    return is_next


@inlined
def same_link(frame: Int, other: Int, steps: StepTables) -> bool:
    """Whether two frames are between the same two processes, in the same direction."""
    return bool(
        steps.frames[frame, SENDER] == steps.frames[other, SENDER]
        and steps.frames[frame, TO] == steps.frames[other, TO]
    )


@inlined
def changes_nothing(state: Int, outcome: Int, steps: StepTables) -> bool:
    """Whether a tick has no effect at all; a failure is an effect."""
    after = steps.outcomes[outcome]
    same = after[AFTER] == state and after[FRAMES] == after[FRAMES_END]
    delivers = after[DELIVERIES] < after[DELIVERIES_END]
    return bool(same and not delivers and not after[FLAGS] & FAILED)
