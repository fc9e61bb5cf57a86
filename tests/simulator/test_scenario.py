"""A scenario that cannot be run is refused as a whole, before anything runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from beforehand.errors import BeforehandError, ScenarioError
from beforehand.simulator import Program, Scenario, Send, run

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no processes": ({"processes": 0}, "processes is 0; give a number from 1"),
    "fewer than none": ({"processes": -5}, "processes is -5"),
    "too many processes": ({"processes": 10**7}, "to 1,000,000"),
    "half a process": ({"processes": 2.5}, "give a number, or a list"),
    "the same name twice": ({"processes": ("a", "a")}, "distinct names"),
    "an empty name": ({"processes": ("a", "")}, "processes: "),
    "one process alone": ({"processes": 1}, "needs at least 2 processes"),
    "fewer messages than none": ({"messages": -1}, "messages is -1"),
    "a negative seed": ({"seed": -1}, "seed is -1"),
    "a negative delay": ({"delay": "-5ms"}, "delay: '-5ms' is negative"),
    "a negative delay in a distribution": ({"delay": "uniform:-1ms,5ms"}, "'-1ms' is negative"),
    "a delay without unit": ({"delay": "5"}, "delay: '5' has no unit; write it like 5ms"),
    "a delay of the future": ({"delay": "5parsec"}, "units: ns, us, ms, s, m, min, h"),
    "an unknown distribution": ({"delay": "pareto:5ms,2"}, "write 5ms, uniform:.*matrix.*schedule"),
    "bounds the wrong way round": ({"jitter": "uniform:9ms,1ms"}, "bounds swapped"),
    "a crooked matrix": ({"delay": "matrix:1ms,2ms;3ms"}, "row 2 .* has 1 delays"),
    "a schedule that goes back": ({"delay": "schedule:5s=1ms,1s=1ms"}, "in order of time"),
    "no bandwidth": ({"bandwidth": "0kB/s"}, "would never send anything"),
    "a bandwidth of bytes": ({"bandwidth": "5kB"}, "write it like 50kB/s"),
    "certain loss": ({"loss": 1.0}, "nothing would ever arrive"),
    "more than certain": ({"duplicate": 1.5}, "duplicate: 1.5 isn't a share"),
    "a share of not a number": ({"loss": float("nan")}, "isn't a share"),
    "an unknown protocol": ({"protocol": "hybird"}, "did you mean hybrid"),
    "an unknown option": ({"options": {"turbo": True}}, "no option 'turbo'"),
    "an unknown workload": ({"workload": "unifrom"}, "there is no workload 'unifrom'; the work"),
    "a workload without parameters": ({"workload": "hotspot"}, "hotspot:SHARE,PROBABILITY"),
    "more stages than processes": (
        {"workload": "pipeline:9", "processes": 5},
        "STAGES is 9; give from 2 to 5",
    ),
    "a shop without a bank": ({"workload": "shop", "processes": 2}, "at least 3 processes"),
    "a group of everybody and more": ({"workload": "groups:200"}, "from 2 to 100"),
    "no multicast": (
        {"workload": "groups:5", "protocol": "mattern"},
        "mattern has no multicast.* set split",
    ),
    "a replay of nothing": ({"workload": "replay"}, "needs a program"),
    "a program that is not replayed": (
        {"program": Program([Send("x", "a", ("b",))])},
        "the workload uniform has no use for a program",
    ),
    "a partition of strangers": ({"partitions": ("1s-2s:eve",)}, "no process 'eve'; the pro"),
    "a partition of everybody": ({"partitions": ("1s-2s:100%",)}, "has no process on one side"),
    "a partition that ends first": ({"partitions": ("2s-1s:50%",)}, "ends before it begins"),
    "a partition in prose": ({"partitions": ("later",)}, "1s-3s:p1,p2"),
    "a stop of a stranger": ({"stops": ("eve@1s",)}, "no process 'eve'"),
    "two stops of one": ({"stops": ("p01@1s", "p01@2s")}, "stops only once"),
    "a stop of all": ({"processes": 2, "stops": ("p0@1s", "p1@1s")}, "leave at least one"),
    "a stop in prose": ({"stops": ("p01",)}, "p3@2s"),
    "a clock that never ticks": ({"tick": "0ms"}, "tick is 0"),
    "an unreliable network for rst": (
        {"protocol": "rst", "loss": 0.1, "link": "never"},
        "rst assumes a reliable network",
    ),
    "an unordered network for pipelines": (
        {"protocol": "mattern", "options": {"fifo_links": True}},
        "set fifo, or link to always",
    ),
    "a link that does not exist": ({"link": "maybe"}, "auto, always or never"),
    "a negative payload": ({"payload": -1}, "payload: -1 is negative"),
    "a broadcast rate of nothing": ({"workload": "broadcast:0"}, "RATE is 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_scenarios_are_refused(name: str) -> None:
    """The scenario itself raises, with the problem and the possibilities in one sentence."""
    fields, reason = REFUSED[name]
    with pytest.raises(BeforehandError, match=reason) as caught:
        Scenario(**fields)
    assert "\n" not in str(caught.value)


def test_all_errors_are_of_one_kind() -> None:
    """A caller that continues with other scenarios only has to catch ScenarioError."""
    kinds = set()
    for fields, _ in REFUSED.values():
        with pytest.raises(BeforehandError) as caught:
            Scenario(**fields)
        kinds.add(type(caught.value))
    assert kinds == {ScenarioError}


def test_a_scenario_can_be_written_down() -> None:
    """As JSON, with everything that decides the run, and back."""
    scenario = Scenario(
        processes=("x", "y"),
        partitions=["1s-2s:x"],
        options={"coalesce": True},
        loss=0.5,
    )
    written = json.loads(json.dumps(scenario.to_dict()))
    assert written["partitions"] == ["1s-2s:x"] and written["processes"] == ["x", "y"]
    assert Scenario(**written) == scenario
    assert hash(scenario.digest()) == hash(Scenario(**written).digest())


def test_a_result_can_be_written_down() -> None:
    """As JSON, with the witness of every violation."""
    result = run(Scenario(protocol="fifo", workload="shop", processes=10, seed=2), audit=True)
    written = json.loads(json.dumps(result.to_dict()))
    assert written["metrics"]["latency"]["p99"] == result.metrics.latency.p99
    assert written["scenario"]["protocol"] == "fifo" and written["audited"]
    first = written["violations"][0]
    assert first["kind"] == "causal" and len(first["chain"]) == 3 and "before" in first["sentence"]


def test_a_run_can_be_cut_short() -> None:
    """At the time limit it ends as cut short."""
    result = run(Scenario(processes=5, messages=100, until="200ms"))
    assert result.outcome == "cut short"
    assert result.metrics.execution_ns == 200_000_000
    assert 0 < result.metrics.sent < 500 and result.metrics.unsent == 500 - result.metrics.sent


def test_names_sort_like_numbers() -> None:
    """So that tables and traces are in the order in which people count."""
    assert Scenario(processes=3).names == ["p0", "p1", "p2"]
    names = Scenario(processes=1000).names
    assert names == sorted(names) and names[7] == "p007"


def test_processes_may_be_named() -> None:
    """Any names do, also those with spaces and without letters."""
    result = run(Scenario(processes=("a b", "é", "#"), messages=5), audit=True)
    assert result.clean and result.metrics.sent == 15


def test_ticks_come_with_loss() -> None:
    """About two round trips apart, or as asked for; none on a network that loses nothing."""
    assert Scenario(delay="5ms").tick_ns == 0
    assert Scenario(delay="5ms", loss=0.1).tick_ns == 20_000_000
    assert Scenario(delay="5ms", jitter="uniform:0ms,5ms", duplicate=0.1).tick_ns == 40_000_000
    assert Scenario(delay="0ms", partitions=("1s-2s:50%",)).tick_ns == 1_000_000
    assert Scenario(loss=0.1, tick="3ms").tick_ns == 3_000_000


# ---- how people write values ----


@pytest.mark.parametrize(
    "field",
    ["interval", "job", "delay", "jitter", "drop_after", "tick", "until", "sample", "flush"],
)
def test_a_duration_without_a_unit_is_refused(field: str) -> None:
    """A bare 5 used to mean five nanoseconds, which nobody meant; 0 is 0 in every unit."""
    with pytest.raises(ScenarioError, match=f"^{field}: 5 has no unit; write it like 5ms"):
        Scenario(**{field: 5})  # type: ignore[arg-type]
    if field not in ("tick", "sample"):  # which are periods
        Scenario(**{field: 0})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["loss", "duplicate", "job_share"])
def test_a_share_is_the_same_run_however_it_is_written(field: str) -> None:
    """As a number, as its digits, or as a percentage: one digest."""
    scenarios = [Scenario(**{field: value}) for value in (0.1, "0.1", "10%")]  # type: ignore[arg-type]
    assert {getattr(scenario, field) for scenario in scenarios} == {0.1}
    assert len({scenario.digest() for scenario in scenarios}) == 1


def test_the_default_protocol_is_the_same_everywhere() -> None:
    """Whatever runs without a protocol runs the one that nodes run."""
    from inspect import signature

    from beforehand import Node, protocols
    from beforehand.checker import setting
    from beforehand.cli.options import DEFAULT_PROTOCOL
    from beforehand.runtime.cluster.plan import ClusterPlan

    assert protocols.DEFAULT == DEFAULT_PROTOCOL == Scenario().protocol == ClusterPlan().protocol
    for function in (Node, setting):
        assert signature(function).parameters["protocol"].default == protocols.DEFAULT


def test_a_scenario_shows_what_is_special_about_it() -> None:
    """The protocol, and what differs from the defaults; so it can be copied into code."""
    scenario = Scenario(processes=3, loss="10%", options={"coalesce": True})
    text = "Scenario(protocol='hybrid-sps', processes=3, loss=0.1, options={'coalesce': True})"
    assert repr(scenario) == text
    assert eval(text) == scenario
