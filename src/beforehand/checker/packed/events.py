"""What may happen next at a process of a world."""

from __future__ import annotations

import numpy as np

from beforehand._kernel import Int, Ints, bare, inlined
from beforehand.checker.packed.buffers import (
    ARRIVE,
    DUPLICATE,
    EVENT_OF,
    INDEX,
    KIND,
    LOSE,
    MISSING,
    MOST_EVENTS,
    NONE,
    OUTCOME,
    OVERFULL,
    TAKE_AWAY,
    TOO_MANY_WAYS,
    ZERO,
    Found,
)
from beforehand.checker.packed.hashing import find_step
from beforehand.checker.packed.local_steps import FAILED
from beforehand.checker.packed.tables import (
    AFTER,
    CHOICES,
    CHOICES_END,
    DELIVERIES,
    DELIVERIES_END,
    FLAGS,
    FRAMES,
    FRAMES_END,
    SENDER,
    TO,
    Shape,
    Steps,
)
from beforehand.checker.packed.world_row import DUPLICATES, LOSSES, TICKS, counter


@inlined
def is_silent(outcome: Int, steps: Steps) -> bool:
    """Whether a step sends no frame; what is lost (-1) changes nothing at all."""
    return bool(
        outcome < 0 or steps.outcomes[outcome, FRAMES] == steps.outcomes[outcome, FRAMES_END]
    )


@inlined
def has_work(row: Ints, process: Int, shape: Shape, steps: Steps) -> bool:
    """Whether a process has a choice, or a frame is on its way to it."""
    works = bool(steps.states[row[process], CHOICES] < steps.states[row[process], CHOICES_END])
    first = shape.faults_at + 3
    for place in range(first, first + np.int64(row[first - 1])):
        if steps.frames[row[place], TO] == process:
            works = True
    return works


@bare
def list_events(
    row: Ints, process: Int, shape: Shape, steps: Steps, todo: Ints, found: Found
) -> Int:
    """What may happen at a process next; what is not known is noted as missing."""
    state = np.int64(row[process])
    faults = row[shape.faults_at]
    count = ZERO
    for place in range(steps.states[state, CHOICES], steps.states[state, CHOICES_END]):
        count = _note(todo, count, state, np.int64(steps.pool[place]), NONE, ARRIVE, steps, found)
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
        count = _note(todo, count, state, tick, NONE, ARRIVE, steps, found)
        if count > before and changes_nothing(state, todo[before, OUTCOME], steps):
            count = before
    return count


@bare
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
    outcome = NONE
    known = True
    if kind != LOSE:
        key = np.uint64(state) << np.uint64(32) | np.uint64(event)
        outcome = find_step(steps.keys, steps.values, key)
        if outcome < 0:
            known = False
            miss(key, found)
    if known and count < MOST_EVENTS:
        todo[count, EVENT_OF] = event
        todo[count, OUTCOME] = outcome
        todo[count, INDEX] = index
        todo[count, KIND] = kind
        count += 1
    elif known:
        found.said[OVERFULL] = TOO_MANY_WAYS
    return count


@inlined
def miss(key: Int, found: Found) -> None:
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
        if row[other] == frame or (shape.fifo and same_link(row[other], frame, steps)):
            following = False
    return following


@inlined
def same_link(frame: Int, other: Int, steps: Steps) -> bool:
    """Whether two frames are between the same two processes, in the same direction."""
    return bool(
        steps.frames[frame, SENDER] == steps.frames[other, SENDER]
        and steps.frames[frame, TO] == steps.frames[other, TO]
    )


@inlined
def changes_nothing(state: Int, outcome: Int, steps: Steps) -> bool:
    """Whether a tick is as good as none; one that fails is not."""
    told = steps.outcomes[outcome]
    same = told[AFTER] == state and told[FRAMES] == told[FRAMES_END]
    quiet = told[DELIVERIES] == told[DELIVERIES_END]
    return bool(same and quiet and not told[FLAGS] & FAILED)
