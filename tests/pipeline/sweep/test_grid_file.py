"""Grids as TOML: what a file may contain, and the errors for everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.sweep.grid import plan
from beforehand.pipeline.sweep.grid_file import grid_of, read

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "grids").glob("*.toml"))


def test_a_field_may_have_one_value_or_several() -> None:
    """Single values need no list; networks declared as tables are the default choice of networks."""
    grid = grid_of(
        {
            "protocol": "hybrid",
            "processes": [4, 5],
            "loss": 0.1,
            "networks": {"office": {"delay": "2ms"}, "home": {"delay": "20ms"}},
        }
    )
    assert (grid.protocol, grid.processes) == (("hybrid",), (4, 5))
    assert grid.network == ("office", "home")
    assert {p.scenario.delay for p in plan(grid).points} == {"2ms", "20ms"}
    assert {p.scenario.loss for p in plan(grid).points} == {0.1}


def test_fields_whose_values_are_lists() -> None:
    """A list of strings is one value of such a field; a list of lists is several."""
    one = grid_of({"protocol": "hybrid", "partitions": ["1s-2s:50%", "3s-4s:50%"]})
    two = grid_of({"protocol": "hybrid", "partitions": [["1s-2s:50%"], []]})
    assert [len(p.scenario.partitions) for p in plan(one).points] == [2]
    assert [len(p.scenario.partitions) for p in plan(two).points] == [1, 0]


def test_protocol_options_are_a_table() -> None:
    """A protocol without such an option is skipped."""
    planned = plan(grid_of({"protocol": ["hybrid", "rst"], "options": {"coalesce": True}}))
    assert planned.points[0].scenario.options == {"coalesce": True}
    assert "rst has no option 'coalesce'" in planned.skipped[0].reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("protocol = [", "not a TOML file"),
        ("\xff", "not a TOML file"),
        ("processes = 4", "the grid has no protocol"),
        ("protocol = 'hybrid'\nnetworks = ['lan']", "networks: write each as a table"),
        ("protocol = 'hybrid'\nnetworks.lan = 1", "networks: write each as a table"),
        ("protocol = 'hybrid'\nprotocols = 'rst'", "a grid has no 'protocols'"),
        ("protocol = 'hybrid'\nprocesses = 2020-01-01", "processes: .* is invalid"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """The error says what is wrong with the file."""
    file = tmp_path / "grid.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(PipelineError, match=message):
        grid_of(read(str(file)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error contains the path."""
    with pytest.raises(PipelineError, match="none.toml: the grid cannot be read"):
        read(str(tmp_path / "none.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_can_be_run(path: Path) -> None:
    """At a smaller size, no combination of an example is skipped."""
    planned = plan(grid_of({**read(str(path)), "processes": [12]}))
    assert planned.points and not planned.skipped


def test_there_are_examples() -> None:
    """Guards the test above against an empty folder."""
    assert len(EXAMPLES) == 5
