"""Completion in shells: the right names, quickly."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from beforehand.cli.ui import completion
from beforehand.pipeline.ingest.read.options import AUTO, FORMATS
from beforehand.pipeline.sweep.networks import NETWORKS
from beforehand.simulator.workloads.registry import REPLAY, WORKLOADS

# What takes long to import, or starts something; none of it is needed for a name or a help page.
HEAVY = ("pyspark", "numba", "numpy", "pandas", "pyarrow", "asyncio", "plotly", "jinja2")
CODE = f"""
import sys
from beforehand.cli import main
sys.argv = ["beforehand", *sys.argv[1:]]
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


def run(*arguments: str, **variables: str) -> str:
    """What the command prints; that it has imported nothing heavy is checked along the way."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=True,
    )
    assert ran.stderr.splitlines()[-1] == "[]", ran.stderr
    return ran.stdout


def bash(line: str) -> list[str]:
    """What bash offers at the end of a line."""
    return run(
        _BEFOREHAND_COMPLETE="complete_bash",
        COMP_WORDS=line,
        COMP_CWORD=str(len(line.split()) - (not line.endswith(" "))),
    ).split()


def test_bash_completes_commands_and_names() -> None:
    """Commands, options, and the last of several names."""
    assert bash("beforehand ch") == ["characterise", "check"]
    assert bash("beforehand study --protocol hybrid,r") == ["hybrid,rst", "hybrid,raw"]


def test_zsh_completes_with_explanations() -> None:
    """Beside each workload stands how to write it."""
    offered = run(
        _BEFOREHAND_COMPLETE="complete_zsh",
        _TYPER_COMPLETE_ARGS="beforehand simulate --workload pipe",
    )
    assert offered.startswith("_arguments") and '"pipeline":"pipeline' in offered
    assert "uniform" not in offered


def test_fish_completes_networks() -> None:
    """None a second time."""
    offered = run(
        _BEFOREHAND_COMPLETE="complete_fish",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_ARGS="beforehand sweep --network lan,",
    )
    assert [line.split("\t")[0] for line in offered.splitlines()] == [
        "lan,default",
        "lan,wan",
        "lan,mobile",
    ]


def test_help_is_quick() -> None:
    """The front page needs no Spark, no numba, no event loop."""
    assert "Start here" in run("--help")


def test_the_names_are_those_of_the_originals() -> None:
    """Written twice, since the originals are slow to import."""
    assert tuple(NETWORKS) == completion.NETWORKS
    assert (AUTO, *FORMATS) == completion.FORMATS
    assert [name for name, _ in completion.workload("")] == [*WORKLOADS, REPLAY]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", [*completion.NETWORKS]),
        ("wan,m", ["wan,mobile"]),
        ("wan,lan,", ["wan,lan,default", "wan,lan,mobile"]),
        ("x", []),
    ],
)
def test_lists_are_completed_at_their_end(typed: str, offered: list[str]) -> None:
    """What stands before stays."""
    assert [name for name, _ in completion.network_list(typed)] == offered
