"""Shell completion offers the right names, without slow imports."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from beforehand.cli.ui import completion
from beforehand.pipeline.ingest.read.options import AUTO, FORMATS
from beforehand.pipeline.sweep.networks import NETWORKS
from beforehand.simulator.workloads.registry import REPLAY, WORKLOADS

# Slow imports, none of which completion or a help page needs.
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
    """Run the command, check that it imported nothing heavy, and return its output."""
    process = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=True,
    )
    assert process.stderr.splitlines()[-1] == "[]", process.stderr
    return process.stdout


def bash(line: str) -> list[str]:
    """Return what bash offers at the end of a line."""
    return run(
        _BEFOREHAND_COMPLETE="complete_bash",
        COMP_WORDS=line,
        COMP_CWORD=str(len(line.split()) - (not line.endswith(" "))),
    ).split()


def test_bash_completes_commands_and_names() -> None:
    """Commands, options, and the last of several names."""
    assert bash("beforehand ch") == ["characterise", "check"]
    assert bash("beforehand study --protocol hybrid,r") == ["hybrid,rst", "hybrid,raw"]


def test_zsh_completes_with_descriptions() -> None:
    """Each workload comes with its syntax."""
    offered = run(
        _BEFOREHAND_COMPLETE="complete_zsh",
        _TYPER_COMPLETE_ARGS="beforehand simulate --workload pipe",
    )
    assert offered.startswith("_arguments") and '"pipeline":"pipeline' in offered
    assert "uniform" not in offered


def test_fish_completes_networks() -> None:
    """Networks that are already in the list aren't offered again."""
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


def test_help_needs_no_slow_import() -> None:
    """The front page needs no Spark, no numba and no event loop."""
    assert "Start here" in run("--help")


def test_completed_names_match_the_registries() -> None:
    """They are duplicated because the registries are slow to import."""
    assert tuple(NETWORKS) == completion.NETWORKS
    assert (AUTO, *FORMATS) == completion.FORMATS
    assert [name for name, _ in completion.workload("")] == [*WORKLOADS, REPLAY]


@pytest.mark.parametrize(
    ("incomplete", "offered"),
    [
        ("", [*completion.NETWORKS]),
        ("wan,m", ["wan,mobile"]),
        ("wan,lan,", ["wan,lan,default", "wan,lan,mobile"]),
        ("x", []),
    ],
)
def test_the_last_item_of_a_list_is_completed(incomplete: str, offered: list[str]) -> None:
    """The items before it are kept."""
    assert [name for name, _ in completion.network_list(incomplete)] == offered
