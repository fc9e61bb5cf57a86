"""`beforehand cluster`: real processes under loss, duplication, reordering, crashes and restarts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from beforehand import protocols, trace
from beforehand.cli import app, command_lines
from beforehand.results.layout import ClusterFolder
from beforehand.runtime.cluster import child
from beforehand.runtime.cluster.plan import ClusterPlan

runner = CliRunner()

FAULTS = ("--loss", "0.1", "--duplicate", "0.1", "--reorder", "0.3")
CONTROLS = ("fifo", "raw")
SHORT = (
    "--nodes",
    "3",
    "--messages",
    "300",
    "--protocol",
    "hybrid-sps",
    *FAULTS,
)
SMALL = ("--nodes", "3", "--messages", "300", *FAULTS)


def cluster(*arguments: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["cluster", *map(str, arguments)])


def json_output(result: Result, code: int = 0) -> dict[str, Any]:
    """Check the exit code and parse the output of `--json`."""
    assert result.exit_code == code, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def total(report: dict[str, Any], figure: str) -> int:
    """Sum a figure over all processes."""
    return sum(process[figure] for process in report["processes"])


def test_everything_arrives_once_and_in_order(tmp_path: Path) -> None:
    """Although datagrams were lost, duplicated and delayed, and messages had to be held."""
    folder = tmp_path / "traces"
    report = json_output(cluster(*SMALL, "--seed", "5", "--trace", folder, "--json"))
    assert report["verdict"]["clean"] and report["verdict"]["complete"]
    assert report["verdict"]["sends"] == total(report, "sent") == 300
    assert report["verdict"]["deliveries"] == total(report, "delivered") >= 300
    for figure in ("lost", "doubled", "held_back", "resent", "reactions"):
        assert total(report, figure) > 0, figure
    events = list(trace.read(folder))
    assert report["verdict"]["held"] == sum(event.kind == "hold" for event in events) > 0
    assert sum(event.kind == "send" for event in events) == 300
    assert {event.run for event in events} == {"cluster-hybrid-sps-5"}
    note = json.loads((folder / ClusterFolder.NOTE).read_text())
    assert {name: note[name] for name in report} == report
    assert note["encrypted"] and note["environment"]["Python"] and note["when"].endswith("+00:00")
    assert note["command"] == f"beforehand cluster {' '.join(SHORT)} --seed 5 --trace {folder}"
    assert parsed(note["command"])["trace"] == folder


def parsed(line: str) -> dict[str, Any]:
    """Parse a command line into the parameters that the command receives."""
    _, name, *arguments = shlex.split(line)
    group = get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return group.commands[name].make_context(name, arguments).params


@pytest.mark.parametrize(
    ("plan", "encrypted", "options"),
    [
        (
            ClusterPlan(nodes=3, messages=300),
            True,
            "--nodes 3 --messages 300 --protocol hybrid-sps --seed 1",
        ),
        (
            ClusterPlan(
                nodes=4, messages=9, kill=1, restart=True, drop_after=0.5, payload=0, seed=7
            ),
            False,
            "--nodes 4 --messages 9 --protocol hybrid-sps --payload 0 --kill 1 --restart "
            "--drop-after 0.5 --seed 7 --plain",
        ),
    ],
)
def test_the_recorded_command_reproduces_the_plan(
    plan: ClusterPlan, encrypted: bool, options: str
) -> None:
    """Defaults are omitted, parsing gives the same plan, and paths with spaces are quoted."""
    line = command_lines.cluster(plan, encrypted, Path("my traces"))
    assert line == f"beforehand cluster {options} --trace 'my traces'"
    values = parsed(line)
    assert ClusterPlan(**{name: values[name] for name in plan.__dataclass_fields__}) == plan
    assert values["encrypted"] is encrypted


def test_the_other_processes_finish_without_the_killed_one() -> None:
    """One is killed with SIGKILL mid-run; messages between the others are all delivered."""
    result = cluster(*SMALL, "--kill", "1", "--drop-after", "1", "--plain")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any("was killed after about 50 of its 100 messages" in line for line in lines)
    assert sum(line.endswith(" ms") for line in lines) == 3
    assert any(", killed  " in line for line in lines)
    assert any(line.startswith("network: datagrams ") for line in lines)
    assert lines[-1].startswith("verdict: clean. ")


def test_a_killed_process_rejoins_after_a_restart() -> None:
    """Under its old name it sends its remaining messages and receives new ones."""
    report = json_output(cluster(*SMALL, "--kill", "1", "--restart", "--drop-after", "1", "--json"))
    assert report["verdict"]["clean"]
    [old] = [process for process in report["processes"] if process["killed"]]
    [new] = [process for process in report["processes"] if process["life"] == 2]
    assert old["name"] == new["name"]
    assert new["sent"] == 50 and new["delivered"] > 0
    others = [process for process in report["processes"] if process["name"] != old["name"]]
    assert all(process["sent"] == 100 for process in others)
    for process in others:
        assert {"dropped", "restarted"} & {event[0] for event in process["events"]}


def test_fifo_order_alone_is_caught() -> None:
    """The control: an effect overtakes its cause, and the verdict explains how."""
    result = cluster(*SMALL, "--protocol", "fifo", "--messages", "600")
    assert result.exit_code == 1, result.output
    verdict = result.stdout[result.stdout.index("verdict: ") :]
    assert " causal" in verdict and " lost" not in verdict
    assert "happened before" in verdict and " sent n" in verdict


def test_a_run_that_exceeds_its_timeout_is_ended() -> None:
    """Exit code 3, with the work that was left."""
    result = cluster(*SMALL, "--timeout", "0.1")
    assert result.exit_code == 3
    [line] = result.stderr.splitlines()
    assert line.startswith("beforehand: not finished within 0.1 s, while ")
    assert "n1 has sent 0 of 100" in line


def test_a_crashed_process_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 3 and its last lines of output: there is nothing to judge."""
    monkeypatch.setattr(child, "WORKER", "beforehand.nowhere")
    result = cluster(*SMALL)
    assert result.exit_code == 3
    assert " crashed: " in result.stderr
    assert "No module named beforehand.nowhere" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--nodes", "0"), "nodes is 0; give a number from 2"),
        (("--nodes", "3", "--kill", "3"), "cannot kill 3 of 3 nodes"),
        (("--loss", "1.5"), "--loss: '1.5' isn't a share; give a number from 0 to 1"),
        (("--protocol", "hybird"), "did you mean hybrid?"),
        (("--trace", "tests"), "tests is not empty; choose a new folder for the traces"),
    ],
)
def test_invalid_plans_are_rejected(
    arguments: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence and exit code 2, and no process is started."""
    monkeypatch.chdir(Path(__file__).parents[2])
    result = cluster(*arguments)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert problem in line


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocols.names())
def test_every_protocol_runs(protocol: str) -> None:
    """With fixed members, trees, links and broadcasts; causal protocols keep causal order."""
    result = cluster(
        "--nodes", "5", "--messages", "1000", *FAULTS, "--protocol", protocol, "--json"
    )
    code = result.exit_code if protocol == "cykas-unsafe" else int(protocol in CONTROLS)
    report = json_output(result, code)
    assert report["verdict"]["lost"] == 0
    assert total(report, "lost") > 0


@pytest.mark.slow
def test_a_hundred_thousand_messages() -> None:
    """Eight processes, 10 % loss, 10 % duplication, 30 % reordering."""
    report = json_output(cluster("--messages", "100000", *FAULTS, "--timeout", "600", "--json"))
    assert report["verdict"]["clean"] and report["verdict"]["sends"] == 100_000
    assert total(report, "lost") > 1000
