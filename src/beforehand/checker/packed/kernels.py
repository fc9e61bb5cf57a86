"""The loop of an exploration: all successors of many worlds.

**Reduction.** A step that sends no frame is *silent*: nobody else can tell whether it has happened. In
any run it can be put off until right before the next step of its process, or to the end of the run if
there is none. So one step of the reduced search is a step of one process that is not silent, right after
any number of silent ones of the same process; and the ends are found by letting all processes do, one
after the other, whatever they can do silently until nothing is left. See docs/checker.md.
"""

from __future__ import annotations

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed.buffers import (
    ANY_STEP,
    BAD_END,
    BROKEN,
    DONE,
    DUPLICATE,
    DUPLICATION,
    EVENT,
    EVENT_OF,
    FOUND,
    FRAMES_LEFT_OVER,
    INDEX,
    KIND,
    LOSE,
    LOSS,
    MISSING,
    MOST_SILENT,
    NONE,
    OUTCOME,
    OVERFULL,
    PROBLEM,
    REORDERING,
    RETRY,
    SAID,
    SEEN,
    SILENT_STEPS,
    TAKE_AWAY,
    TICK,
    TIMERS,
    TOO_MANY_WAYS,
    TRANSITIONS,
    WHERE,
    ZERO,
    Found,
    Room,
)
from beforehand.checker.packed.events import (
    changes_nothing,
    has_work,
    is_silent,
    list_events,
    miss,
    same_link,
)
from beforehand.checker.packed.fingerprints import (
    copy_sums,
    fingerprint,
    measure,
    own_print,
    remeasure,
)
from beforehand.checker.packed.hashing import add_print, find_step, has_print
from beforehand.checker.packed.local_steps import FAILED
from beforehand.checker.packed.tables import FLAGS, Shape, Steps
from beforehand.checker.packed.world_row import (
    DUPLICATES,
    FINE,
    FULL,
    LOSSES,
    ROUNDS,
    TICKS,
    apply,
    copy_row,
    count_fault,
    counter,
    is_complete,
    remove_frame,
)
from beforehand.checker.setting import MOST_FAULTS


@bare
def expand(
    rows: Ints, which: Ints, shape: Shape, steps: Steps, visited: Ints, room: Room, found: Found
) -> None:
    """The successors of some of the rows that are not visited yet; stops early when room runs out.

    A row whose local steps are not all known is left for later.
    """
    said = found.said
    for place in range(SAID):
        said[place] = 0
    sums = room.sums[MOST_SILENT + 1]
    for each in which:
        missed, taken, counted = said[MISSING], said[FOUND], said[TRANSITIONS]
        measure(rows[each], shape, steps, sums)
        busy = False
        can_end = True
        for process in range(shape.processes):
            copy_row(rows[each], room.rows[0])
            copy_sums(sums, room.sums[0])
            works = has_work(room.rows[0], process, shape, steps)
            reached = _go(process, each, ANY_STEP, shape, steps, visited, room, found)
            busy = busy or works
            can_end = can_end and (reached > 1 or not works)
        if said[MISSING] == missed and not said[PROBLEM] and not said[OVERFULL]:
            if not busy:
                copy_row(rows[each], room.ends[0, 0])
                _end(room.ends[0, 0], each, shape, steps, visited, room, found)
            elif shape.reduce and can_end:
                _finish(rows[each], each, shape, steps, visited, room, found)
        if said[PROBLEM]:
            return
        if said[OVERFULL] or said[MISSING] > missed:
            said[FOUND] = taken
            said[TRANSITIONS] = counted
        if said[OVERFULL]:
            return
        if said[MISSING] > missed:
            found.retry[said[RETRY]] = each
            said[RETRY] += 1
        said[DONE] += 1


@bare
def _go(
    process: Int,
    where: Int,
    wanted: Int,
    shape: Shape,
    steps: Steps,
    visited: Ints,
    room: Room,
    found: Found,
) -> Int:
    """Let a process go on from the first world in the room, silently as far as it may.

    The worlds on the way are left in the room; returns how many. Those that it comes to by a step that
    is not silent are successors, if they are wanted.
    """
    said = found.said
    room.prints[0] = own_print(room.rows[0], shape, room.sums[0], 0)
    size = 1
    at = ZERO
    last = MOST_SILENT
    while at < size:
        count = list_events(room.rows[at], process, shape, steps, room.todo, found)
        for number in range(count):
            what = room.todo[number]
            silent = is_silent(what[OUTCOME], steps)
            if wanted == SILENT_STEPS and not silent:
                continue
            result = _step(room, at, process, what, shape, steps, found)
            if result == FULL:
                said[OVERFULL] = FRAMES_LEFT_OVER
                return size
            if result != FINE:
                said[PROBLEM] = BROKEN
                said[WHERE] = where
                said[EVENT] = 4 * what[EVENT_OF] + what[KIND]
                return size
            if silent and shape.reduce and size < last:
                value = own_print(room.rows[last], shape, room.sums[last], 0)
                if not _is_among(room.prints, size, value):
                    copy_row(room.rows[last], room.rows[size])
                    copy_sums(room.sums[last], room.sums[size])
                    room.prints[size] = value
                    size += 1
            elif wanted == SILENT_STEPS:
                said[OVERFULL] = TOO_MANY_WAYS
                return size
            else:
                code = 4 * what[EVENT_OF] + what[KIND]
                _add(room.rows[last], room.sums[last], where, code, shape, visited, found)
        at += 1
    return size


@inlined
def _is_among(prints: Ints, size: Int, value: Int) -> bool:
    among = False
    for place in range(size):
        if prints[place] == value:
            among = True
    return among


@bare
def _step(
    room: Room,
    source: Int,
    process: Int,
    what: Ints,
    shape: Shape,
    steps: Steps,
    found: Found,
) -> Int:
    """Let an event happen in a world, which leads to the last in the room; FINE, WRONG or FULL."""
    old, row = room.rows[source], room.rows[MOST_SILENT]
    event, outcome, index, kind = what[EVENT_OF], what[OUTCOME], what[INDEX], what[KIND]
    copy_row(old, row)
    row[shape.faults_at + 1] += np.uint32(1)
    removed = NONE
    if index >= 0 and kind != DUPLICATE:
        removed = np.int64(old[shape.faults_at + 3 + index])
        remove_frame(row, shape, index)
    seen = 0
    if kind == LOSE:
        count_fault(row, shape, LOSSES)
        seen |= LOSS
    elif kind == DUPLICATE:
        count_fault(row, shape, DUPLICATES)
        seen |= DUPLICATION
    elif event == shape.tick[process]:
        count_fault(row, shape, TICKS)
        seen |= TICK
    result = FINE
    if outcome >= 0:
        flags = steps.outcomes[outcome, FLAGS]
        result = apply(row, process, outcome, shape, steps)
        if flags & FAILED:
            result = 1
        seen |= flags
        if index > 0:
            first = shape.faults_at + 3
            for other in range(first, first + index):
                if same_link(old[other], old[first + index], steps):
                    seen |= REORDERING
    found.said[SEEN] |= seen
    remeasure(
        old, row, process, outcome, removed, shape, steps, room.sums[source], room.sums[MOST_SILENT]
    )
    return result


@bare
def _add(
    row: Ints, sums: Ints, where: Int, code: Int, shape: Shape, visited: Ints, found: Found
) -> None:
    """Note a successor, unless it was visited."""
    said = found.said
    said[TRANSITIONS] += 1
    value = fingerprint(row, shape, sums)
    place = said[FOUND]
    if place == len(found.rows):
        said[OVERFULL] = TAKE_AWAY
    elif not has_print(visited[owner(value, len(visited))], value):
        copy_row(row, found.rows[place])
        found.prints[place] = value
        found.parents[place] = where
        found.events[place] = code
        said[FOUND] = place + 1


@bare
def _finish(
    row: Ints,
    where: Int,
    shape: Shape,
    steps: Steps,
    visited: Ints,
    room: Room,
    found: Found,
) -> None:
    """Let all processes do silently what is left to do, in all ways in which each of them can."""
    said = found.said
    ends, more_ends = room.ends[0], room.ends[1]
    copy_row(row, ends[0])
    size = 1
    for process in range(shape.processes):
        reached = 0
        for place in range(size):
            copy_row(ends[place], room.rows[0])
            measure(room.rows[0], shape, steps, room.sums[0])
            ways = _go(process, where, SILENT_STEPS, shape, steps, visited, room, found)
            if said[PROBLEM] or said[OVERFULL]:
                return
            for way in range(ways):
                if not has_work(room.rows[way], process, shape, steps):
                    if reached == MOST_SILENT:
                        said[OVERFULL] = TOO_MANY_WAYS
                        return
                    copy_row(room.rows[way], more_ends[reached])
                    reached += 1
        size = reached
        for place in range(size):
            copy_row(more_ends[place], ends[place])
    for place in range(size):
        _end(ends[place], where, shape, steps, visited, room, found)
        if said[PROBLEM] or said[OVERFULL]:
            return


@bare
def _end(
    old: Ints, where: Int, shape: Shape, steps: Steps, visited: Ints, room: Room, found: Found
) -> None:
    """Nothing is in flight and nothing left to do: is it a good end, or can timers repair it?"""
    said = found.said
    if is_complete(old, shape, steps):
        return
    faults = old[shape.faults_at]
    matters = False
    if (shape.timer or counter(faults, LOSSES)) and counter(faults, ROUNDS) < MOST_FAULTS:
        row = room.rows[MOST_SILENT]
        copy_row(old, row)
        row[shape.faults_at + 1] += np.uint32(1)
        count_fault(row, shape, ROUNDS)
        before = said[MISSING]
        for process in range(shape.processes):
            key = np.uint64(old[process]) << np.uint64(32) | np.uint64(shape.tick[process])
            outcome = find_step(steps.keys, steps.values, key)
            if outcome < 0:
                miss(key, found)
            elif said[MISSING] == before:
                matters = matters or not changes_nothing(old[process], outcome, steps)
                result = apply(row, process, outcome, shape, steps)
                if result == FULL:
                    said[OVERFULL] = FRAMES_LEFT_OVER
                    return
                if result != FINE or steps.outcomes[outcome, FLAGS] & FAILED:
                    said[PROBLEM] = BROKEN
                    said[WHERE] = where
                    said[EVENT] = TIMERS
                    return
        if said[MISSING] > before:
            return
        if matters:
            said[SEEN] |= TICK
            measure(row, shape, steps, room.sums[MOST_SILENT])
            _add(row, room.sums[MOST_SILENT], where, TIMERS, shape, visited, found)
    if not matters:
        said[PROBLEM] = BAD_END
        said[WHERE] = where


@inlined
def owner(value: Int, workers: Int) -> Int:
    """Which worker remembers a fingerprint."""
    return np.int64((value >> np.uint64(48)) % np.uint64(workers))


@bare
def keep(prints: Ints, worker: Int, workers: Int, visited: Ints, kept: Ints) -> Int:
    """Remember the fingerprints that belong to a worker; which of them were new, and how many."""
    found = 0
    for place in range(len(prints)):
        if owner(prints[place], workers) == worker and add_print(visited, prints[place]):
            kept[found] = place
            found += 1
    return found
