"""The commands that make a part of a report again, as one would type them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from beforehand.report.reading.values import text, texts

PROGRAM: Final = "beforehand"


def line(*words: str) -> str:
    """A command as it is typed."""
    return shlex.join([PROGRAM, *words])


def study(about: Mapping[str, Any], folder: Path) -> str:
    """The study that a folder is about; `about` is its `_source.json`."""
    sources = texts(about.get("sources"))
    words = ["study", *sources, "--out", str(folder)]
    if not sources and isinstance(about.get("seed"), int) and about["seed"] != 1:
        words += ["--seed", str(about["seed"])]
    if text(about.get("format")) not in ("", "auto"):
        words += ["--format", about["format"]]
    for name in ("pattern", "delimiter"):
        if text(about.get(name)):
            words += [f"--{name}", about[name]]
    return line(*words)


def one_of_study(whole: str, protocol: str, network: str) -> str:
    """One run of a study: its command with one protocol and one network."""
    try:
        words = shlex.split(whole)
    except ValueError:  # somebody has written it by hand
        return ""
    for option in ("--protocol", "--network"):
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join([*words, "--protocol", protocol, "--network", network])


def diagram(traces: Path, run: str) -> str:
    """The space-time diagram of a run."""
    return line("diagram", str(traces), "--run", run)
