"""The loop of an exploration: all successors of many worlds.

**Partial-order reduction.** A step that sends no frame is *silent*: no other process can observe
whether it has happened. In any run it can be postponed until right before the next step of its
process, or to the end of the run if there is none. So one step of the reduced search is a step of one
process that is not silent, right after any number of silent ones of the same process; and the ends of
runs are found by letting all processes, one after the other, do silently whatever they can until
nothing remains to be done. See docs/checker.md.
"""

import numpy as np

from beforehand._kernel import Int, Ints, bare, compiled, inlined
from beforehand.checker.packed import buffers
from beforehand.checker.packed.buffers import Workspace
from beforehand.checker.packed.enabled import (
    add_missing,
    changes_nothing,
    has_work,
    is_silent,
    list_enabled,
    same_link,
)
from beforehand.checker.packed.fingerprints import (
    compute_sums,
    copy_sums,
    fingerprint,
    renamed_fingerprint,
    update,
)
from beforehand.checker.packed.hash_tables import find_step, has_fingerprint, owner
from beforehand.checker.packed.local_steps import FAILED
from beforehand.checker.packed.tables import FLAGS
from beforehand.checker.packed.world_row import (
    DUPLICATES,
    FINE,
    FULL,
    LOSSES,
    ROUNDS,
    TICKS,
    WRONG,
    apply,
    copy_row,
    count_fault,
    counter,
    is_complete,
    remove_frame,
)


@compiled
def expand(rows: Ints, which: Ints, work: Workspace) -> None:
    """Collect the successors of some of the rows that are not visited yet, until a buffer is full.

    A row whose local steps are not all known is to be expanded again later.
    """
    _expand(rows, which, work)


@bare
def _expand(rows: Ints, which: Ints, work: Workspace) -> None:
    constants, steps, scratch = work.constants, work.steps, work.scratch
    status = work.expansion.status
    for entry in range(buffers.STATUS_SIZE):
        status[entry] = 0
    sums = scratch.sums[buffers.MOST_SILENT + 1]
    for index in which:
        row = rows[index]
        missing, successors = status[buffers.MISSING], status[buffers.SUCCESSORS]
        transitions = status[buffers.TRANSITIONS]
        compute_sums(row, constants, steps, sums)
        busy = False
        can_end = True
        for process in range(constants.processes):
            copy_row(row, scratch.rows[0])
            copy_sums(sums, scratch.sums[0])
            works = has_work(scratch.rows[0], process, constants, steps)
            reached = _advance(process, index, buffers.ANY_STEP, work)
            busy = busy or works
            can_end = can_end and (reached > 1 or not works)
        if (
            status[buffers.MISSING] == missing
            and not status[buffers.PROBLEM]
            and not status[buffers.OVERFLOW]
        ):
            if not busy:
                copy_row(row, scratch.ends[0, 0])
                _end(scratch.ends[0, 0], index, work)
            elif constants.reduce and can_end:
                _finish_silently(row, index, work)
        if status[buffers.PROBLEM]:
            return
        if status[buffers.OVERFLOW] or status[buffers.MISSING] > missing:
            status[buffers.SUCCESSORS] = successors
            status[buffers.TRANSITIONS] = transitions
        if status[buffers.OVERFLOW]:
            return
        if status[buffers.MISSING] > missing:
            work.expansion.retry[status[buffers.RETRIES]] = index
            status[buffers.RETRIES] += 1
        status[buffers.ROWS_DONE] += 1


@bare
def _advance(process: Int, parent: Int, wanted: Int, work: Workspace) -> Int:
    """Let a process go on from the first scratch world, silently as far as it can.

    The worlds on the way are left in the scratch buffers; returns how many. Those reached by a step
    that is not silent are successors, if these are wanted.
    """
    constants, steps, scratch = work.constants, work.steps, work.scratch
    status = work.expansion.status
    scratch.fingerprints[0] = renamed_fingerprint(scratch.rows[0], constants, scratch.sums[0], 0)
    size = 1
    at = buffers.ZERO
    last = buffers.MOST_SILENT
    while at < size:
        count = list_enabled(scratch.rows[at], process, work)
        for number in range(count):
            event = scratch.enabled[number]
            silent = is_silent(event[buffers.OUTCOME], steps)
            if wanted == buffers.SILENT_STEPS and not silent:
                continue
            result = _step(at, process, event, work)
            if result == FULL:
                status[buffers.OVERFLOW] = buffers.TOO_MANY_FRAMES
                return size
            if result != FINE:
                status[buffers.PROBLEM] = buffers.BAD_STEP
                status[buffers.PROBLEM_ROW] = parent
                status[buffers.PROBLEM_EVENT] = 4 * event[buffers.EVENT] + event[buffers.FRAME_FATE]
                return size
            if silent and constants.reduce and size < last:
                value = renamed_fingerprint(scratch.rows[last], constants, scratch.sums[last], 0)
                if not _is_among(scratch.fingerprints, size, value):
                    copy_row(scratch.rows[last], scratch.rows[size])
                    copy_sums(scratch.sums[last], scratch.sums[size])
                    scratch.fingerprints[size] = value
                    size += 1
            elif wanted == buffers.SILENT_STEPS:
                status[buffers.OVERFLOW] = buffers.TOO_MANY_BRANCHES
                return size
            else:
                _add_successor(parent, 4 * event[buffers.EVENT] + event[buffers.FRAME_FATE], work)
        at += 1
    return size


@inlined
def _is_among(fingerprints: Ints, size: Int, value: Int) -> bool:
    among = False
    for index in range(size):
        if fingerprints[index] == value:
            among = True
    return among


@bare
def _step(source: Int, process: Int, enabled: Ints, work: Workspace) -> Int:
    """Build the world after an event, in the last scratch row; returns FINE, WRONG or FULL."""
    constants, steps, scratch = work.constants, work.steps, work.scratch
    old, row = scratch.rows[source], scratch.rows[buffers.MOST_SILENT]
    event, outcome = enabled[buffers.EVENT], enabled[buffers.OUTCOME]
    index, fate = enabled[buffers.FRAME_INDEX], enabled[buffers.FRAME_FATE]
    copy_row(old, row)
    row[constants.depth_at] += np.uint32(1)
    removed = buffers.NONE
    if index >= 0 and fate != buffers.DUPLICATE:
        removed = np.int64(old[constants.frames_at + index])
        remove_frame(row, constants, index)
    coverage = 0
    if fate == buffers.LOSE:
        count_fault(row, constants, LOSSES)
        coverage |= buffers.LOSS
    elif fate == buffers.DUPLICATE:
        count_fault(row, constants, DUPLICATES)
        coverage |= buffers.DUPLICATION
    elif event == constants.tick[process]:
        count_fault(row, constants, TICKS)
        coverage |= buffers.TICK
    result = FINE
    if outcome >= 0:
        flags = steps.outcomes[outcome, FLAGS]
        result = apply(row, process, outcome, constants, steps)
        if flags & FAILED:
            result = WRONG
        coverage |= flags
        if index > 0:
            first = constants.frames_at
            for other in range(first, first + index):
                if same_link(old[other], old[first + index], steps):
                    coverage |= buffers.REORDERING
    work.expansion.status[buffers.COVERAGE] |= coverage
    update(scratch, source, process, outcome, removed, constants, steps)
    return result


@bare
def _add_successor(parent: Int, code: Int, work: Workspace) -> None:
    """Add the last scratch world to the successors, unless it was visited."""
    expansion, visited = work.expansion, work.visited
    status = expansion.status
    row = work.scratch.rows[buffers.MOST_SILENT]
    status[buffers.TRANSITIONS] += 1
    value = fingerprint(row, work.constants, work.scratch.sums[buffers.MOST_SILENT])
    count = status[buffers.SUCCESSORS]
    if count == len(expansion.rows):
        status[buffers.OVERFLOW] = buffers.EXPANSION_FULL
    elif not has_fingerprint(visited[owner(value, len(visited))], value):
        copy_row(row, expansion.rows[count])
        expansion.fingerprints[count] = value
        expansion.parents[count] = parent
        expansion.events[count] = code
        status[buffers.SUCCESSORS] = count + 1


@bare
def _finish_silently(row: Ints, parent: Int, work: Workspace) -> None:
    """Let all processes finish silently, in all ways in which each of them can, and judge the ends."""
    constants, steps, scratch = work.constants, work.steps, work.scratch
    status = work.expansion.status
    ends, next_ends = scratch.ends[0], scratch.ends[1]
    copy_row(row, ends[0])
    size = 1
    for process in range(constants.processes):
        reached = 0
        for end in range(size):
            copy_row(ends[end], scratch.rows[0])
            compute_sums(scratch.rows[0], constants, steps, scratch.sums[0])
            worlds = _advance(process, parent, buffers.SILENT_STEPS, work)
            if status[buffers.PROBLEM] or status[buffers.OVERFLOW]:
                return
            for world in range(worlds):
                if not has_work(scratch.rows[world], process, constants, steps):
                    if reached == buffers.MOST_SILENT:
                        status[buffers.OVERFLOW] = buffers.TOO_MANY_BRANCHES
                        return
                    copy_row(scratch.rows[world], next_ends[reached])
                    reached += 1
        size = reached
        for end in range(size):
            copy_row(next_ends[end], ends[end])
    for end in range(size):
        _end(ends[end], parent, work)
        if status[buffers.PROBLEM] or status[buffers.OVERFLOW]:
            return


@bare
def _end(end: Ints, parent: Int, work: Workspace) -> None:
    """Judge a world with nothing in flight and all programs done: complete, or can timers repair it?"""
    constants, steps, scratch = work.constants, work.steps, work.scratch
    status = work.expansion.status
    if is_complete(end, constants, steps):
        return
    faults = end[constants.faults_at]
    matters = False
    if (constants.timer or counter(faults, LOSSES)) and counter(faults, ROUNDS) < constants.rounds:
        row = scratch.rows[buffers.MOST_SILENT]
        copy_row(end, row)
        row[constants.depth_at] += np.uint32(1)
        count_fault(row, constants, ROUNDS)
        before = status[buffers.MISSING]
        for process in range(constants.processes):
            key = np.uint64(end[process]) << np.uint64(32) | np.uint64(constants.tick[process])
            outcome = find_step(steps.keys, steps.values, key)
            if outcome < 0:
                add_missing(key, work.expansion)
            elif status[buffers.MISSING] == before:
                matters = matters or not changes_nothing(end[process], outcome, steps)
                result = apply(row, process, outcome, constants, steps)
                if result == FULL:
                    status[buffers.OVERFLOW] = buffers.TOO_MANY_FRAMES
                    return
                if result != FINE or steps.outcomes[outcome, FLAGS] & FAILED:
                    status[buffers.PROBLEM] = buffers.BAD_STEP
                    status[buffers.PROBLEM_ROW] = parent
                    status[buffers.PROBLEM_EVENT] = buffers.TIMERS
                    return
        if status[buffers.MISSING] > before:
            return
        if matters:
            status[buffers.COVERAGE] |= buffers.TICK
            compute_sums(row, constants, steps, scratch.sums[buffers.MOST_SILENT])
            _add_successor(parent, buffers.TIMERS, work)
    if not matters:
        status[buffers.PROBLEM] = buffers.BAD_END
        status[buffers.PROBLEM_ROW] = parent
