"""The commands in the notes of a sweep: typed again, they give the very same runs."""

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
# Only a file or Python can say these as a whole.
UNSAYABLE = {"what undoes a part of the network", "a network of its own"}


def runs(words: tuple[str, ...]) -> set[str]:
    """The names of the runs that the command would do."""
    typed = get_command(app).commands["sweep"].make_context("sweep", list(words))  # type: ignore[attr-defined]
    grid = grid_of(SweepOptions(**typed.params))
    assert grid is not None
    return {point.run for point in plan(grid).points}


@pytest.mark.parametrize("name", GRIDS)
def test_each_run_has_a_command_that_gives_just_it(name: str) -> None:
    """Through quotes and all, as it stands in a note."""
    points = plan(GRIDS[name]).points
    assert points
    for point in points:
        line = shlex.join(("--out", "x", *point_options(point)))
        assert runs(tuple(shlex.split(line))) == {point.run}, line


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_has_a_command_that_gives_all_of_it(name: str) -> None:
    """Where options can say it; otherwise none, rather than a wrong one."""
    words = grid_options(GRIDS[name])
    if name in UNSAYABLE:
        assert words == ()
    else:
        assert runs(("--out", "x", *words)) == {point.run for point in plan(GRIDS[name]).points}


def test_what_only_python_has_has_no_command() -> None:
    """A program that was never in a file cannot be typed."""
    program = Program([Send("a", "x", ("y",))])
    grid = Grid(("hybrid",), ("mine",), programs={"mine": program})
    assert grid_options(grid) == ()
    assert [point_options(point) for point in plan(grid).points] == [()]


def test_notes_of_older_versions_are_still_understood() -> None:
    """They do not tell how their wave came about."""
    old = {"name": "00001-0123abcd", "runs": ["r"], "failed": [], "traced": [], "audited": True}
    wave = Wave(**old)  # type: ignore[arg-type]
    assert wave.runs == ["r"] and wave.command == "" and wave.commands == {}
