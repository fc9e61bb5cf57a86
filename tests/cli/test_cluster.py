"""`beforehand cluster`: real processes that lose, double and reorder, die and come back."""

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
    *("--nodes", "3", "--messages", "300", "--protocol", "hybrid-sps"),
    *FAULTS,
)
SMALL = ("--nodes", "3", "--messages", "300", *FAULTS)


def cluster(*arguments: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["cluster", *map(str, arguments)])


def told(result: Result, code: int = 0) -> dict[str, Any]:
    """What it printed with --json."""
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def total(found: dict[str, Any], figure: str) -> int:
    """A figure, summed over all processes."""
    return sum(each[figure] for each in found["processes"])


def test_everything_arrives_once_and_in_order(tmp_path: Path) -> None:
    """Although datagrams were lost, doubled and held back, and messages had to be held."""
    folder = tmp_path / "traces"
    found = told(cluster(*SMALL, "--seed", "5", "--trace", folder, "--json"))
    assert found["verdict"]["clean"] and found["verdict"]["complete"]
    assert found["verdict"]["sends"] == total(found, "sent") == 300
    assert found["verdict"]["deliveries"] == total(found, "delivered") >= 300
    for figure in ("lost", "doubled", "held_back", "resent", "reactions"):
        assert total(found, figure) > 0, figure
    events = list(trace.read(folder))
    assert found["verdict"]["held"] == sum(event.kind == "hold" for event in events) > 0
    assert sum(event.kind == "send" for event in events) == 300
    assert {event.run for event in events} == {"cluster-hybrid-sps-5"}
    note = json.loads((folder / ClusterFolder.NOTE).read_text())
    assert {name: note[name] for name in found} == found
    assert note["encrypted"] and note["environment"]["Python"] and note["when"].endswith("+00:00")
    assert note["command"] == f"beforehand cluster {' '.join(SHORT)} --seed 5 --trace {folder}"
    assert parsed(note["command"])["trace"] == folder


def parsed(line: str) -> dict[str, Any]:
    """The options of a command line, as the command gets them."""
    _, name, *words = shlex.split(line)
    group = get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return group.commands[name].make_context(name, words).params


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
def test_the_command_of_a_note_makes_such_a_run(
    plan: ClusterPlan, encrypted: bool, options: str
) -> None:
    """Short, and parsed it is the same plan again; names with spaces are quoted."""
    line = command_lines.cluster(plan, encrypted, Path("my traces"))
    assert line == f"beforehand cluster {options} --trace 'my traces'"
    found = parsed(line)
    assert ClusterPlan(**{name: found[name] for name in plan.__dataclass_fields__}) == plan
    assert found["encrypted"] is encrypted


def test_the_others_finish_without_the_killed() -> None:
    """One dies by signal 9 with messages under way; what the others sent each other arrives."""
    result = cluster(*SMALL, "--kill", "1", "--drop-after", "1", "--plain")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any("was killed after about 50 of its 100 messages" in line for line in lines)
    assert sum(line.endswith(" ms") for line in lines) == 3
    assert any(", killed  " in line for line in lines)
    assert any(line.startswith("network: datagrams ") for line in lines)
    assert lines[-1].startswith("verdict: clean. ")


def test_the_killed_takes_part_again() -> None:
    """Under its old name: it sends what it had not sent, and is sent to."""
    found = told(cluster(*SMALL, "--kill", "1", "--restart", "--drop-after", "1", "--json"))
    assert found["verdict"]["clean"]
    [old] = [each for each in found["processes"] if each["killed"]]
    [new] = [each for each in found["processes"] if each["life"] == 2]
    assert old["name"] == new["name"]
    assert new["sent"] == 50 and new["delivered"] > 0
    others = [each for each in found["processes"] if each["name"] != old["name"]]
    assert all(each["sent"] == 100 for each in others)
    for each in others:
        assert {"dropped", "restarted"} & {event[0] for event in each["events"]}


def test_fifo_order_alone_is_caught() -> None:
    """The control: an effect overtakes its cause, and the verdict tells the story."""
    result = cluster(*SMALL, "--protocol", "fifo", "--messages", "600")
    assert result.exit_code == 1, result.output
    verdict = result.stdout[result.stdout.index("verdict: ") :]
    assert " causal" in verdict and " lost" not in verdict
    assert "happened before" in verdict and " sent n" in verdict


def test_a_run_that_takes_too_long_is_ended() -> None:
    """With exit code 2, and what was still missing."""
    result = cluster(*SMALL, "--timeout", "0.1")
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line.startswith("beforehand: not finished within 0.1 s, while ")
    assert "n1 has sent 0 of 100" in line


def test_a_process_that_dies_by_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its last words, and exit code 2: there is nothing to judge."""
    monkeypatch.setattr(child, "WORKER", "beforehand.nowhere")
    result = cluster(*SMALL)
    assert result.exit_code == 2
    assert " crashed: " in result.stderr
    assert "No module named beforehand.nowhere" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--nodes", "0"), "nodes is 0; give a number from 2"),
        (("--nodes", "3", "--kill", "3"), "cannot kill 3 of 3 nodes"),
        (("--loss", "1.5"), "loss is 1.5; give a rate"),
        (("--protocol", "hybird"), "did you mean hybrid?"),
        (("--trace", "tests"), "tests is not empty; choose a new folder for the traces"),
    ],
)
def test_what_cannot_be_run_is_refused(
    arguments: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence and exit code 2, and nothing is started."""
    monkeypatch.chdir(Path(__file__).parents[2])
    result = cluster(*arguments)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert problem in line


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocols.names())
def test_every_protocol_runs(protocol: str) -> None:
    """Fixed members, trees, links and broadcasts included; those that promise causal order keep it."""
    result = cluster(
        "--nodes", "5", "--messages", "1000", *FAULTS, "--protocol", protocol, "--json"
    )
    found = told(result, result.exit_code if protocol == "cykas-unsafe" else protocol in CONTROLS)
    assert found["verdict"]["lost"] == 0
    assert total(found, "lost") > 0


@pytest.mark.slow
def test_a_hundred_thousand_messages() -> None:
    """Eight processes, 10 % loss, 10 % duplication, 30 % reordering."""
    found = told(cluster("--messages", "100000", *FAULTS, "--timeout", "600", "--json"))
    assert found["verdict"]["clean"] and found["verdict"]["sends"] == 100_000
    assert total(found, "lost") > 1000
