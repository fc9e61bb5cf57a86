"""The command lines in notes and reports say what was run, and no more than that."""

from __future__ import annotations

from beforehand.cli import command_lines
from beforehand.pipeline.ingest import Options
from beforehand.pipeline.ingest.read.options import SourceColumn
from beforehand.pipeline.study import Candidate, Study

CANDIDATES = (Candidate("hybrid", True, "O(1)"), Candidate("rst", True, "O(n^2)"))


def test_a_study_with_defaults_is_named_by_its_folder_alone() -> None:
    """Options that have their default value are left out."""
    asked = Study("x", CANDIDATES, named=False)
    assert command_lines.study(asked) == "beforehand study --out x"


def test_a_study_is_given_every_option_that_differs_from_its_default() -> None:
    """Also those that say how to read the sources; paths are quoted."""
    options = Options(
        "list", {"sender": SourceColumn("1"), "time": SourceColumn("3", "ms")}, None, None
    )
    other = Study("x", CANDIDATES[:1], ["a b"], options, run="r", messages=5, seed=2)
    assert command_lines.study(other) == (
        "beforehand study 'a b' --out x --protocol hybrid --messages 5 --seed 2 --run r "
        "--format list --map sender=1 --map time=3:ms"
    )
