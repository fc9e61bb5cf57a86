"""The commands in the notes of a sweep reproduce exactly the same runs."""

from __future__ import annotations

import shlex

import pytest
from typer.main import get_command

from beforehand.cli import app
from beforehand.cli.sweep.command_line import grid_options, point_options
from beforehand.cli.sweep.grid import grid_of
from beforehand.cli.sweep.options import SweepOptions
from beforehand.pipeline.sweep import Grid
from beforehand.pipeline.sweep.grid import plan
from beforehand.pipeline.sweep.waves import Wave
from beforehand.simulator import Program, Send

GRIDS = {
    "only a protocol": Grid(("hybrid",), processes=(3,)),
    "axes": Grid(("rst", "ks"), ("uniform:2", "ring"), ("lan", "mobile"), (3, 5), (1, 2)),
    "texts and numbers": Grid(
        ("hybrid",),
        processes=(4,),
        fields={
            "payload": (100, "1kB", "7"),
            "loss": (0, 0.25),
            "interval": ("1ms",),
            "messages": (2, 3),
            "fifo": (True,),
        },
    ),
    "lists": Grid(
        ("hybrid",),
        processes=(4,),
        fields={"partitions": (["1s-2s:50%"],), "options": ({"coalesce": True},)},
    ),
    "what undoes a part of the network": Grid(
        ("mattern",), network=("lan",), processes=(3,), fields={"bandwidth": (None, "1MB/s")}
    ),
    "a network of its own": Grid(
        ("hybrid",),
        network=("office", "wan"),
        processes=(3,),
        networks={"office": {"delay": "2ms", "loss": 0.01, "header": 8}},
    ),
    "split by itself": Grid(("mattern",), ("groups:2",), processes=(4,)),
}
# Grids that options can't express; they need a file or Python.
NOT_EXPRESSIBLE = {"what undoes a part of the network", "a network of its own"}


def runs(arguments: tuple[str, ...]) -> set[str]:
    """Return the names of the runs of a command."""
    context = get_command(app).commands["sweep"].make_context("sweep", list(arguments))  # type: ignore[attr-defined]
    grid = grid_of(SweepOptions(**context.params))
    assert grid is not None
    return {point.run for point in plan(grid).points}


@pytest.mark.parametrize("name", GRIDS)
def test_each_run_has_a_command_for_that_run_alone(name: str) -> None:
    """Including shell quoting, as in a note."""
    points = plan(GRIDS[name]).points
    assert points
    for point in points:
        line = shlex.join(("--out", "x", *point_options(point)))
        assert runs(tuple(shlex.split(line))) == {point.run}, line


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_has_a_command_for_all_of_its_runs(name: str) -> None:
    """If options can express it; otherwise there is no command, rather than a wrong one."""
    options = grid_options(GRIDS[name])
    if name in NOT_EXPRESSIBLE:
        assert options == ()
    else:
        assert runs(("--out", "x", *options)) == {point.run for point in plan(GRIDS[name]).points}


def test_a_program_object_has_no_command() -> None:
    """A program that isn't in a file can't be given as an option."""
    program = Program([Send("a", "x", ("y",))])
    grid = Grid(("hybrid",), ("mine",), programs={"mine": program})
    assert grid_options(grid) == ()
    assert [point_options(point) for point in plan(grid).points] == [()]


def test_notes_of_older_versions_can_be_read() -> None:
    """They don't contain the command of their wave."""
    old = {"name": "00001-0123abcd", "runs": ["r"], "failed": [], "traced": [], "audited": True}
    wave = Wave(**old)  # type: ignore[arg-type]
    assert wave.runs == ["r"] and wave.command == "" and wave.commands == {}
