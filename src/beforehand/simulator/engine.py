"""A discrete-event engine: what happens when, in integer nanoseconds, in one order for all machines.

Events happen in the order of their times; those of the same instant happen in the order in which
they were scheduled. So a run depends on nothing but what is scheduled.

The queue is a hierarchical timing wheel (Varghese and Lauck 1987). Time is read as digits of five
bits. An event waits at the level of the highest digit in which its time differs from the present, in
the slot that this digit names. When the present reaches that slot, its events move to lower levels,
in their order, and those at level 0 are due. Each event moves at most once per level, whatever the
number of events that wait: about four times for delays of milliseconds. Events of one instant are
always in one slot, in the order in which they came, so that no sequence number is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.errors import ScenarioError

DIGIT: Final = 5  # bits
SLOTS: Final = 32  # per level: one for each value of a digit
LEVELS: Final = 13  # enough digits for all of MAX_TIME
MAX_TIME: Final = 2**62  # nanoseconds: 146 years


class Event:
    """Something that happens at an instant. An event may be scheduled again once it has happened."""

    time: i64

    def __init__(self) -> None:
        self.time = 0

    def happen(self) -> None:
        """The instant has come."""
        raise NotImplementedError


class Call(Event):
    """Calls a function: for what is rare."""

    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__()
        self.function = function

    def happen(self) -> None:
        self.function()


class Engine:
    """The queue of events, and the present."""

    now: i64
    happened: i64  # events so far
    pending: i64  # events that wait
    _reach: i64  # the wheel has been turned to here: `now`, except while the next event is sought
    _slots: list[list[Event]]  # level by level
    _occupied: list[int]  # for each level, a bit for each slot that is not empty
    _due: list[Event]  # the slot of the present
    _done: i64  # how many of `_due` have been taken

    def __init__(self) -> None:
        self.now = 0
        self.happened = 0
        self.pending = 0
        self._reach = 0
        self._slots = [[] for _ in range(LEVELS * SLOTS)]
        self._occupied = [0] * LEVELS
        self._due = self._slots[0]
        self._done = 0

    def schedule(self, event: Event, time: i64) -> None:
        """Let an event happen at a time, not before the present."""
        if time < self.now or time > MAX_TIME:
            raise ScenarioError(
                f"an event cannot be scheduled at {time} ns: it is {self.now} ns now, and time ends "
                f"at {MAX_TIME} ns (146 years); use shorter delays"
            )
        event.time = time
        self._put(event)
        self.pending += 1

    def _put(self, event: Event) -> None:
        differs: i64 = event.time ^ self._reach
        level: i64 = 0
        while differs >= SLOTS:
            differs >>= DIGIT
            level += 1
        slot: i64 = (event.time >> level * DIGIT) & (SLOTS - 1)
        self._slots[level * SLOTS + slot].append(event)
        self._occupied[level] |= int(1 << slot)

    def next(self) -> Event | None:
        """Go to the next event and take it; None if there is none."""
        if self._done == len(self._due) and not self._turn():
            return None
        event = self._due[self._done]
        self._done += 1
        self.now = event.time
        self.happened += 1
        self.pending -= 1
        return event

    def _turn(self) -> bool:
        """Turn the wheel until a slot of level 0 has the next events; False if there are none."""
        self._due.clear()
        self._done = 0
        self._occupied[0] &= ~int(1 << (self._reach & (SLOTS - 1)))
        while True:
            level: i64 = 0
            while level < LEVELS and self._occupied[level] == 0:
                level += 1
            if level == LEVELS:
                return False
            occupied: i64 = self._occupied[level]
            slot = lowest_bit(occupied)
            shift = level * DIGIT
            self._reach = (self._reach >> (shift + DIGIT) << (shift + DIGIT)) | slot << shift
            index = level * SLOTS + slot
            if level == 0:
                self._due = self._slots[index]
                return True
            moving = self._slots[index]
            self._slots[index] = []
            self._occupied[level] &= ~int(1 << slot)
            for event in moving:
                self._put(event)

    def run(self) -> None:
        """Let everything happen, until nothing is left to happen."""
        while True:
            event = self.next()
            if event is None:
                return
            event.happen()


def lowest_bit(bits: i64) -> i64:
    """The position of the lowest bit that is set, of 32."""
    place: i64 = 0
    if bits & 0xFFFF == 0:
        bits >>= 16
        place = 16
    if bits & 0xFF == 0:
        bits >>= 8
        place += 8
    if bits & 0xF == 0:
        bits >>= 4
        place += 4
    if bits & 0x3 == 0:
        bits >>= 2
        place += 2
    if bits & 0x1 == 0:
        place += 1
    return place
