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
from beforehand.checker.packed.hashing import NO_STEP, copy_steps, insert_steps
from beforehand.checker.packed.local_steps import LocalSteps, Outcome
from beforehand.checker.search.symmetry import Renaming

CLOCK_VALUES: Final = 16  # counts in clocks are half bytes
MASKS: Final = 256  # sets of up to eight receivers

_ROOM: Final = 1024  # entries at first; doubled when used up


def mixed(numbers: Ints) -> Ints:
    """For each number one of 64 bits that looks random: the finaliser of SplitMix64."""
    mixing = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x1F123BB5)
    mixing = (mixing ^ mixing >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixing = (mixing ^ mixing >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixing ^ mixing >> np.uint64(31)


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

    def extend(self, values: Ints) -> None:
        """More entries."""
        end = self.size + len(values)
        if end > len(self.data):
            more = max(end, 2 * len(self.data)) - len(self.data)
            room: Ints = np.zeros((more, *self.data.shape[1:]), self.data.dtype)
            self.data = np.concatenate([self.data, room])
        self.data[self.size : end] = values
        self.size = end


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
        pool: list[int] = []
        self._choices = [
            [self._pooled(pool, events) for events in places] for places in local.static.choices
        ]
        self.pool.extend(np.array(pool, np.int32))
        self._add_parts()

    def _pooled(self, pool: list[int], numbers: Iterable[int]) -> tuple[int, int]:
        """Where these numbers will be, after all that is in the pool and waits to be put there."""
        start = self.pool.size + len(pool)
        pool.extend(numbers)
        return start, self.pool.size + len(pool)

    def resolve(self, missing: Iterable[tuple[int, int]]) -> None:
        """Run these local steps, and whatever belongs to them."""
        found = [each for step in missing for each in self.local.resolve(*step)]
        if not found:
            return
        pool: list[int] = []
        first = self.outcomes.size
        self.outcomes.extend(np.array([self._row(pool, outcome) for _, outcome in found], np.int32))
        self.pool.extend(np.array(pool, np.int32))
        while 2 * self.outcomes.size >= len(self.keys):
            self._grow()
        keys = np.array([state << 32 | event for (state, event), _ in found], np.uint64)
        insert_steps(self.keys, self.values, keys, first)
        self._add_parts()

    def _row(self, pool: list[int], outcome: Outcome) -> tuple[int, ...]:
        return (
            outcome.state,
            *self._pooled(pool, outcome.frames),
            *self._pooled(pool, outcome.deliveries),
            outcome.message,
            outcome.receivers,
            outcome.flags,
        )

    def _grow(self) -> None:
        old_keys, old_values = self.keys, self.values
        self.keys = np.full(4 * len(old_keys), NO_STEP, np.uint64)
        self.values = np.zeros(4 * len(old_keys), np.int32)
        copy_steps(old_keys, old_values, self.keys, self.values)

    def _add_parts(self) -> None:
        """The states and frames that are new."""
        local = self.local
        states = local.locals[self.states.size :]
        if states:
            images = np.array(local.state_images.rows[self.states.size :], np.uint64)
            self.state_print.extend(mixed(np.uint64(2) * images))
            rows = [(*self._choices[each.process][each.place], each.idle) for each in states]
            self.states.extend(np.array(rows, np.int32))
        frames = local.frames[self.frames.size :]
        if frames:
            images = np.array(local.frame_images.rows[self.frames.size :], np.uint64)
            self.frame_print.extend(mixed(np.uint64(2) * images + np.uint64(1)))
            self.frames.extend(np.array([frame[:2] for frame in frames], np.int32))

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
        places = np.arange(np.prod(sizes), dtype=np.uint64)
        table: Ints = mixed(np.uint64(2**60 + kind) + np.uint64(8) * places).reshape(sizes)
        table[..., 0] = 0
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
