"""Command lines as one would type them. Notes record them, so that every figure can be reproduced.

The libraries know no flags: whoever calls them from here passes in the line that they record.
`cli.sweep.command_line` composes those of a sweep, which need the pipeline.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from beforehand.pipeline.ingest import Options
    from beforehand.pipeline.study import Study
    from beforehand.runtime.cluster.plan import ClusterPlan

# Of a cluster: given even where they have their default, since they say what the run was.
_ALWAYS: Final = ("nodes", "messages", "protocol", "seed")


def line(*words: str) -> str:
    """A command with its arguments, quoted for a shell."""
    return shlex.join(["beforehand", *words])


def audit(sources: Sequence[str], out: str) -> str:
    """The audit of some traces."""
    return line("audit", *sources, "--out", out)


def cluster(plan: ClusterPlan, encrypted: bool, folder: Path) -> str:
    """A cluster of real processes that leaves its traces in a folder."""
    words = ["cluster"]
    for name, default in _defaults(plan).items():
        value = getattr(plan, name)
        if value == default and name not in _ALWAYS:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:  # a switch takes no value
            words.append(str(value))
    return line(*words, *([] if encrypted else ["--plain"]), "--trace", str(folder))


def demo(out: Path, seed: int, full: bool) -> str:
    """A demo."""
    return line("demo", "--out", str(out), "--seed", str(seed), *(["--full"] if full else []))


def report(folder: str, out: Path | None) -> str:
    """A report."""
    return line("report", folder, *(["--out", str(out)] if out else []))


def study(asked: Study) -> str:
    """A study; options that have their default are left out."""
    usual = _defaults(asked)
    words = ["study", *asked.sources, "--out", asked.out]
    if asked.named:
        words += ["--protocol", ",".join(candidate.name for candidate in asked.candidates)]
    if tuple(asked.networks) != usual["networks"]:
        words += ["--network", ",".join(asked.networks)]
    for name in ("messages", "seed", "run"):
        if getattr(asked, name) != usual[name]:
            words += [f"--{name}", str(getattr(asked, name))]
    return line(*words, *_ingest_options(asked.options))


def _ingest_options(options: Options) -> list[str]:
    words = []
    if options.format != _defaults(options)["format"]:
        words += ["--format", options.format]
    for name, (column, unit) in options.columns.items():
        words += ["--map", f"{name}={column}" + (f":{unit}" if unit else "")]
    for name in ("pattern", "delimiter"):
        if getattr(options, name) is not None:
            words += [f"--{name}", getattr(options, name)]
    return words


def _defaults(value: Any) -> dict[str, Any]:
    """The fields of a dataclass with their defaults."""
    return {field.name: field.default for field in fields(value)}
