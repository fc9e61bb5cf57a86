"""Grids as TOML: what one can write, and what is said about the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.sweep.grid import plan
from beforehand.pipeline.sweep.grid_file import grid_of, read

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "grids").glob("*.toml"))


def test_one_value_or_several() -> None:
    """Single values need no list; tables are networks of one's own, and chosen if nothing else is."""
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


def test_fields_that_are_lists_themselves() -> None:
    """A list of texts is one value of these; a list of lists is several."""
    one = grid_of({"protocol": "hybrid", "partitions": ["1s-2s:50%", "3s-4s:50%"]})
    two = grid_of({"protocol": "hybrid", "partitions": [["1s-2s:50%"], []]})
    assert [len(p.scenario.partitions) for p in plan(one).points] == [2]
    assert [len(p.scenario.partitions) for p in plan(two).points] == [1, 0]


def test_options_of_a_protocol() -> None:
    """A table; a protocol that has no such option is left out."""
    planned = plan(grid_of({"protocol": ["hybrid", "rst"], "options": {"coalesce": True}}))
    assert planned.points[0].scenario.options == {"coalesce": True}
    assert "rst has no option 'coalesce'" in planned.skipped[0].reason


@pytest.mark.parametrize(
    ("text", "told"),
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
def test_bad_files(tmp_path: Path, text: str, told: str) -> None:
    """Each is told in one sentence."""
    file = tmp_path / "grid.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(PipelineError, match=told):
        grid_of(read(str(file)))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(PipelineError, match="none.toml: the grid cannot be read"):
        read(str(tmp_path / "none.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_can_be_run(path: Path) -> None:
    """At a smaller size; nothing of them is left out."""
    planned = plan(grid_of({**read(str(path)), "processes": [12]}))
    assert planned.points and not planned.skipped


def test_there_are_examples() -> None:
    """So that the test above means something."""
    assert len(EXAMPLES) == 5
