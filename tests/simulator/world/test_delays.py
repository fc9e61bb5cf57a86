"""Delays: the same everywhere, by a matrix of sites, or by a schedule; all worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import ScenarioError
from beforehand.simulator import specs
from beforehand.simulator.world.distributions import (
    Constant,
    Exponential,
    Lognormal,
    Normal,
    Uniform,
)
from beforehand.simulator.world.network import Delay, EqualDelay, ScheduledDelay, SiteDelay
from beforehand.simulator.world.random_streams import Stream

MS = 10**6
SECOND = 10**9
MINUTE = 60 * SECOND


def at(delay: Delay, now: int, sender: int = 0, receiver: int = 1) -> int:
    """The delay of a frame."""
    return int(delay.draw(sender, receiver, now, Stream("delays")))


def test_the_same_everywhere() -> None:
    """A constant, or draws of one distribution, whoever sends and whenever."""
    constant = specs.delay("5ms", 3)
    assert isinstance(constant, EqualDelay) and constant.high() == 5 * MS
    assert {at(constant, now, a, b) for now in (0, 10**12) for a, b in ((0, 1), (2, 0))} == {5 * MS}
    assert at(specs.delay("77ns", 3), 0) == 77
    spread = specs.delay("uniform:1ms,9ms", 3)
    stream, twin = Stream("same"), Stream("same")
    drawn = [spread.draw(0, 1, 0, stream) for _ in range(20)]
    assert drawn == [Uniform(1 * MS, 9 * MS).draw(twin) for _ in range(20)]
    assert spread.high() == 9 * MS


def test_a_matrix_between_sites() -> None:
    """The row is the sender's site, the column the receiver's; processes take turns at the sites."""
    delay = specs.delay("matrix:1ms,2ms,3ms;4ms,5ms,6ms;7ms,8ms,9ms", 7)
    assert isinstance(delay, SiteDelay) and delay.sites == [0, 1, 2, 0, 1, 2, 0]
    assert [[at(delay, 0, a, b) // MS for b in range(3)] for a in range(3)] == [
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
    ]
    assert at(delay, 0, 5, 6) == at(delay, 0, 2, 0) == 7 * MS
    assert delay.high() == 9 * MS


def test_a_matrix_may_have_one_site_or_more_than_there_are_processes() -> None:
    """One cell is enough, and sites may be empty."""
    assert at(specs.delay("matrix:3ms", 4), 0, 1, 2) == 3 * MS
    wide = specs.delay("matrix:1ms,2ms,3ms; 4ms,5ms,6ms; 7ms,8ms,9ms", 2)
    assert at(wide, 0, 1, 0) == 4 * MS


def test_cells_of_a_matrix_can_be_distributions() -> None:
    """Commas inside a distribution do not end its cell."""
    delay = specs.delay(
        "matrix:1ms, uniform:1ms,9ms, exponential:5ms; normal:25ms,5ms,2ms,lognormal:40ms,0.5;"
        "exponential:1ms,exponential:2ms,uniform:3ms,3ms",
        3,
    )
    assert isinstance(delay, SiteDelay)
    kinds = [[type(cell) for cell in row] for row in delay.matrix]
    assert kinds == [
        [Constant, Uniform, Exponential],
        [Normal, Constant, Lognormal],
        [Exponential, Exponential, Uniform],
    ]
    assert at(delay, 0, 1, 1) == 2 * MS and at(delay, 0, 2, 2) == 3 * MS


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "matrix:1ms,2ms",
            "row 1 of the matrix has 2 delays, not 1, one per site; give as many",
        ),
        ("matrix:1ms,2ms;3ms", "row 2 of the matrix has 1 delays, not 2"),
        ("matrix:1ms,2ms;3ms,4ms;", "'' is not a duration such as 5ms"),
        ("matrix:", "'' is not a duration such as 5ms"),
        ("matrix", "'' is not a duration such as 5ms"),
        ("matrix:1ms,fast;3ms,4ms", "'fast' is not a duration such as 5ms"),
        ("matrix:1ms,-2ms;3ms,4ms", "'-2ms' is negative"),
        ("matrix:uniform:1ms", "'uniform:1ms' is not understood; write .*uniform:1ms,9ms"),
        ("matrix:uniform:9ms,1ms", "has its bounds swapped"),
        ("matrix:gamma:1ms,2ms", "'gamma:1ms,2ms' is not understood"),
        ("matrix:schedule:0s=1ms", "is not understood"),
    ],
)
def test_an_invalid_matrix_is_rejected(text: str, error: str) -> None:
    """The error names the field, and the row or the cell."""
    with pytest.raises(ScenarioError, match=f"^delay.*{error}"):
        specs.delay(text, 4)


SCHEDULE = "schedule:1min=10ms, 3min=30ms,4min=0ms"


@pytest.mark.parametrize(
    ("now", "delay"),
    [
        (0, 10 * MS),  # before the first point
        (MINUTE - 1, 10 * MS),
        (MINUTE, 10 * MS),
        (MINUTE + 6_000, 10 * MS + 1),  # 20 ms in 120 s: one nanosecond each 6,000
        (MINUTE + 5_999, 10 * MS),  # what is not yet a whole one does not count
        (2 * MINUTE, 20 * MS),
        (3 * MINUTE - 1, 30 * MS - 1),
        (3 * MINUTE, 30 * MS),
        (3 * MINUTE + 1, 30 * MS - 1),  # down 1 in 2,000: the integer below
        (3 * MINUTE + 2_000, 30 * MS - 1),
        (3 * MINUTE + 30 * SECOND, 15 * MS),
        (4 * MINUTE - 2_000, 1),
        (4 * MINUTE - 1, 0),
        (4 * MINUTE, 0),
        (2**62, 0),  # after the last one
    ],
)
def test_a_schedule_at_one_time(now: int, delay: int) -> None:
    """Straight lines between the points, and nothing changes before and after them."""
    assert at(specs.delay(SCHEDULE, 2), now) == delay


times = st.lists(st.integers(0, 5 * MINUTE), max_size=30)


@given(times)
def test_a_schedule_can_be_queried_in_any_order(queries: list[int]) -> None:
    """Forward, back by a little or by much: as if each question were the first."""
    delay = specs.delay(SCHEDULE, 2)
    assert [at(delay, now) for now in queries] == [
        at(specs.delay(SCHEDULE, 2), now) for now in queries
    ]


def test_a_schedule_goes_back_over_a_point() -> None:
    """A copy that leaves later may have been asked about first."""
    delay = specs.delay(SCHEDULE, 2)
    nows = [3 * MINUTE + 2_000, 3 * MINUTE - 6_000, 3 * MINUTE + 2_000, MINUTE - 1, 9 * MINUTE]
    assert [at(delay, now) for now in nows] == [30 * MS - 1, 30 * MS - 1, 30 * MS - 1, 10 * MS, 0]


def test_other_schedules() -> None:
    """One point is a constant; slopes over years do not overflow; the highest point is known."""
    assert {at(specs.delay("schedule:5s=7ms", 2), now) for now in (0, 5 * SECOND, 10**15)} == {
        7 * MS
    }
    long = specs.delay("schedule:0s=0s,8000h=8000h", 2)
    half = 4_000 * 3_600 * SECOND
    assert at(long, half) == half
    assert isinstance(long, ScheduledDelay)
    assert specs.delay(SCHEDULE, 2).high() == 30 * MS


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("schedule", "'' isn't a point; write it like 15min=300ms"),
        ("schedule:", "'' isn't a point; write it like 15min=300ms"),
        ("schedule:5ms", "'5ms' isn't a point; write it like 15min=300ms"),
        ("schedule:0s=1ms,", "'' isn't a point; write it like 15min=300ms"),
        ("schedule:1=1ms", "'1' has no unit; write it like 5ms"),
        ("schedule:0s=", "'' is not a duration such as 5ms"),
        ("schedule:0s=1ms=2ms", "'1ms=2ms' is not a duration such as 5ms"),
        ("schedule:0s=-1ms", "'-1ms' is negative"),
        ("schedule:2s=1ms,1s=2ms", "isn't in order of time; sort its points"),
        ("schedule:1s=1ms,1s=2ms", "isn't in order of time; sort its points"),
    ],
)
def test_an_invalid_schedule_is_rejected(text: str, error: str) -> None:
    """The error quotes the point or the schedule, with a remedy."""
    with pytest.raises(ScenarioError, match=f"^delay schedule: .*{error}"):
        specs.delay(text, 2)


@pytest.mark.parametrize("text", ["gamma:1ms,2ms", "uniform:1ms", "Matrix:1ms"])
def test_an_invalid_delay_is_rejected(text: str) -> None:
    """All forms are listed, those of delays only too."""
    with pytest.raises(ScenarioError, match="^delay: .* is not understood; write 5ms") as problem:
        specs.delay(text, 2)
    for form in ("uniform:", "normal:", "lognormal:", "exponential:", "matrix:", "schedule:"):
        assert form in str(problem.value)
