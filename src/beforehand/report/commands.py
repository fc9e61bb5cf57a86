"""Command lines that a report shows where no note records one; the command line supplies them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _none(*_: object) -> str:
    return ""


@dataclass(frozen=True)
class Suggestions:
    """Command lines for what a folder does not have yet; empty for callers without a command line."""

    audit: str = ""
    cluster: str = ""
    demo: str = ""
    growth: str = ""  # a sweep over several sizes, with its tables
    study: str = ""
    table1: str = ""  # the sweep behind Table 1


@dataclass(frozen=True)
class Commands:
    """Composes a command line for each purpose; by default none, for callers without a command line."""

    audit: Callable[[str, str], str] = _none  # traces, and the folder for the verdicts
    characterise: Callable[[Path], str] = _none  # an ingest
    cluster: Callable[[str], str] = _none  # the folder for the traces
    demo: Callable[[Path], str] = _none  # its folder
    diagram: Callable[[Path, str], str] = _none  # traces, and the run; "": the only one
    report: Callable[[Path], str] = _none  # the folder that it is about
    # The `_source.json` of a study, its folder, and whether to start afresh
    study: Callable[[Mapping[str, Any], Path, bool], str] = _none
    study_run: Callable[[str, str, str], str] = _none  # that of the study; protocol and network
    sweep: Callable[[Path], str] = _none  # its folder
    tables: Callable[[Path], str] = _none  # the sweep whose metrics to compute again
    suggestions: Suggestions = field(default_factory=Suggestions)


def instruction(command: str, otherwise: str) -> str:
    """What to do, as part of a sentence: run a command, or else what it would do."""
    return f"run `{command}`" if command else otherwise
