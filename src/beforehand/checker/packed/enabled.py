"""Which events are enabled at a process of a world."""

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed import buffers, tables
from beforehand.checker.packed.buffers import Expansion, Workspace
from beforehand.checker.packed.hash_tables import find_step
from beforehand.checker.packed.local_steps import FAILED
from beforehand.checker.packed.tables import SearchConstants, StepTables
from beforehand.checker.packed.world_row import DUPLICATES, LOSSES, TICKS, counter


@inlined
def is_silent(outcome: Int, steps: StepTables) -> bool:
    """Whether a step sends no frame; a loss (outcome -1) changes nothing at all."""
    return bool(
        outcome < 0
        or steps.outcomes[outcome, tables.FRAMES] == steps.outcomes[outcome, tables.FRAMES_END]
    )


@inlined
def has_work(row: Ints, process: Int, constants: SearchConstants, steps: StepTables) -> bool:
    """Whether a process has program steps left, or a frame is on its way to it."""
    state = steps.states[row[process]]
    has = bool(state[tables.PROGRAM_STEPS] < state[tables.PROGRAM_STEPS_END])
    for at in range(
        constants.frames_at, constants.frames_at + np.int64(row[constants.in_flight_at])
    ):
        if steps.frames[row[at], tables.TO] == process:
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
    count = buffers.ZERO
    for at in range(
        steps.states[state, tables.PROGRAM_STEPS], steps.states[state, tables.PROGRAM_STEPS_END]
    ):
        count = _add_event(
            count, state, np.int64(steps.pool[at]), buffers.NONE, buffers.ARRIVE, work
        )
    for index in range(np.int64(row[constants.in_flight_at])):
        frame = np.int64(row[constants.frames_at + index])
        if steps.frames[frame, tables.TO] == process and _is_next(row, index, constants, steps):
            event = constants.first_arrival + frame
            count = _add_event(count, state, event, index, buffers.ARRIVE, work)
            if counter(faults, DUPLICATES) < constants.duplicates:
                count = _add_event(count, state, event, index, buffers.DUPLICATE, work)
            if counter(faults, LOSSES) < constants.losses:
                count = _add_event(count, state, event, index, buffers.LOSE, work)
    if counter(faults, TICKS) < constants.ticks:
        tick = np.int64(constants.tick[process])
        before = count
        count = _add_event(count, state, tick, buffers.NONE, buffers.ARRIVE, work)
        if count > before and changes_nothing(
            state, work.scratch.enabled[before, buffers.OUTCOME], steps
        ):
            count = before
    return count


@bare
def _add_event(count: Int, state: Int, event: Int, index: Int, fate: Int, work: Workspace) -> Int:
    """Append an event to the list, or request its outcome; returns the new length of the list."""
    steps, enabled = work.steps, work.scratch.enabled
    outcome = buffers.NONE
    known = True
    if fate != buffers.LOSE:
        key = np.uint64(state) << np.uint64(32) | np.uint64(event)
        outcome = find_step(steps.keys, steps.values, key)
        if outcome < 0:
            known = False
            add_missing(key, work.expansion)
    if known and count < buffers.MOST_EVENTS:
        enabled[count, buffers.EVENT] = event
        enabled[count, buffers.OUTCOME] = outcome
        enabled[count, buffers.FRAME_INDEX] = index
        enabled[count, buffers.FRAME_FATE] = fate
        count += 1
    elif known:
        work.expansion.status[buffers.OVERFLOW] = buffers.TOO_MANY_BRANCHES
    return count


@inlined
def add_missing(key: Int, expansion: Expansion) -> None:
    """Request a local step that has not been run yet."""
    count = expansion.status[buffers.MISSING]
    if count == len(expansion.missing):
        expansion.status[buffers.OVERFLOW] = buffers.EXPANSION_FULL
    else:
        expansion.missing[count] = key
        expansion.status[buffers.MISSING] = count + 1


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
        steps.frames[frame, tables.SENDER] == steps.frames[other, tables.SENDER]
        and steps.frames[frame, tables.TO] == steps.frames[other, tables.TO]
    )


@inlined
def changes_nothing(state: Int, outcome: Int, steps: StepTables) -> bool:
    """Whether a tick has no effect at all; a failure is an effect."""
    after = steps.outcomes[outcome]
    same = after[tables.AFTER] == state and after[tables.FRAMES] == after[tables.FRAMES_END]
    delivers = after[tables.DELIVERIES] < after[tables.DELIVERIES_END]
    return bool(same and not delivers and not after[tables.FLAGS] & FAILED)
