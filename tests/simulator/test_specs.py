"""The syntax of distributions, partitions and stops, and the errors for what is invalid."""

from __future__ import annotations

import re
from typing import Any

import pytest

from beforehand.errors import ScenarioError
from beforehand.simulator import Scenario, specs
from beforehand.simulator.world.distributions import (
    Constant,
    Exponential,
    Lognormal,
    Normal,
    Uniform,
)
from beforehand.simulator.world.processes import NEVER

MS = 10**6
SECOND = 10**9
NAMES = ["p0", "p1", "p2", "p3"]


def test_each_form_of_a_distribution() -> None:
    """The numbers end up where they belong, with spaces or without."""
    for text, value in (("5ms", 5 * MS), (" 5 ms ", 5 * MS), (0, 0), ("0s", 0)):
        constant = specs.durations(text, "delay")
        assert isinstance(constant, Constant) and constant.value == value
    for text in ("uniform:1ms,9ms", "uniform: 1ms , 9ms "):
        uniform = specs.durations(text, "delay")
        assert isinstance(uniform, Uniform) and (uniform.low, uniform.top) == (1 * MS, 9 * MS)
    normal = specs.durations("normal:25ms,5ms", "delay")
    assert isinstance(normal, Normal) and (normal.mean, normal.deviation) == (25 * MS, 5 * MS)
    lognormal = specs.durations("lognormal:40ms,0.5", "delay")
    assert isinstance(lognormal, Lognormal)
    assert (lognormal.median, lognormal.sigma) == (40 * MS, 0.5)
    exponential = specs.durations("exponential:10ms", "delay")
    assert isinstance(exponential, Exponential) and exponential.mean == 10 * MS


def test_distributions_of_sizes() -> None:
    """Another unit reads the same forms."""
    uniform = specs.sizes("uniform:100,1.5kB", "payload")
    assert isinstance(uniform, Uniform) and (uniform.low, uniform.top) == (100, 1_500)
    constant = specs.sizes(64, "payload")
    assert isinstance(constant, Constant) and constant.value == 64


def test_the_edges_of_what_is_allowed() -> None:
    """Equal bounds, no deviation and the greatest one are fine."""
    assert isinstance(specs.durations("uniform:5ms,5ms", "delay"), Uniform)
    for sigma in ("0", "10"):
        assert isinstance(specs.durations(f"lognormal:5ms,{sigma}", "delay"), Lognormal)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "'' is not a duration such as 5ms"),
        ("5", "'5' has no unit; write it like 5ms"),
        ("fast", "'fast' is not a duration such as 5ms"),
        ("-5ms", "'-5ms' is negative; it must be 0 or more"),
        (-5, "-5 has no unit; write it like 5ms"),
        ("gamma:1ms,2ms", "'gamma:1ms,2ms' is not understood; write .*uniform:1ms,9ms"),
        ("Uniform:1ms,2ms", "is not understood; write .*uniform:1ms,9ms"),
        (":", "is not understood; write .*uniform:1ms,9ms"),
        ("uniform", "'uniform' is not a duration such as 5ms"),
        ("uniform:", "is not understood; write .*uniform:1ms,9ms"),
        ("uniform:1ms", "is not understood; write .*uniform:1ms,9ms"),
        ("uniform:1ms,2ms,3ms", "is not understood; write .*uniform:1ms,9ms"),
        ("uniform:,2ms", "'' is not a duration such as 5ms"),
        (
            "uniform:9ms,1ms",
            "'uniform:9ms,1ms' has its bounds swapped; give the lower one first",
        ),
        ("uniform:-1ms,1ms", "'-1ms' is negative"),
        ("normal:25ms", "is not understood; write .*normal:25ms,5ms"),
        ("normal:25ms,fast", "'fast' is not a duration such as 5ms"),
        ("normal:25ms,-5ms", "'-5ms' is negative"),
        ("lognormal:40ms", "is not understood; write .*lognormal:40ms,0.5"),
        ("lognormal:40ms,5ms", "'5ms' is not a deviation from 0 to 10"),
        ("lognormal:40ms,nan", "'nan' is not a deviation from 0 to 10"),
        ("lognormal:40ms,-0.1", "-0.1 is not from 0 to 10"),
        ("lognormal:40ms,10.1", "10.1 is not from 0 to 10"),
        ("exponential:", "'' is not a duration such as 5ms"),
        ("exponential:1ms,2ms", "is not understood; write .*exponential:10ms"),
        ("matrix:1ms", "is not understood"),
        ("schedule:0s=1ms", "is not understood"),
        (True, "True is not a duration such as 5ms"),
    ],
)
def test_an_invalid_distribution_is_rejected(text: Any, error: str) -> None:
    """One sentence that names the field, what is wrong, and what would be right."""
    with pytest.raises(ScenarioError, match=f"^jitter: .*{error}"):
        specs.durations(text, "jitter")


@pytest.mark.parametrize("value", [5.5, None, ["5ms"]])
def test_values_that_are_neither_text_nor_integers(value: Any) -> None:
    """Values that a file of scenarios may hold by mistake are refused like wrong texts."""
    with pytest.raises(ScenarioError, match="^jitter: "):
        specs.durations(value, "jitter")
    with pytest.raises(ScenarioError, match="^delay: "):
        specs.delay(value, 3)


@pytest.mark.parametrize("text", ["9999999h", 2**63, "uniform:0s,9999999h", "normal:0s,9999999h"])
def test_durations_beyond_all_time_are_refused(text: str | int) -> None:
    """They do not fit 64 bits: the error is the same one in all builds."""
    with pytest.raises(ScenarioError, match="^jitter: "):
        specs.durations(text, "jitter")


def test_the_high_value_of_long_durations_does_not_overflow() -> None:
    """A time-out that is derived from it must not be negative."""
    assert specs.durations("exponential:8000h", "jitter").high() >= 8_000 * 3_600 * SECOND


@pytest.mark.parametrize("field", ["interval", "payload", "job", "jitter", "delay"])
def test_a_scenario_names_the_field(field: str) -> None:
    """Whatever field is wrong, the sentence begins with its name."""
    with pytest.raises(ScenarioError, match=f"^{field}: 'gamma:1,2' is not understood; write"):
        Scenario(processes=3, **{field: "gamma:1,2"})  # type: ignore[arg-type]


def test_an_invalid_payload_size_is_explained_in_bytes() -> None:
    """The example in the error is one that can be written there."""
    with pytest.raises(ScenarioError, match="^payload: ") as problem:
        specs.sizes("gamma:1,2", "payload")
    example = re.search(r"uniform:[^ ,]+,[^ ,]+", str(problem.value))
    assert example is not None
    assert isinstance(specs.sizes(example[0], "payload"), Uniform)


def test_partitions() -> None:
    """From, to, and one side of it: by names, or so many of the first ones."""
    named = specs.partition("1s-2.5s:p1,p3", NAMES)
    assert (named.start, named.end, named.group) == (SECOND, 2_500 * MS, {1, 3})
    spaced = specs.partition(" 0s - 1ns : p1 , p1 ", NAMES)
    assert (spaced.start, spaced.end, spaced.group) == (0, 1, {1})
    for part, count in (("50%", 2), ("25%", 1), ("30%", 1), ("40%", 2), ("87%", 3), (" 75 %", 3)):
        assert specs.partition(f"1s-2s:{part}", NAMES).group == set(range(count)), part


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is not understood; write it like 1s-3s:p1,p2 or 1s-3s:50%"),
        ("1s-3s", "is not understood; write it like 1s-3s:p1,p2 or 1s-3s:50%"),
        ("1s:p1", "is not understood; write it like 1s-3s:p1,p2 or 1s-3s:50%"),
        ("p1,p2", "is not understood; write it like 1s-3s:p1,p2 or 1s-3s:50%"),
        ("1-3s:p1", "'1' has no unit; write it like 5ms"),
        ("-3s:p1", "'' is not a duration such as 5ms"),
        ("1s-2s-3s:p1", "'2s-3s' is not a duration such as 5ms"),
        ("3s-1s:p1", "'3s-1s:p1' ends before it begins"),
        ("1s-1s:p1", "'1s-1s:p1' ends before it begins"),
        ("1s-3s:", "there is no process ''; the processes: p0, p1, p2, p3"),
        ("1s-3s:p1,p9", "there is no process 'p9'; the processes: p0, p1, p2, p3"),
        ("1s-3s:p1,", "there is no process ''"),
        ("1s-3s:p0,p1,p2,p3", "has no process on one side"),
        ("1s-3s:0%", "has no process on one side"),
        ("1s-3s:10%", "has no process on one side"),
        ("1s-3s:100%", "has no process on one side"),
        ("1s-3s:120%", "give from 0% to 100%"),
        ("1s-3s:-50%", "give from 0% to 100%"),
        ("1s-3s:%", "'' is not a percentage"),
        ("1s-3s:nan%", "'nan' is not a percentage"),
    ],
)
def test_an_invalid_partition_is_rejected(text: str, error: str) -> None:
    """The error quotes the text, with a remedy."""
    with pytest.raises(ScenarioError, match=f"^partition.*{error}"):
        specs.partition(text, NAMES)


def test_stops() -> None:
    """Who, when, and when the others give up on it."""
    stop = specs.stop("p3@2s", 500 * MS, NAMES)
    assert (stop.process, stop.time, stop.dropped_at) == ("p3", 2 * SECOND, 2_500 * MS)
    assert specs.stop(" p3 @ 2s ", None, NAMES).dropped_at == NEVER
    assert specs.stop("p3@0s", 0, NAMES).dropped_at == 0
    assert specs.stop("a@b@1s", None, ["a@b"]).process == "a@b"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is not understood; write it like p3@2s"),
        ("p3", "is not understood; write it like p3@2s"),
        ("p3@", "'' is not a duration such as 5ms"),
        ("p3@-1s", "'-1s' is negative"),
        ("@2s", "there is no process ''"),
        ("p9@2s", "there is no process 'p9'; the processes: p0, p1, p2, p3"),
    ],
)
def test_an_invalid_stop_is_rejected(text: str, error: str) -> None:
    """The error quotes the text, with a remedy."""
    with pytest.raises(ScenarioError, match=f"^stop.*{error}"):
        specs.stop(text, None, NAMES)


def test_of_many_processes_a_few_are_named() -> None:
    """The list in the error stays short."""
    many = [f"p{number}" for number in range(1_000)]
    with pytest.raises(ScenarioError, match="the processes: p0, p1, [.]{3} p999$"):
        specs.stop("p1000@2s", None, many)
