"""The command lines that a report shows where no note records one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.cli import command_lines
from beforehand.cli.command_lines import line

if TYPE_CHECKING:
    from beforehand.report import Commands

_GROWTH = ("--protocol", "hybrid,rst", "--processes", "8,16,32,64")


def report_commands() -> Commands:
    """All that a report may ask for."""
    from beforehand.report import Commands, Suggestions

    return Commands(
        audit=lambda traces, out: command_lines.audit([traces], out),
        characterise=lambda ingest: line("characterise", str(ingest)),
        cluster=lambda traces: line("cluster", "--trace", traces),
        demo=lambda out: line("demo", "--out", str(out)),
        diagram=lambda traces, run: line("diagram", str(traces), *(["--run", run] if run else [])),
        report=lambda folder: command_lines.report(str(folder), None),
        study=_study,
        study_run=_study_run,
        sweep=lambda out: line("sweep", "GRID", "--out", str(out)),
        tables=lambda sweep: line("sweep", "--out", str(sweep), "--tables"),
        suggestions=Suggestions(
            audit=line("audit", "TRACES", "--out", "DIR"),
            cluster=line("cluster", "--trace", "DIR"),
            demo=line("demo"),
            growth=line("sweep", "--out", "DIR", "--tables", *_GROWTH),
            study=line("study", "TRACES", "--out", "DIR"),
            table1=line("sweep", "examples/grids/table1.toml", "--out", "DIR", "--tables"),
        ),
    )


def _study(source: Mapping[str, Any], out: Path, force: bool) -> str:
    """As far as the `_source.json` of a study describes it; it may be damaged."""
    listed = source.get("sources")
    sources = [s for s in listed if isinstance(s, str)] if isinstance(listed, list) else []
    words = ["study", *sources, "--out", str(out)]
    seed = source.get("seed")
    if not sources and isinstance(seed, int) and seed != 1:
        words += ["--seed", str(seed)]
    for name in ("format", "pattern", "delimiter"):
        value = source.get(name)
        if isinstance(value, str) and value and (name, value) != ("format", "auto"):
            words += [f"--{name}", value]
    return line(*words, *(["--force"] if force else []))


def _study_run(study: str, protocol: str, network: str) -> str:
    """The command of a study, with one protocol and one network."""
    try:
        words = shlex.split(study)
    except ValueError:  # edited by hand
        return ""
    for option in ("--protocol", "--network"):
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join([*words, "--protocol", protocol, "--network", network])
