"""The event queue: what happens when, in integer nanoseconds, in the same order on every machine.

Events fire in the order of their times; events of the same instant fire in the order in which they
were scheduled. So a run depends on nothing but what is scheduled.

The queue is a hierarchical timing wheel (Varghese and Lauck 1987). Time is read as digits of five
bits. An event waits at the level of the highest digit in which its time differs from the present, in
the slot that this digit selects. When the present reaches that slot, its events cascade to lower
levels, in order, and those at level 0 are due. An event moves at most once per level, however many
events are waiting, and events that share their slot with no other instant move down at once. Events
of one instant are always in one slot, in the order in which they were scheduled, so no sequence
number is needed.
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

ONE: Final[i64] = 1


class ScheduledEvent:
    """Something that happens at an instant. An event may be scheduled again once it has fired."""

    def __init__(self) -> None:
        self.time: i64 = 0
        self.next_event: ScheduledEvent | None = None  # in the same slot of the wheel

    def fire(self) -> None:
        """The instant has come."""
        raise NotImplementedError


class Callback(ScheduledEvent):
    """Calls a function: for rare events."""

    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__()
        self.function = function

    def fire(self) -> None:
        self.function()


class WheelSlot:
    """A linked list of events."""

    def __init__(self) -> None:
        self.first: ScheduledEvent | None = None
        self.last: ScheduledEvent | None = None
        self.one_instant: bool = True  # all of them fire at the same time


class WheelLevel:
    """One ring of the wheel: a slot for each value of a digit."""

    def __init__(self) -> None:
        self.occupied: i64 = 0  # a bit for each slot that is not empty
        self.slots: Final[list[WheelSlot]] = [WheelSlot() for _ in range(SLOTS)]

    def append(self, index: i64, event: ScheduledEvent) -> None:
        """Put an event at the end of a slot."""
        slot = self.slots[index]
        last = slot.last
        if last is None:
            slot.first = event
            slot.one_instant = True
            self.occupied |= ONE << index
        else:
            last.next_event = event
            if last.time != event.time:
                slot.one_instant = False
        slot.last = event


class TimingWheel:
    """The pending events, and the present."""

    def __init__(self) -> None:
        self.now: i64 = 0
        self.fired: i64 = 0  # events so far
        self.pending: i64 = 0
        # The wheel has been turned to here: the time of the last event. `now` may be set beyond it.
        self._wheel_time: i64 = 0
        self._levels: Final[list[WheelLevel]] = [WheelLevel() for _ in range(LEVELS)]

    def schedule(self, event: ScheduledEvent, time: i64) -> None:
        """Let an event fire at a time, not before the present."""
        if time < self.now or time > MAX_TIME:
            raise ScenarioError(
                f"an event cannot be scheduled at {time} ns: it is {self.now} ns now, and time ends "
                f"at {MAX_TIME} ns (146 years); use shorter delays"
            )
        event.time = time
        self._insert(event)
        self.pending += 1

    def _insert(self, event: ScheduledEvent) -> None:
        differs: i64 = event.time ^ self._wheel_time
        level: i64 = 0
        while differs >= SLOTS:
            differs >>= DIGIT
            level += 1
        self._levels[level].append((event.time >> level * DIGIT) & (SLOTS - 1), event)

    def pop(self) -> ScheduledEvent | None:
        """Advance to the next event and remove it; None if there is none."""
        while True:
            number: i64 = 0
            level = self._levels[0]
            while level.occupied == 0:
                number += 1
                if number == LEVELS:
                    return None
                level = self._levels[number]
            index = lowest_bit(level.occupied)
            slot = level.slots[index]
            event = slot.first
            assert event is not None
            following = event.next_event
            if following is None:
                # Alone in the lowest slot: nothing is earlier, so the wheel may turn to it at once.
                slot.first = None
                slot.last = None
                level.occupied ^= ONE << index
                return self._advance_to(event)
            if number == 0:
                slot.first = following
                return self._advance_to(event)
            self._cascade(level, number, index)

    def _cascade(self, level: WheelLevel, number: i64, index: i64) -> None:
        """Turn the wheel to the lowest slot that is not empty, and move its events down."""
        slot = level.slots[index]
        event = slot.first
        last = slot.last
        assert event is not None
        slot.first = None
        slot.last = None
        level.occupied ^= ONE << index
        if slot.one_instant:
            # All of them are next: level 0, which is empty, takes the list as it is.
            self._wheel_time = event.time
            lowest = self._levels[0]
            due = lowest.slots[event.time & (SLOTS - 1)]
            due.first = event
            due.last = last
            due.one_instant = True
            lowest.occupied |= ONE << (event.time & (SLOTS - 1))
            return
        shift = number * DIGIT
        # Two shifts: at the highest level a single one would exceed the width of the integer.
        self._wheel_time = (self._wheel_time >> shift >> DIGIT << DIGIT << shift) | index << shift
        moving: ScheduledEvent | None = event
        while moving is not None:
            following = moving.next_event
            moving.next_event = None
            self._insert(moving)
            moving = following

    def undo_pop(self, event: ScheduledEvent, now: i64) -> None:
        """Put the last event back: the present is `now`, before its time."""
        self._insert(event)
        self.now = now
        self.fired -= 1
        self.pending += 1

    def _advance_to(self, event: ScheduledEvent) -> ScheduledEvent:
        event.next_event = None
        self._wheel_time = event.time
        self.now = event.time
        self.fired += 1
        self.pending -= 1
        return event


def lowest_bit(bits: i64) -> i64:
    """The position of the lowest bit that is set, of 32."""
    position: i64 = 0
    if bits & 0xFFFF == 0:
        bits >>= 16
        position = 16
    if bits & 0xFF == 0:
        bits >>= 8
        position += 8
    if bits & 0xF == 0:
        bits >>= 4
        position += 4
    if bits & 0x3 == 0:
        bits >>= 2
        position += 2
    if bits & 0x1 == 0:
        position += 1
    return position
