"""The event queue against a plain sorted list: order, ties, counters, and what it rejects."""

from __future__ import annotations

from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import ScenarioError
from beforehand.simulator.world.event_queue import MAX_TIME, Callback, TimingWheel, lowest_bit
from beforehand.simulator.world.random_streams import Stream

# When to schedule: after so long, or at a given instant (now, if that is over).
After = tuple[str, int]


def powers() -> st.SearchStrategy[int]:
    """Numbers around the powers of two, up to the end of time."""
    return st.builds(
        lambda shift, low: max(0, (1 << shift) + low), st.integers(0, 62), st.integers(-2, 2)
    )


# The few instants are there so that many events share one; the greatest differ in the top digit.
INSTANTS = [0, 31, 32, 1023, 1024, 10**6, 10**9 + 1, 2**40, 2**60 - 1, 2**60]
INSTANTS += [2**60 + 3, 2**60 + 2**52, 2**61 + 5, 2**61 + 2**57, MAX_TIME]
whens = st.one_of(
    st.tuples(st.just("after"), st.integers(0, 3)),
    st.tuples(st.just("after"), powers()),
    st.tuples(st.just("at"), st.sampled_from(INSTANTS)),
)
# The n-th event to happen schedules what is in the n-th list; the first list is before all of them.
plans = st.lists(st.lists(whens, max_size=4), min_size=1, max_size=25)


def instant(now: int, when: After) -> int:
    """The time that is meant, never beyond the end."""
    kind, amount = when
    return min(now + amount if kind == "after" else max(now, amount), MAX_TIME)


def fire_all(queue: TimingWheel) -> None:
    """Fire events until none is left."""
    while (event := queue.pop()) is not None:
        event.fire()


def by_sorting(plan: list[list[After]]) -> list[tuple[int, int]]:
    """What should happen, as (time, number in the order of scheduling)."""
    waiting: list[tuple[int, int]] = []
    happened: list[tuple[int, int]] = []
    scheduled = 0
    now = 0
    while True:
        for when in plan[len(happened)] if len(happened) < len(plan) else []:
            waiting.append((instant(now, when), scheduled))
            scheduled += 1
        if not waiting:
            return happened
        waiting.sort()
        happened.append(waiting.pop(0))
        now = happened[-1][0]


class Driven:
    """Carries out a plan on a real queue; an event that has happened is used for its first child."""

    def __init__(self, plan: list[list[After]]) -> None:
        self.queue = TimingWheel()
        self.plan = plan
        self.happened: list[tuple[int, int]] = []
        self.scheduled = 0
        self.reused = 0

    def schedule(self, old: Numbered | None) -> None:
        """Schedule what the plan has for this moment."""
        done = len(self.happened)
        for when in self.plan[done] if done < len(self.plan) else []:
            numbered = Numbered(self) if old is None else old
            self.reused += old is not None
            old = None
            numbered.number = self.scheduled
            self.queue.schedule(numbered.event, instant(self.queue.now, when))
            self.scheduled += 1


class Numbered:
    """An event that knows its number."""

    def __init__(self, driven: Driven) -> None:
        self.driven = driven
        self.number = -1
        self.event = Callback(self.happen)

    def happen(self) -> None:
        """Take notes and go on."""
        driven, queue = self.driven, self.driven.queue
        assert self.event.time == queue.now
        driven.happened.append((int(queue.now), self.number))
        assert queue.fired == len(driven.happened)
        assert queue.pending == driven.scheduled - len(driven.happened)
        driven.schedule(self)


@given(plans)
def test_everything_happens_in_the_order_of_a_sorted_list(plan: list[list[After]]) -> None:
    """Times and ties agree, for events scheduled before and during the run, far and near."""
    driven = Driven(plan)
    driven.schedule(None)
    fire_all(driven.queue)
    assert driven.happened == by_sorting(plan)
    assert driven.queue.pending == 0 and driven.queue.pop() is None


def test_many_events_of_all_magnitudes() -> None:
    """Thousands of events, most of them scheduled by others and by the same objects."""
    stream = Stream("many")
    plan: list[list[After]] = []
    for step in range(3_000):
        count = 200 if step == 0 else stream.below(3)
        plan.append([("after", stream.below(1 << stream.below(50))) for _ in range(count)])
    driven = Driven(plan)
    driven.schedule(None)
    fire_all(driven.queue)
    assert driven.happened == by_sorting(plan)
    assert len(driven.happened) > 3_000 and driven.reused > 1_000


def test_events_of_one_instant_keep_their_order_whenever_they_were_scheduled() -> None:
    """Some come when the instant is far, some when it is near, some in it: first come, first served."""
    queue = TimingWheel()
    happened: list[str] = []

    def note(name: str) -> Callback:
        return Callback(lambda: happened.append(name))

    def last_minute() -> None:
        queue.schedule(note("c"), 5_000)

    def at_the_instant() -> None:
        happened.append("b")
        queue.schedule(note("d"), 5_000)

    queue.schedule(note("a"), 5_000)
    queue.schedule(Callback(last_minute), 4_999)
    queue.schedule(Callback(at_the_instant), 5_000)
    fire_all(queue)
    assert happened == ["a", "b", "c", "d"]


def test_beyond_2_to_the_60_time_still_goes_forward() -> None:
    """Two events of the topmost digit, the nearer scheduled between two at a farther instant."""
    queue = TimingWheel()
    happened: list[int] = []
    near, far = 2**60 + 3, 2**60 + 5 * 2**50 + 100
    for time in (5 * 2**50, far, near, far):
        queue.schedule(Callback(lambda: happened.append(int(queue.now))), time)
    fire_all(queue)
    assert happened == [5 * 2**50, near, far, far]


def test_a_queue_without_events() -> None:
    """Nothing happens, and time stands still."""
    queue = TimingWheel()
    assert queue.pop() is None
    fire_all(queue)
    assert (queue.now, queue.fired, queue.pending) == (0, 0, 0)


def test_an_event_may_be_scheduled_again_and_again() -> None:
    """One object, 100 times: at the same instant, and later."""
    queue = TimingWheel()
    times: list[int] = []

    def again() -> None:
        times.append(int(queue.now))
        if len(times) < 100:
            queue.schedule(event, queue.now + len(times) % 2 * len(times))

    event = Callback(again)
    queue.schedule(event, 7)
    fire_all(queue)
    assert times[:4] == [7, 8, 8, 11]
    assert times == sorted(times) and len(times) == queue.fired == 100


def test_times_in_the_past_or_beyond_the_end_are_refused() -> None:
    """The error names the requested time and a remedy; the queue is unchanged."""
    queue = TimingWheel()
    queue.schedule(Callback(lambda: None), 10)
    assert queue.pop() is not None
    queue.schedule(Callback(lambda: None), 10)
    queue.schedule(Callback(lambda: None), MAX_TIME)
    for time in (9, 0, -1, MAX_TIME + 1):
        with pytest.raises(ScenarioError, match=rf"at {time} ns: it is 10 ns now.*shorter delays"):
            queue.schedule(Callback(lambda: None), time)
    assert queue.pending == 2
    fire_all(queue)
    assert (queue.now, queue.fired) == (MAX_TIME, 3)


def test_the_present_can_be_set_to_after_the_last_event() -> None:
    """As at a time limit: what comes then is counted from there, and still in order."""
    queue = TimingWheel()
    queue.schedule(Callback(lambda: None), 40)
    fire_all(queue)
    queue.now = 100
    with pytest.raises(ScenarioError, match="it is 100 ns now"):
        queue.schedule(Callback(lambda: None), 99)
    times: list[int] = []
    for time in (130, 100, 101):
        queue.schedule(Callback(lambda: times.append(int(queue.now))), time)
    fire_all(queue)
    assert times == [100, 101, 130]


class Token:
    """Something that an event holds on to."""

    def touch(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("spread", [1, 40, 5_000, 10**12])
def test_events_are_let_go_when_they_have_happened(spread: int) -> None:
    """At every moment exactly those objects are alive that an event still needs."""
    queue = TimingWheel()
    stream = Stream(f"tokens {spread}")
    tokens = []
    for _ in range(200):
        token = Token()
        tokens.append(ref(token))
        queue.schedule(Callback(token.touch), stream.below(spread))
        del token
    while True:
        event = queue.pop()
        if event is None:
            break
        assert event.next_event is None, "nothing hangs on an event that was taken"
        del event
        assert sum(token() is not None for token in tokens) == queue.pending
    assert queue.pending == 0 and queue.fired == 200


@given(st.integers(1, 2**32 - 1))
def test_the_lowest_bit(bits: int) -> None:
    """The same as testing one bit after the other."""
    assert lowest_bit(bits) == next(position for position in range(32) if bits >> position & 1)


def test_the_lowest_of_one_bit_and_of_all_above() -> None:
    """Each of the 32 positions, alone and with all higher ones."""
    for position in range(32):
        assert lowest_bit(1 << position) == position
        assert lowest_bit(0xFFFFFFFF >> position << position) == position
