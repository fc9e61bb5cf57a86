"""The loop of an exploration: all successors of many worlds.

**Reduction.** A step that sends no frame is *silent*: nobody else can tell whether it has happened. In
any run it can be put off until right before the next step of its process, or to the end of the run if
there is none. So one step of the reduced search is a step of one process that is not silent, right after
any number of silent ones of the same process; and the ends are found by letting all processes do, one
after the other, whatever they can do silently until nothing is left. See docs/checker.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from beforehand._kernel import Int, Ints, compiled, inlined
from beforehand.checker.hashing import add_print, find_step, has_print
from beforehand.checker.local import FAILED
from beforehand.checker.prints import SUMS, copy_sums, fingerprint, measure, own_print, remeasure
from beforehand.checker.rows import (
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
from beforehand.checker.tables import (
    AFTER,
    CHOICES,
    CHOICES_END,
    FLAGS,
    FRAMES,
    FRAMES_END,
    SENDER,
    TO,
    Shape,
    Steps,
)

# What happens to a frame, or that all timers go off; with the event, it makes an entry of the trail.
ARRIVE: Final[Int] = np.int64(0)
DUPLICATE: Final[Int] = np.int64(1)
LOSE: Final[Int] = np.int64(2)
TIMERS: Final[Int] = np.int64(3)

# Not as plain constants: for each of those, numba would compile a function again.
_NONE: Final[Int] = np.int64(-1)
_ZERO: Final[Int] = np.int64(0)
_ANY_STEP: Final[Int] = np.int64(0)  # successors are wanted
_SILENT_STEPS: Final[Int] = np.int64(1)  # only where silent steps lead

# Where `expand` leaves what it has to say.
DONE, FOUND, MISSING, RETRY, TRANSITIONS, SEEN, PROBLEM, WHERE, EVENT, OVERFULL, DEEPEST, SAID = (
    range(12)
)

# Why OVERFULL: more frames in flight than a row holds; more worlds on the way than there is room for; no
# more room for what is found, so that it has to be taken away first.
FRAMES_LEFT_OVER: Final = 1
TOO_MANY_WAYS: Final = 2
TAKE_AWAY: Final = 3

NO_PROBLEM: Final = 0
BROKEN: Final = 1  # the event at WHERE breaks a promise, or a core fails
BAD_END: Final = 2  # the run to WHERE has ended, and something is missing

# Bits of SEEN, above those of local steps.
REORDERING: Final = 16
LOSS: Final = 32
DUPLICATION: Final = 64
TICK: Final = 128

MOST_EVENTS: Final = 256  # of one process in one world
MOST_SILENT: Final = 512  # worlds reached by silent steps of one process, or at an end, at a time

# What there is to do: the event, its outcome (-1: none), the index of its frame (-1: none), its kind.
_EVENT, _OUTCOME, _INDEX, _KIND, _COLUMNS = range(5)


class Found(NamedTuple):
    """Where a worker leaves what it finds; the lists have room at their ends."""

    rows: Ints  # new worlds, ...
    prints: Ints  # ... their fingerprints, ...
    parents: Ints  # ... the rows that they come from, ...
    events: Ints  # ... and what happened there last
    missing: Ints  # local steps that have to be run first
    retry: Ints  # rows that need them
    said: Ints  # counts and more, by DONE, FOUND, ...


class Room(NamedTuple):
    """Room for worlds that are passed on the way."""

    rows: Ints
    sums: Ints
    prints: Ints
    todo: Ints


@inlined
def _room(width: Int, group: Int) -> Room:
    return Room(
        np.zeros((MOST_SILENT + 1, width), np.uint32),
        np.zeros((MOST_SILENT + 1, SUMS, group), np.uint64),
        np.zeros(MOST_SILENT + 1, np.uint64),
        np.zeros((MOST_EVENTS, _COLUMNS), np.int64),
    )


@compiled
def expand(
    rows: Ints, which: Ints, shape: Shape, steps: Steps, visited: Ints, found: Found
) -> None:
    """The successors of some of the rows that are not visited yet; stops early when room runs out.

    A row whose local steps are not all known is left for later.
    """
    said = found.said
    for place in range(SAID):
        said[place] = 0
    room = _room(rows.shape[1], len(shape.renamed))
    ends = np.zeros((MOST_SILENT, rows.shape[1]), np.uint32)
    more_ends = np.zeros((MOST_SILENT, rows.shape[1]), np.uint32)
    sums = np.zeros((SUMS, len(shape.renamed)), np.uint64)
    for each in which:
        missed, taken, counted = said[MISSING], said[FOUND], said[TRANSITIONS]
        measure(rows[each], shape, steps, sums)
        busy = False
        can_end = True
        for process in range(shape.processes):
            copy_row(rows[each], room.rows[0])
            copy_sums(sums, room.sums[0])
            works = _has_work(room.rows[0], process, shape, steps)
            reached = _go(process, each, _ANY_STEP, shape, steps, visited, room, found)
            busy = busy or works
            can_end = can_end and (reached > 1 or not works)
        if said[MISSING] == missed and not said[PROBLEM] and not said[OVERFULL]:
            if not busy:
                copy_row(rows[each], ends[0])
                _end(ends[0], each, shape, steps, visited, room, found)
            elif shape.reduce and can_end:
                _finish(rows[each], each, shape, steps, visited, room, ends, more_ends, found)
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


@compiled
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
    at = _ZERO
    last = MOST_SILENT
    while at < size:
        count = _list(room.rows[at], process, shape, steps, room.todo, found)
        for number in range(count):
            what = room.todo[number]
            silent = _is_silent(what[_OUTCOME], steps)
            if wanted == _SILENT_STEPS and not silent:
                continue
            result = _step(room, at, process, what, shape, steps, found)
            if result == FULL:
                said[OVERFULL] = FRAMES_LEFT_OVER
                return size
            if result != FINE:
                said[PROBLEM] = BROKEN
                said[WHERE] = where
                said[EVENT] = 4 * what[_EVENT] + what[_KIND]
                return size
            if silent and shape.reduce and size < last:
                value = own_print(room.rows[last], shape, room.sums[last], 0)
                if not _is_among(room.prints, size, value):
                    copy_row(room.rows[last], room.rows[size])
                    copy_sums(room.sums[last], room.sums[size])
                    room.prints[size] = value
                    size += 1
            elif wanted == _SILENT_STEPS:
                said[OVERFULL] = TOO_MANY_WAYS
                return size
            else:
                code = 4 * what[_EVENT] + what[_KIND]
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


@inlined
def _is_silent(outcome: Int, steps: Steps) -> bool:
    return bool(
        outcome < 0 or steps.outcomes[outcome, FRAMES] == steps.outcomes[outcome, FRAMES_END]
    )


@inlined
def _has_work(row: Ints, process: Int, shape: Shape, steps: Steps) -> bool:
    """Whether a process has a choice, or a frame is on its way to it."""
    works = bool(steps.states[row[process], CHOICES] < steps.states[row[process], CHOICES_END])
    first = shape.faults_at + 3
    for place in range(first, first + np.int64(row[first - 1])):
        if steps.frames[row[place], TO] == process:
            works = True
    return works


@compiled
def _list(row: Ints, process: Int, shape: Shape, steps: Steps, todo: Ints, found: Found) -> Int:
    """What may happen at a process next; what is not known is noted as missing."""
    state = np.int64(row[process])
    faults = row[shape.faults_at]
    count = _ZERO
    for place in range(steps.states[state, CHOICES], steps.states[state, CHOICES_END]):
        count = _note(todo, count, state, np.int64(steps.pool[place]), _NONE, ARRIVE, steps, found)
    first = shape.faults_at + 3
    for index in range(np.int64(row[first - 1])):
        frame = np.int64(row[first + index])
        if steps.frames[frame, TO] == process and _is_next(row, first, index, shape, steps):
            event = shape.first_arrival + frame
            count = _note(todo, count, state, event, index, ARRIVE, steps, found)
            if counter(faults, DUPLICATES) < shape.duplicates:
                count = _note(todo, count, state, event, index, DUPLICATE, steps, found)
            if counter(faults, LOSSES) < shape.losses:
                count = _note(todo, count, state, event, index, LOSE, steps, found)
    if counter(faults, TICKS) < shape.ticks:
        tick = np.int64(shape.tick[process])
        before = count
        count = _note(todo, count, state, tick, _NONE, ARRIVE, steps, found)
        if count > before and _changes_nothing(state, todo[before, _OUTCOME], steps):
            count = before
    return count


@compiled
def _note(
    todo: Ints,
    count: Int,
    state: Int,
    event: Int,
    index: Int,
    kind: Int,
    steps: Steps,
    found: Found,
) -> Int:
    """Note an event, or that its outcome has to be found out; returns how many are noted."""
    outcome = _NONE
    known = True
    if kind != LOSE:
        key = np.uint64(state) << np.uint64(32) | np.uint64(event)
        outcome = find_step(steps.keys, steps.values, key)
        if outcome < 0:
            known = False
            _miss(key, found)
    if known and count < MOST_EVENTS:
        todo[count, _EVENT] = event
        todo[count, _OUTCOME] = outcome
        todo[count, _INDEX] = index
        todo[count, _KIND] = kind
        count += 1
    elif known:
        found.said[OVERFULL] = TOO_MANY_WAYS
    return count


@inlined
def _miss(key: Int, found: Found) -> None:
    """Note a local step that has to be run."""
    place = found.said[MISSING]
    if place == len(found.missing):
        found.said[OVERFULL] = TAKE_AWAY
    else:
        found.missing[place] = key
        found.said[MISSING] = place + 1


@inlined
def _is_next(row: Ints, first: Int, index: Int, shape: Shape, steps: Steps) -> bool:
    """Whether a frame can be the next to arrive, and none like it was listed before."""
    frame = row[first + index]
    following = True
    for other in range(first, first + index):
        if row[other] == frame or (shape.fifo and _same_link(row[other], frame, steps)):
            following = False
    return following


@inlined
def _same_link(frame: Int, other: Int, steps: Steps) -> bool:
    return bool(
        steps.frames[frame, SENDER] == steps.frames[other, SENDER]
        and steps.frames[frame, TO] == steps.frames[other, TO]
    )


@inlined
def _changes_nothing(state: Int, outcome: Int, steps: Steps) -> bool:
    told = steps.outcomes[outcome]
    same = told[AFTER] == state and told[FRAMES] == told[FRAMES_END]
    return bool(same and not told[FLAGS] & FAILED)


@compiled
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
    event, outcome, index, kind = what[_EVENT], what[_OUTCOME], what[_INDEX], what[_KIND]
    copy_row(old, row)
    row[shape.faults_at + 1] += np.uint32(1)
    removed = _NONE
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
                if _same_link(old[other], old[first + index], steps):
                    seen |= REORDERING
    found.said[SEEN] |= seen
    remeasure(
        old, row, process, outcome, removed, shape, steps, room.sums[source], room.sums[MOST_SILENT]
    )
    return result


@compiled
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


@compiled
def _finish(
    row: Ints,
    where: Int,
    shape: Shape,
    steps: Steps,
    visited: Ints,
    room: Room,
    ends: Ints,
    more_ends: Ints,
    found: Found,
) -> None:
    """Let all processes do silently what is left to do, in all ways in which each of them can."""
    said = found.said
    copy_row(row, ends[0])
    size = 1
    for process in range(shape.processes):
        reached = 0
        for place in range(size):
            copy_row(ends[place], room.rows[0])
            measure(room.rows[0], shape, steps, room.sums[0])
            ways = _go(process, where, _SILENT_STEPS, shape, steps, visited, room, found)
            if said[PROBLEM] or said[OVERFULL]:
                return
            for way in range(ways):
                if not _has_work(room.rows[way], process, shape, steps):
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


@compiled
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
                _miss(key, found)
            elif said[MISSING] == before:
                matters = matters or not _changes_nothing(old[process], outcome, steps)
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


@compiled
def keep(prints: Ints, worker: Int, workers: Int, visited: Ints, kept: Ints) -> Int:
    """Remember the fingerprints that belong to a worker; which of them were new, and how many."""
    found = 0
    for place in range(len(prints)):
        if owner(prints[place], workers) == worker and add_print(visited, prints[place]):
            kept[found] = place
            found += 1
    return found
