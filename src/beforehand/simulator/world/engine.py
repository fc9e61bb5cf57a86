"""A discrete-event engine: what happens when, in integer nanoseconds, in one order for all machines.

Events happen in the order of their times; those of the same instant happen in the order in which
they were scheduled. So a run depends on nothing but what is scheduled.

The queue is a hierarchical timing wheel (Varghese and Lauck 1987). Time is read as digits of five
bits. An event waits at the level of the highest digit in which its time differs from the present, in
the slot that this digit names. When the present reaches that slot, its events move to lower levels,
in their order, and those at level 0 are due. Each event moves at most once per level, whatever the
number of events that wait, and events that share their slot with no other instant move down at once.
Events of one instant are always in one slot, in the order in which they came: no sequence number is
needed.
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


class Event:
    """Something that happens at an instant. An event may be scheduled again once it has happened."""

    time: i64
    after: Event | None  # the next one in the same slot of the wheel

    def __init__(self) -> None:
        self.time = 0
        self.after = None

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


class Slot:
    """A queue of events, linked by `after`."""

    first: Event | None
    last: Event | None
    one_instant: bool  # all of them happen at the same time

    def __init__(self) -> None:
        self.first = None
        self.last = None
        self.one_instant = True


class Level:
    """One ring of the wheel: a slot for each value of a digit."""

    occupied: i64  # a bit for each slot that is not empty
    slots: Final[list[Slot]]

    def __init__(self) -> None:
        self.occupied = 0
        self.slots = [Slot() for _ in range(SLOTS)]

    def append(self, place: i64, event: Event) -> None:
        """Put an event at the end of a slot."""
        slot = self.slots[place]
        last = slot.last
        if last is None:
            slot.first = event
            slot.one_instant = True
            self.occupied |= ONE << place
        else:
            last.after = event
            if last.time != event.time:
                slot.one_instant = False
        slot.last = event


class Engine:
    """The queue of events, and the present."""

    now: i64
    happened: i64  # events so far
    pending: i64  # events that wait
    # The wheel has been turned to here: the time of the last event. `now` may be set beyond it.
    _reach: i64
    _levels: Final[list[Level]]

    def __init__(self) -> None:
        self.now = 0
        self.happened = 0
        self.pending = 0
        self._reach = 0
        self._levels = [Level() for _ in range(LEVELS)]

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
        self._levels[level].append((event.time >> level * DIGIT) & (SLOTS - 1), event)

    def next(self) -> Event | None:
        """Go to the next event and take it; None if there is none."""
        while True:
            number: i64 = 0
            level = self._levels[0]
            while level.occupied == 0:
                number += 1
                if number == LEVELS:
                    return None
                level = self._levels[number]
            place = lowest_bit(level.occupied)
            slot = level.slots[place]
            event = slot.first
            assert event is not None
            following = event.after
            if following is None:
                # Alone in the lowest slot: nothing is earlier, so the wheel may turn to it at once.
                slot.first = None
                slot.last = None
                level.occupied ^= ONE << place
                return self._taken(event)
            if number == 0:
                slot.first = following
                return self._taken(event)
            self._turn(level, number, place)

    def _turn(self, level: Level, number: i64, place: i64) -> None:
        """Turn the wheel to the lowest slot that is not empty, and move its events down."""
        slot = level.slots[place]
        event = slot.first
        last = slot.last
        assert event is not None
        slot.first = None
        slot.last = None
        level.occupied ^= ONE << place
        if slot.one_instant:
            # They are the next ones, all of them: level 0, which is empty, takes them as they are.
            self._reach = event.time
            lowest = self._levels[0]
            due = lowest.slots[event.time & (SLOTS - 1)]
            due.first = event
            due.last = last
            due.one_instant = True
            lowest.occupied |= ONE << (event.time & (SLOTS - 1))
            return
        shift = number * DIGIT
        # In two steps: at the highest level one would be by more bits than there are.
        self._reach = (self._reach >> shift >> DIGIT << DIGIT << shift) | place << shift
        moving: Event | None = event
        while moving is not None:
            following = moving.after
            moving.after = None
            self._put(moving)
            moving = following

    def put_back(self, event: Event, now: i64) -> None:
        """Undo `next`: it is only `now`, and the event is not for now."""
        self._put(event)
        self.now = now
        self.happened -= 1
        self.pending += 1

    def _taken(self, event: Event) -> Event:
        event.after = None
        self._reach = event.time
        self.now = event.time
        self.happened += 1
        self.pending -= 1
        return event

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
