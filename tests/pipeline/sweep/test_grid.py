"""Grids: which values they refuse, which combinations they skip and why, and how runs are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beforehand.errors import BeforehandError, PipelineError
from beforehand.pipeline.sweep.grid import FIELDS, Grid, plan
from beforehand.pipeline.sweep.networks import NETWORK_FIELDS, NETWORKS
from beforehand.simulator import Program, Scenario, Send

PAIR = Program([Send("a", "x", ("y",)), Send("b", "y", ("x",), ("a",))])
MANY = Program([Send("a", "x", ("y", "z"))])


def runs(grid: Grid) -> list[str]:
    """The names of all planned runs."""
    return [point.run for point in plan(grid).points]


def test_every_combination_is_a_run() -> None:
    """Protocols x workloads x networks x sizes x seeds x further fields, without duplicates."""
    grid = Grid(
        ("hybrid", "rst"),
        ("uniform", "ring:2"),
        ("lan", "wan", "mobile"),
        (4, 8),
        (1, 2, 3),
        {"messages": (5,), "payload": (10, "1kB")},
    )
    planned = plan(grid)
    assert len(planned.points) == len(set(runs(grid))) == 2 * 2 * 3 * 2 * 3 * 2
    assert not planned.skipped
    point = planned.points[-1]
    assert (point.scenario.protocol, point.workload, point.network) == ("rst", "ring:2", "mobile")
    assert point.scenario.loss == NETWORKS["mobile"]["loss"]
    assert point.setting == "messages=5, payload=1kB"
    assert point.run == point.scenario.digest()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": ("hybird",)}, "there is no protocol 'hybird' .did you mean hybrid"),
        ({"protocol": ()}, "protocol: list at least one value"),
        ({"protocol": "hybrid"}, "protocol: list at least one value"),
        ({"protocol": (3,)}, "protocol: 3 is invalid; use text"),
        ({"workload": ("unifrom",)}, "there is no workload 'unifrom'"),
        ({"workload": ("ring:x",)}, "ring: PEERS"),
        ({"workload": ("replay",)}, "say of what"),
        ({"workload": ("groups:500",)}, "groups: SIZE is 500"),
        (
            {"network": ("lna",)},
            "there is no network 'lna'; the networks: default, lan, wan, mobile",
        ),
        ({"networks": {"lan": {}}}, "'lan' exists already"),
        ({"networks": {"mine": {"lose": 0.1}}}, "network 'mine' has no 'lose'; it has delay"),
        ({"networks": {"mine": {"loss": 2}}, "network": ("mine",)}, "loss"),
        ({"processes": (0,)}, "processes is 0"),
        ({"processes": ("10",)}, "processes: '10' is invalid; use whole numbers"),
        ({"processes": (True,)}, "processes: True is invalid"),
        ({"seed": (1, 1)}, "seed: a value occurs twice"),
        ({"seed": (-1,)}, "seed is -1"),
        ({"fields": {"mesages": (1,)}}, "a grid has no 'mesages'; it has protocol"),
        ({"fields": {"payload": (100, "10x")}}, "payload"),
        ({"fields": {"interval": ()}}, "interval: list at least one value"),
        ({"fields": {"split": ("perhaps",)}}, "split is 'perhaps'"),
        ({"fields": {"delay": ({},)}}, "delay"),
        ({"fields": {"program": (PAIR,)}}, "a grid has no 'program'"),
    ],
)
def test_invalid_values_are_refused(arguments: dict[str, Any], message: str) -> None:
    """The error is raised when the grid is made, and names what is allowed."""
    with pytest.raises(BeforehandError, match=message):
        Grid(**{"protocol": ("hybrid",), **arguments})


def test_unsupported_combinations_are_skipped_with_the_reason() -> None:
    """All other combinations are run."""
    planned = plan(Grid(("hybrid", "newtop"), ("uniform", "broadcast:10"), processes=(5,)))
    planned_runs = {(point.scenario.protocol, point.workload) for point in planned.points}
    assert planned_runs == {
        ("hybrid", "uniform"),
        ("hybrid", "broadcast:10"),
        ("newtop", "broadcast:10"),
    }
    [skipped] = planned.skipped
    assert skipped.what == "newtop, workload uniform, network default, 5 processes"
    assert skipped.reason.startswith("newtop only broadcasts")


def test_a_workload_is_skipped_at_sizes_it_does_not_fit() -> None:
    """Groups of six need at least six processes."""
    planned = plan(Grid(("hybrid",), ("groups:6",), processes=(4, 8)))
    assert [len(point.scenario.names) for point in planned.points] == [8]
    assert "a group has from 2 to 4" in planned.skipped[0].reason


def test_a_grid_without_any_runnable_combination_is_an_error() -> None:
    """The error gives the first reason."""
    with pytest.raises(PipelineError, match="no combination of the grid can be run; .*newtop only"):
        plan(Grid(("newtop",), ("uniform",)))


def test_messages_are_split_only_for_protocols_without_multicast() -> None:
    """An explicit `split` in the grid takes precedence."""
    grid = Grid(("hybrid", "mattern"), ("groups:3", "uniform"), processes=(5,))
    split = {(p.scenario.protocol, p.workload): p.scenario.split for p in plan(grid).points}
    assert split == {
        ("hybrid", "groups:3"): False,
        ("hybrid", "uniform"): False,
        ("mattern", "groups:3"): True,
        ("mattern", "uniform"): False,
    }
    never = plan(replace(grid, fields={"split": (False,)}))
    assert "set split" in never.skipped[0].reason and len(never.points) == 3
    assert all(
        point.scenario.split for point in plan(replace(grid, fields={"split": (True,)})).points
    )


def test_a_replay_is_not_multiplied_by_fields_that_its_program_decides() -> None:
    """Different sizes, messages and intervals would give the same run under other names."""
    grid = Grid(
        ("hybrid", "mattern"),
        ("replay:it",),
        processes=(5, 10),
        seed=(1, 2),
        fields={"messages": (1, 2), "interval": ("1ms", "2ms"), "payload": (1, 2)},
        programs={"replay:it": MANY},
    )
    points = plan(grid).points
    assert len(points) == 2 * 2 * 2
    assert {len(point.scenario.names) for point in points} == {3}
    assert {point.setting for point in points} == {"payload=1", "payload=2"}
    assert {p.scenario.split for p in points if p.scenario.protocol == "mattern"} == {True}


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "c"},
        {"sender": "z"},
        {"to": ("x", "z")},
        {"after": ()},
        {"at_ns": 1},
        {"pause_ns": 1},
        {"payload_bytes": 0},
    ],
)
def test_the_name_of_a_run_covers_its_whole_program(changed: dict[str, Any]) -> None:
    """Changing any field of a send makes it a different run."""
    first, second = PAIR.sends
    if "sender" in changed:
        changed = {**changed, "after": ()}
    other = Program([first, replace(second, **changed)])
    names = {
        runs(Grid(("hybrid",), ("replay:it",), programs={"replay:it": program}))[0]
        for program in (PAIR, other)
    }
    assert len(names) == 2


def test_one_scenario_with_two_names_is_one_run() -> None:
    """The run has two points, so the results contain both names."""
    grid = Grid(("hybrid",), network=("lan", "mine"), networks={"mine": NETWORKS["lan"]})
    points = plan(grid).points
    assert [point.network for point in points] == ["lan", "mine"]
    assert points[0].run == points[1].run


def test_a_field_of_the_grid_overrides_the_network() -> None:
    """This makes it possible to vary the loss of a named network."""
    grid = Grid(("hybrid",), network=("mobile",), fields={"loss": (0.0, 0.2)})
    assert [point.scenario.loss for point in plan(grid).points] == [0.0, 0.2]
    assert {point.scenario.duplicate for point in plan(grid).points} == {0.01}


def test_networks_consist_of_scenario_fields() -> None:
    """Any other name would be ignored."""
    scenario_fields = set(Scenario.__dataclass_fields__)
    assert set(NETWORK_FIELDS) <= scenario_fields and set(FIELDS) <= scenario_fields
    for fields in NETWORKS.values():
        assert set(fields) <= set(NETWORK_FIELDS)
        Scenario(protocol="hybrid", processes=3, **fields)
