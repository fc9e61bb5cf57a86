"""Command lines in notes and reports contain exactly the options that differ from their defaults."""

from __future__ import annotations

from beforehand.cli import command_lines
from beforehand.pipeline.ingest import Options
from beforehand.pipeline.ingest.read.options import SourceColumn
from beforehand.pipeline.study import Candidate, Study

CANDIDATES = (Candidate("hybrid", True, "O(1)"), Candidate("rst", True, "O(n^2)"))


def test_a_study_with_defaults_needs_only_its_folder() -> None:
    """Options with their default value are omitted."""
    study = Study("x", CANDIDATES, named=False)
    assert command_lines.study(study) == "beforehand study --out x"


def test_a_study_command_has_every_option_that_differs_from_its_default() -> None:
    """Including those for reading the sources; paths are quoted."""
    options = Options(
        "list", {"sender": SourceColumn("1"), "time": SourceColumn("3", "ms")}, None, None
    )
    study = Study("x", CANDIDATES[:1], ["a b"], options, run="r", messages=5, seed=2)
    assert command_lines.study(study) == (
        "beforehand study 'a b' --out x --protocol hybrid --messages 5 --seed 2 --run r "
        "--format list --map sender=1 --map time=3:ms"
    )
