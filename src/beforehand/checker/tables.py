"""The local steps as tables of integers, for the loops of `kernels.py`.

Fingerprints are sums: every state of a process, every frame in flight, every entry of a clock has a
64-bit number of its own, and that of a world is the sum of those of its parts, whatever their order. A
renaming maps parts to parts, so the fingerprint of the renamed world is the sum over the images.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.hashing import NO_STEP, copy_steps, insert_step
from beforehand.checker.local import LocalSteps, Outcome
from beforehand.checker.symmetry import Renaming

CLOCK_VALUES: Final = 16  # counts in clocks are half bytes
MASKS: Final = 256  # sets of up to eight receivers

_ROOM: Final = 1024  # entries at first; doubled when used up
_MIX: Final = 2**64 - 1


def mixed(number: int) -> int:
    """A 64-bit number that looks random: the finaliser of SplitMix64."""
    number = (number * 0x9E3779B97F4A7C15 + 0x1F123BB5) & _MIX
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MIX
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MIX
    return number ^ number >> 31


# The columns of `Steps.outcomes`: the state after a step, where its frames and deliveries are in the
# pool, the message that was causal-sent (or -1) and to whom, and what was seen.
AFTER, FRAMES, FRAMES_END, DELIVERIES, DELIVERIES_END, MESSAGE, RECEIVERS, FLAGS = range(8)
# Of `Steps.states`: where its choices are in the pool, and whether the core waits for nothing.
CHOICES, CHOICES_END, IDLE = range(3)
# Of `Steps.frames`.
SENDER, TO = range(2)


class Shape(NamedTuple):
    """What does not change during an exploration."""

    processes: int
    messages: int
    pending_at: int  # where in a row the sets of receivers begin ...
    faults_at: int  # ... and where the faults are; then come actions, number of frames, frames
    sender: Ints  # message -> its sender
    number: Ints  # message -> its number at the sender, from 1
    first_message: Ints  # process -> its first message
    first_arrival: int  # events from here on are arrivals of frames
    tick: Ints  # process -> the event of its tick
    renamed: Ints  # [renaming, process]
    renamed_message: Ints  # [renaming, message]
    renamed_mask: Ints  # [renaming, set of receivers]
    told_print: Ints  # [process, process, count]
    clock_print: Ints  # [message, process, count]
    open_print: Ints  # [message, set of receivers]
    losses: int
    duplicates: int
    ticks: int
    fifo: bool
    timer: bool
    reduce: bool


class Steps(NamedTuple):
    """What is known of local steps so far; the arrays have room at their ends."""

    keys: Ints  # an open hash table from (state, event) ...
    values: Ints  # ... to an outcome
    outcomes: Ints
    states: Ints
    frames: Ints
    pool: Ints
    state_print: Ints  # [state, renaming]
    frame_print: Ints  # [frame, renaming]


class Column:
    """An array that grows."""

    def __init__(self, kind: type, width: int = 0) -> None:
        self.data: Ints = np.zeros((_ROOM, width) if width else _ROOM, kind)
        self.size = 0

    def add(self, value: object) -> None:
        if self.size == len(self.data):
            self.data = np.concatenate([self.data, np.zeros_like(self.data)])
        self.data[self.size] = value
        self.size += 1


class Tables:
    """Turns the outcomes of local steps into `Steps`."""

    def __init__(self, local: LocalSteps) -> None:
        self.local = local
        self.keys: Ints = np.full(_ROOM, NO_STEP, np.uint64)
        self.values: Ints = np.zeros(_ROOM, np.int32)
        self.outcomes = Column(np.int32, 8)
        self.states = Column(np.int32, 3)
        self.frames = Column(np.int32, 2)
        self.pool = Column(np.int32)
        self.state_print = Column(np.uint64, len(local.group))
        self.frame_print = Column(np.uint64, len(local.group))
        self._choices = [
            [self._pooled(events) for events in places] for places in local.static.choices
        ]
        self._add_parts()

    def _pooled(self, numbers: Iterable[int]) -> tuple[int, int]:
        """Where these numbers are in the pool from now on."""
        start = self.pool.size
        for number in numbers:
            self.pool.add(number)
        return start, self.pool.size

    def resolve(self, missing: Iterable[tuple[int, int]]) -> None:
        """Run these local steps, and whatever belongs to them."""
        for state, event in missing:
            for key, outcome in self.local.resolve(state, event):
                self._add(key, outcome)
        self._add_parts()

    def _add(self, key: tuple[int, int], outcome: Outcome) -> None:
        number = self.outcomes.size
        self.outcomes.add(
            (
                outcome.state,
                *self._pooled(outcome.frames),
                *self._pooled(outcome.deliveries),
                outcome.message,
                outcome.receivers,
                outcome.flags,
            )
        )
        if 2 * number >= len(self.keys):
            old_keys, old_values = self.keys, self.values
            self.keys = np.full(4 * len(old_keys), NO_STEP, np.uint64)
            self.values = np.zeros(4 * len(old_keys), np.int32)
            copy_steps(old_keys, old_values, self.keys, self.values)
        insert_step(self.keys, self.values, np.uint64(key[0] << 32 | key[1]), number)

    def _add_parts(self) -> None:
        """The states and frames that are new."""
        local = self.local
        for state in range(self.states.size, len(local.locals)):
            each = local.locals[state]
            self.states.add((*self._choices[each.process][each.place], each.idle))
            self.state_print.add([mixed(2 * image) for image in local.state_images.rows[state]])
        for frame in range(self.frames.size, len(local.frames)):
            self.frames.add(local.frames[frame][:2])
            self.frame_print.add([mixed(2 * image + 1) for image in local.frame_images.rows[frame]])

    def steps(self) -> Steps:
        """The tables as they are now."""
        columns = (getattr(self, name).data for name in Steps._fields[2:])
        return Steps(self.keys, self.values, *columns)


def shape_of(local: LocalSteps, reduce: bool) -> Shape:
    """What the loops have to know from the start."""
    setting, group, count = local.setting, local.group, len(local.names)
    counts = [local.first_message[place + 1] - local.first_message[place] for place in range(count)]
    senders = [place for place in range(count) for _ in range(counts[place])]
    messages = len(senders)

    def prints(kind: int, *sizes: int) -> Ints:
        """Numbers for the entries of a table; nothing counts as nothing."""
        table: Ints = np.zeros(sizes, np.uint64)
        for place in np.ndindex(*sizes):
            if place[-1]:
                table[place] = mixed(2**60 + kind + 8 * int(np.ravel_multi_index(place, sizes)))
        return table

    pending_at = 2 * count + messages
    return Shape(
        count,
        messages,
        pending_at,
        pending_at + (messages + 3) // 4,
        np.array(senders, np.int32),
        np.array([number + 1 for each in counts for number in range(each)], np.int32),
        np.array(local.first_message, np.int32),
        local.first_arrival,
        np.array(local.static.ticks, np.int32),
        np.array(group, np.int32),
        np.array(
            [[local.message_image(m, order) for m in range(messages)] for order in group], np.int32
        ).reshape(len(group), messages),
        np.array([[_turned(mask, order) for mask in range(MASKS)] for order in group], np.int32),
        prints(0, count, count, CLOCK_VALUES),
        prints(1, messages, count, CLOCK_VALUES) if messages else np.zeros((1, 1, 1), np.uint64),
        prints(2, messages, MASKS) if messages else np.zeros((1, 1), np.uint64),
        setting.faults.loss,
        setting.faults.duplicate,
        setting.faults.tick,
        setting.fifo,
        setting.timer,
        reduce,
    )


def _turned(mask: int, order: Renaming) -> int:
    return sum(1 << to for place, to in enumerate(order) if mask >> place & 1)
