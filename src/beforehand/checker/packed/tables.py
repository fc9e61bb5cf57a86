"""The local steps as tables of integers, for the loops of `successors.py`.

Fingerprints are sums, as in Zobrist hashing: every local state, every frame in flight and every clock
entry has a 64-bit hash of its own, and the fingerprint of a world is the sum of the hashes of its
parts, whatever their order. A renaming maps parts to parts, so the fingerprint of the renamed world is
the sum over the images.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.packed.hash_tables import NO_STEP, copy_steps, insert_steps
from beforehand.checker.packed.local_steps import LocalSteps, Outcome
from beforehand.checker.search.reductions.symmetry import Renaming
from beforehand.checker.setting import MOST_FAULTS

CLOCK_VALUES: Final = 16  # clock counts take four bits
RECEIVER_SETS: Final = 256  # of up to eight processes

INITIAL_CAPACITY: Final = 1024  # entries; doubled when used up


def hashed(numbers: Ints) -> Ints:
    """A 64-bit hash of each number: the finaliser of SplitMix64."""
    hashes = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x1F123BB5)
    hashes = (hashes ^ hashes >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ hashes >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return hashes ^ hashes >> np.uint64(31)


# The columns of `StepTables.outcomes`: the state after a step, the ranges of its frames and deliveries
# in the pool, the causal-sent message (or -1) and its receivers, and coverage flags.
AFTER, FRAMES, FRAMES_END, DELIVERIES, DELIVERIES_END, MESSAGE, RECEIVERS, FLAGS = range(8)
# Of `StepTables.states`: the range of its enabled program steps in the pool, and whether the core is
# idle.
PROGRAM_STEPS, PROGRAM_STEPS_END, IDLE = range(3)
# Of `StepTables.frames`.
SENDER, TO = range(2)


class SearchConstants(NamedTuple):
    """What does not change during an exploration. For the layout of a row see `world_row.py`."""

    processes: int
    messages: int
    process_clocks_at: int  # where in a row the clocks of processes begin, ...
    message_clocks_at: int  # ... those of messages, ...
    pending_at: int  # ... and the sets of receivers; ...
    faults_at: int  # ... where the fault counters are, ...
    depth_at: int  # ... the number of actions so far, ...
    in_flight_at: int  # ... and the number of frames in flight; ...
    frames_at: int  # ... and where the frames begin
    sender: Ints  # message -> its sender
    number: Ints  # message -> its number at the sender, from 1
    first_message: Ints  # process -> its first message
    first_arrival: int  # events from here on are arrivals of frames
    tick: Ints  # process -> the event of its tick
    renamed: Ints  # [renaming, process]
    renamed_message: Ints  # [renaming, message]
    renamed_set: Ints  # [renaming, set of receivers]
    process_clock_hash: Ints  # [process, process, count]
    message_clock_hash: Ints  # [message, process, count]
    pending_hash: Ints  # [message, set of receivers]
    losses: int
    duplicates: int
    ticks: int
    rounds: int  # of all timers
    fifo: bool
    timer: bool
    reduce: bool


class StepTables(NamedTuple):
    """The local steps known so far; the arrays have spare capacity at their ends."""

    keys: Ints  # an open hash table from (state, event) ...
    values: Ints  # ... to an outcome
    outcomes: Ints
    states: Ints
    frames: Ints
    pool: Ints
    state_hash: Ints  # [state, renaming]
    frame_hash: Ints  # [frame, renaming]


class GrowableArray:
    """An array that grows at its end."""

    def __init__(self, kind: type, width: int = 0) -> None:
        self.data: Ints = np.zeros((INITIAL_CAPACITY, width) if width else INITIAL_CAPACITY, kind)
        self.size = 0

    def extend(self, values: Ints) -> None:
        """Append entries."""
        end = self.size + len(values)
        if end > len(self.data):
            more = max(end, 2 * len(self.data)) - len(self.data)
            spare: Ints = np.zeros((more, *self.data.shape[1:]), self.data.dtype)
            self.data = np.concatenate([self.data, spare])
        self.data[self.size : end] = values
        self.size = end


class Tables:
    """Turns the outcomes of local steps into `StepTables`."""

    def __init__(self, local: LocalSteps) -> None:
        self.local = local
        self.keys: Ints = np.full(INITIAL_CAPACITY, NO_STEP, np.uint64)
        self.values: Ints = np.zeros(INITIAL_CAPACITY, np.int32)
        self.outcomes = GrowableArray(np.int32, 8)
        self.states = GrowableArray(np.int32, 3)
        self.frames = GrowableArray(np.int32, 2)
        self.pool = GrowableArray(np.int32)
        self.state_hash = GrowableArray(np.uint64, len(local.group))
        self.frame_hash = GrowableArray(np.uint64, len(local.group))
        pool: list[int] = []
        self._program_steps = [
            [self._pooled(pool, events) for events in locations]
            for locations in local.program_events.steps_at
        ]
        self.pool.extend(np.array(pool, np.int32))
        self._add_states_and_frames()

    def _pooled(self, pool: list[int], numbers: Iterable[int]) -> tuple[int, int]:
        """Append numbers to `pool`, which will be appended to the pool; returns their range there."""
        start = self.pool.size + len(pool)
        pool.extend(numbers)
        return start, self.pool.size + len(pool)

    def resolve(self, missing: Iterable[tuple[int, int]]) -> None:
        """Run these local steps with their images, and add the outcomes."""
        new = [resolved for step in missing for resolved in self.local.resolve(*step)]
        if not new:
            return
        pool: list[int] = []
        first = self.outcomes.size
        self.outcomes.extend(np.array([self._row(pool, outcome) for _, outcome in new], np.int32))
        self.pool.extend(np.array(pool, np.int32))
        while 2 * self.outcomes.size >= len(self.keys):
            self._grow()
        keys = np.array([state << 32 | event for (state, event), _ in new], np.uint64)
        insert_steps(self.keys, self.values, keys, first)
        self._add_states_and_frames()

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

    def _add_states_and_frames(self) -> None:
        local = self.local
        states = local.states[self.states.size :]
        if states:
            images = np.array(local.state_images.rows[self.states.size :], np.uint64)
            self.state_hash.extend(hashed(np.uint64(2) * images))
            rows = [
                (*self._program_steps[state.process][state.location], state.idle)
                for state in states
            ]
            self.states.extend(np.array(rows, np.int32))
        frames = local.frames[self.frames.size :]
        if frames:
            images = np.array(local.frame_images.rows[self.frames.size :], np.uint64)
            self.frame_hash.extend(hashed(np.uint64(2) * images + np.uint64(1)))
            self.frames.extend(np.array([frame[:2] for frame in frames], np.int32))

    def steps(self) -> StepTables:
        """The tables as they are now."""
        arrays = (getattr(self, name).data for name in StepTables._fields[2:])
        return StepTables(self.keys, self.values, *arrays)


def constants_of(local: LocalSteps, reduce: bool) -> SearchConstants:
    """The constants of an exploration."""
    setting, group, count = local.setting, local.group, len(local.names)
    first = local.first_message
    senders = [
        process for process in range(count) for _ in range(first[process], first[process + 1])
    ]
    messages = len(senders)
    pending_at = 2 * count + messages
    faults_at = pending_at + (messages + 3) // 4
    images = [[local.message_image(m, order) for m in range(messages)] for order in group]
    renamed_sets = [[_renamed_set(s, order) for s in range(RECEIVER_SETS)] for order in group]
    return SearchConstants(
        processes=count,
        messages=messages,
        process_clocks_at=count,
        message_clocks_at=2 * count,
        pending_at=pending_at,
        faults_at=faults_at,
        depth_at=faults_at + 1,
        in_flight_at=faults_at + 2,
        frames_at=faults_at + 3,
        sender=np.array(senders, np.int32),
        number=np.array([m - first[p] + 1 for m, p in enumerate(senders)], np.int32),
        first_message=np.array(first, np.int32),
        first_arrival=local.first_arrival,
        tick=np.array(local.program_events.ticks, np.int32),
        renamed=np.array(group, np.int32),
        renamed_message=np.array(images, np.int32).reshape(len(group), messages),
        renamed_set=np.array(renamed_sets, np.int32),
        process_clock_hash=_hash_table(0, count, count, CLOCK_VALUES),
        message_clock_hash=_hash_table(1, messages, count, CLOCK_VALUES),
        pending_hash=_hash_table(2, messages, RECEIVER_SETS),
        losses=setting.faults.loss,
        duplicates=setting.faults.duplicate,
        ticks=setting.faults.tick,
        rounds=MOST_FAULTS,
        fifo=setting.fifo,
        timer=setting.timer,
        reduce=reduce,
    )


def _hash_table(kind: int, *sizes: int) -> Ints:
    """A hash for each entry of a table; a count of 0, or an empty set, has the hash 0."""
    if not all(sizes):
        return np.zeros([1] * len(sizes), np.uint64)
    entries = np.arange(np.prod(sizes), dtype=np.uint64)
    table: Ints = hashed(np.uint64(2**60 + kind) + np.uint64(8) * entries).reshape(sizes)
    table[..., 0] = 0
    return table


def _renamed_set(receivers: int, order: Renaming) -> int:
    return sum(1 << image for process, image in enumerate(order) if receivers >> process & 1)
