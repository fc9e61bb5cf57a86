"""Every example of the help pages runs as it is written, with the defaults, on files of that name."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from beforehand.cli.ui.examples import EXAMPLES, FRONT, Example

SCRIPTS = Path(sys.executable).parent
SPARK = ("study", "ingest", "characterise", "sweep", "audit", "report", "demo --full")
SLOW = ("demo", "diagram demo/")  # the latter runs the demo first
TIMEOUT = 300.0  # seconds
LIKELY = {"beforehand cluster --protocol fifo --reorder 20%"}  # breaks one, but for rare luck
FINDINGS = {  # examples that show a broken promise
    "beforehand check --protocol cykas-unsafe --program 'a>b a>c b>a b>c c>b'",
}
# What examples assume that an earlier command has left, and the command; limited where it is long.
BEFORE = {
    " traces": "beforehand cluster --nodes 3 --messages 60 --trace traces",
    " demo/": "beforehand demo --out demo",
    " run ": "beforehand simulate --processes 10 --messages 20 --out run",
    " messages": "beforehand ingest spans/ --out messages",
    "report study": "beforehand study spans/*.json --out study --network lan --protocol hybrid",
    "sweep --out sweep": "beforehand sweep --protocol hybrid --processes 3 --out sweep",
}
GRID = 'protocol = ["hybrid"]\nprocesses = [3]\nmessages = 5\n'


def marked(example: Example) -> object:
    """With the marks of the command."""
    marks = []
    if any(f"beforehand {command}" in example.command for command in SPARK):
        marks.append(pytest.mark.spark)
    elif any(f"beforehand {command}" in example.command for command in SLOW):
        marks.append(pytest.mark.slow)
    return pytest.param(example.command, marks=marks, id=example.command)


ALL = [marked(example) for examples in (FRONT, *EXAMPLES.values()) for example in examples]


def span(number: int, parent: int | None, service: str) -> dict[str, object]:
    """A span of Zipkin."""
    return {
        "traceId": "1",
        "id": f"{number}",
        "name": "call",
        "kind": "CLIENT" if parent is None else "SERVER",
        "timestamp": 1_000_000 + 1_000 * number,
        "duration": 500,
        "localEndpoint": {"serviceName": service},
        **({} if parent is None else {"parentId": f"{parent}"}),
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The files of a user: spans, a list of calls, and a grid."""
    (tmp_path / "spans").mkdir()
    spans = [span(1, None, "shop"), span(2, 1, "bank"), span(3, 1, "stock")]
    (tmp_path / "spans" / "monday.json").write_text(json.dumps(spans))
    (tmp_path / "calls.csv").write_text("shop,bank,1\nbank,shop,2\nshop,stock,4\n")
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line as a user would."""
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "BROWSER": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.fixture
def bob() -> Iterator[None]:
    """The node that the examples talk to."""
    command = [sys.executable, "-m", "beforehand", "node", "bob", "--listen", "127.0.0.1:7002"]
    with subprocess.Popen(
        [*command, "--peer", "alice"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "bob listens at 127.0.0.1:7002" in process.stderr.readline()
        yield
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT)


@pytest.mark.parametrize("command", [case for case in ALL if "node" not in case.values[0]])  # type: ignore[attr-defined]
def test_the_example_runs(command: str, workspace: Path) -> None:
    """It ends as its comment says: with 0, or with 1 where it shows a broken promise."""
    made = command.partition(" --out ")[2].split(" ")[0] or command.partition(" --trace ")[2]
    for words, before in BEFORE.items():
        shows = command == f"beforehand {words}"  # what is there already
        if words in f"{command} " and (shows or words.split()[-1] != made):
            assert shell(before, workspace).returncode == 0
    result = shell(command, workspace)
    expected = {1} if command in FINDINGS else {0, 1} if command in LIKELY else {0}
    assert result.returncode in expected, result.stderr + result.stdout
    assert result.stdout and "Traceback" not in result.stderr


def test_the_nodes_of_the_examples_talk(workspace: Path, bob: None) -> None:
    """The first example is the fixture, the others connect to it."""
    listens, types, scripted = (example.command for example in EXAMPLES["node"])
    assert "node bob --listen 127.0.0.1:7002" in listens
    began = time.monotonic()
    result = shell(scripted, workspace)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1]) == {"kind": "end", "undelivered": {}}
    assert time.monotonic() - began < TIMEOUT
    assert shell(f"echo /peers | {types.replace('alice', 'carol')}", workspace).returncode == 0


def test_the_names_in_the_help_of_simulate_exist_by_default(workspace: Path) -> None:
    """Of processes, with the default number of them."""
    little = "beforehand simulate --messages 1"
    for options in (
        "--partition 1s-3s:p01,p02",
        "--stop p03@2s",
        "--protocol link-memory --workload broadcast:1 --open 'p01>p05@2s'",
        "--protocol tree --reparent 'p03>p01@2s'",
    ):
        page = shell("beforehand simulate --help", workspace).stdout
        assert options.rpartition(" ")[2].strip("'").replace("p05", "p02") in page.replace("\n", "")
        result = shell(f"{little} {options}", workspace)
        assert result.returncode == 0, result.stderr


def test_a_stale_example_would_be_noticed(workspace: Path) -> None:
    """The tests above can fail."""
    assert shell("beforehand diagram run --around alice#3", workspace).returncode == 2
    shutil.rmtree(workspace / "spans")
    assert shell("beforehand simulate --stop p3@2s", workspace).returncode == 2
