"""`beforehand simulate`: output, files and rejected input."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from beforehand import simulator
from beforehand.cli import app
from beforehand.errors import ScenarioError
from beforehand.simulator import Scenario
from beforehand.trace import Event, read

runner = CliRunner()

# Scenario fields whose option is repeated, once per element.
REPEATED = {
    "partitions": "partition",
    "stops": "stop",
    "options": "option",
    "opens": "open",
    "closes": "close",
    "reparents": "reparent",
}
SMALL = ("--processes", "5", "--messages", "4")


def simulate(*arguments: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["simulate", *map(str, arguments)])


Message = tuple[str | None, int | None]


def deliveries(events: Iterable[Event]) -> set[tuple[str, str | None, int | None]]:
    """Return who delivered which message."""
    return {(e.process, e.sender, e.mid) for e in events if e.kind == "deliver"}


def causes_of_sends(events: Iterable[Event]) -> dict[tuple[str, int | None], set[Message]]:
    """Map each send to the messages that its process had delivered before."""
    delivered: dict[str, set[Message]] = {}
    causes = {}
    for event in sorted(events, key=lambda event: (event.process, event.seq)):
        known = delivered.setdefault(event.process, set())
        if event.kind == "deliver":
            known.add((event.sender, event.mid))
        elif event.kind == "send":
            causes[event.process, event.mid] = set(known)
    return causes


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore terminal settings in the environment of the tests."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


# ---- output ----


def test_a_run_is_summarised() -> None:
    """The first line has the scenario and the outcome; one line per figure follows."""
    result = simulate(*SMALL, "--seed", "7")
    assert result.exit_code == 0
    first, header, *rows = result.stdout.splitlines()
    assert first == "hybrid-sps, 5 processes, workload uniform, seed 7: complete"
    assert header.split() == ["FIGURE", "VALUE", "MORE"]
    assert rows[0].split() == ["messages", "sent", "20", "20", "deliveries"]
    for figure in ("delivery latency", "metadata per message", "bytes on the wire", "simulator"):
        assert any(row.startswith(figure) for row in rows), figure


def test_no_progress_bar_outside_of_terminals() -> None:
    """Standard output is for the result; a quick run prints no progress to standard error either."""
    result = simulate(*SMALL)
    assert result.exit_code == 0 and result.stderr == ""
    assert "\x1b" not in result.stdout and "━" not in result.stdout


def test_json_has_everything() -> None:
    """Scenario, outcome, metrics and speed, and nothing else is printed."""
    result = simulate(*SMALL, "--json", "--protocol", "rst", "--loss", "0.1")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["scenario"] == json.loads(
        json.dumps(
            Scenario(protocol="rst", processes=5, messages=4, loss=0.1, payload="100").to_dict()
        )
    )
    assert report["outcome"] == "complete"
    assert report["metrics"]["sent"] == report["metrics"]["delivered"] == 20
    assert report["metrics"]["latency"]["count"] == 20
    assert report["simulator"]["events_per_second"] > 0
    assert report["audited"] is False and report["violations"] == []


def test_every_option_reaches_the_scenario() -> None:
    """Each field has a value other than its default in one of three scenarios."""
    direct = Scenario(
        protocol="hybrid-sps",
        processes=5,
        messages=3,
        workload="groups:3",
        seed=9,
        interval="20ms",
        payload="uniform:10,20",
        job="1ms",
        job_share=0.5,
        delay="uniform:1ms,9ms",
        jitter="2ms",
        bandwidth="1MB/s",
        header=28,
        fifo=True,
        loss=0.1,
        duplicate=0.2,
        partitions=("1ms-3ms:p1,p2", "4ms-5ms:50%"),
        stops=("p3@20ms", "p4@30ms"),
        drop_after="50ms",
        tick="40ms",
        until="10s",
        link="always",
        split=True,
        flush="1ms",
        options={"coalesce": True},
        sample="10ms",
    )
    links = Scenario(
        protocol="prc",
        processes=6,
        workload="broadcast:50",
        messages=3,
        payload="100",
        overlay="spray:100ms",
        churn="joins=1,leaves=1,to=50ms",
        opens=("p1>p2@10ms", "p2>p3@10ms"),
        closes=("p1>p2@40ms",),
    )
    tree = Scenario(
        protocol="tree", processes=6, messages=3, payload="100", reparents=("p5>p1@10ms",)
    )
    scenarios = [scenario.to_dict() for scenario in (direct, links, tree)]
    for field in fields(Scenario):
        default = getattr(Scenario(), field.name)
        different = [scenario[field.name] not in (default, [], None) for scenario in scenarios]
        assert field.name == "program" or any(different), field.name
    for scenario in scenarios:
        report = json.loads(simulate("--json", *_as_options(scenario)).stdout)
        assert report["scenario"] == scenario


def _as_options(scenario: dict[str, Any]) -> list[str]:
    options = []
    for name, value in scenario.items():
        option = "--" + REPEATED.get(name, name).replace("_", "-")
        if value is True:
            options.append(option)
        elif isinstance(value, list):
            options += [f"{option}={element}" for element in value]
        elif isinstance(value, dict):
            options += [f"{option}={key}={str(setting).lower()}" for key, setting in value.items()]
        elif value is not None and value is not False:
            options.append(f"{option}={value}")
    return options


def test_results_depend_only_on_the_options_and_the_seed() -> None:
    """The same options give the same figures; another seed gives different ones."""
    first, repeated, other = (
        json.loads(simulate(*SMALL, "--json", "--seed", seed).stdout)["metrics"] for seed in "112"
    )
    assert first == repeated != other


def test_help_names_every_option() -> None:
    """Every field of a scenario has an option, and the help lists it."""
    options = [REPEATED.get(field.name, field.name) for field in fields(Scenario)]
    text = simulate("--help").stdout
    for option in [*options, "audit", "out", "force", "json"]:
        assert f"--{option.replace('_', '-')} " in text


# ---- audits ----


def test_an_audit_catches_causal_violations() -> None:
    """With FIFO links only, the shop workload is violated: exit code 1, and an explanation."""
    result = simulate("--audit", "--protocol", "fifo", "--workload", "shop", "--processes", "5")
    assert result.exit_code == 1
    assert "audit: " in result.stdout and "violations" in result.stdout
    explanations = [line for line in result.stdout.splitlines() if "happened before" in line]
    assert explanations and "customer" in explanations[0]


def test_violations_are_in_the_json_output() -> None:
    """The same exit code, and valid JSON with the violations in it."""
    shop = ("--protocol", "fifo", "--workload", "shop", "--processes", "5")
    result = simulate("--audit", "--json", *shop)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["violations"]


def test_an_audit_of_a_causal_run_passes() -> None:
    """The same workload with hybrid buffering: exit code 0, and the output says that order held."""
    result = simulate("--audit", "--protocol", "hybrid", "--workload", "shop", "--processes", "5")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("audit: causal order held")


def test_an_audit_catches_lost_messages() -> None:
    """Missing deliveries are a failure, too."""
    result = simulate(*SMALL, "--audit", "--protocol", "raw", "--loss", "0.5")
    assert result.exit_code == 1
    assert "never delivered" in result.stdout


def test_without_an_audit_the_exit_code_is_0() -> None:
    """The exit code depends on an audit; missing messages are reported in any case."""
    result = simulate(*SMALL, "--protocol", "raw", "--loss", "0.5")
    assert result.exit_code == 0 and "audit" not in result.stdout
    assert "never delivered" in result.stdout


# ---- files ----


def test_out_contains_the_trace_and_the_result(tmp_path: Path) -> None:
    """A folder with every event and every figure, whose path is printed."""
    folder = tmp_path / "new" / "run"
    result = simulate(*SMALL, "--out", folder)
    assert result.exit_code == 0
    assert sorted(file.name for file in folder.iterdir()) == ["result.json", "trace.parquet"]
    assert str(folder / "trace.parquet") in result.stdout
    events = list(read(folder / "trace.parquet"))
    sent = {(to, e.process, e.mid) for e in events if e.kind == "send" for to in e.to or ()}
    assert len(sent) == 20 and deliveries(events) == sent
    written = json.loads((folder / "result.json").read_text())
    assert written["metrics"]["sent"] == 20 and written["scenario"]["processes"] == 5


def test_a_folder_that_is_not_empty_is_rejected(tmp_path: Path) -> None:
    """Exit code 2, and its files are unchanged."""
    (tmp_path / "result.json").write_text("precious")
    result = simulate(*SMALL, "--out", tmp_path)
    assert result.exit_code == 2
    assert "is not empty" in result.stderr and "--force" in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]
    assert (tmp_path / "result.json").read_text() == "precious"


def test_force_writes_into_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    """Only the trace and the result are replaced."""
    (tmp_path / "result.json").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    result = simulate(*SMALL, "--out", tmp_path, "--force")
    assert result.exit_code == 0
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "complete"
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert deliveries(read(tmp_path / "trace.parquet"))


def test_a_run_that_fails_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure in mid-run leaves nothing that looks like a result."""
    complete = simulator.run

    def incomplete(*arguments: Any, **options: Any) -> None:
        complete(*arguments, **options)
        raise ScenarioError("time has run out; start earlier")

    monkeypatch.setattr(simulator, "run", incomplete)
    result = simulate(*SMALL, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert result.stderr == "beforehand: time has run out; start earlier\n"
    assert not (tmp_path / "run").exists()


def test_old_results_stay_until_there_are_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure with --force leaves the folder as it was."""
    assert simulate(*SMALL, "--out", tmp_path / "run").exit_code == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}

    def fails(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(simulator, "run", fails)
    result = simulate(*SMALL, "--seed", "2", "--out", tmp_path / "run", "--force")
    assert result.exit_code == 3 and len(before) == 2
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


# ---- replays ----


def test_a_trace_with_absolute_times_is_replayed(tmp_path: Path) -> None:
    """Real nodes record times since 1970; a replay begins with the first event."""
    traces = tmp_path / "traces"
    cluster = ("cluster", "--nodes", "3", "--messages", "60", "--trace", str(traces))
    assert runner.invoke(app, cluster).exit_code == 0
    sent = [event for event in read(traces) if event.kind == "send"]
    assert len(sent) == 60 and min(event.time_ns for event in sent) > 10**18
    result = simulate("--workload", "replay", "--program", traces, "--audit", "--json")
    assert result.exit_code == 0, result.stderr
    metrics = json.loads(result.stdout)["metrics"]
    assert metrics["sent"] == 60 and 0 < metrics["execution_ns"] < 600 * 10**9


def test_a_program_is_replayed(tmp_path: Path) -> None:
    """Three JSON lines: carol delivers the answer after the question."""
    program = tmp_path / "program.jsonl"
    program.write_text(
        '{"id": "question", "sender": "alice", "to": ["carol"]}\n'
        '{"id": "hint", "sender": "alice", "to": "bob", "after": ["question"]}\n'
        '{"id": "answer", "sender": "bob", "to": ["carol"], "after": ["hint"]}\n'
    )
    out = tmp_path / "out"
    result = simulate("--workload", "replay", "--program", program, "--audit", "--out", out)
    assert result.exit_code == 0
    assert result.stdout.startswith("hybrid-sps, 3 processes, workload replay, seed 1: complete")
    events = list(read(out / "trace.parquet"))
    delivered = [e.sender for e in events if e.kind == "deliver" and e.process == "carol"]
    assert delivered == ["alice", "bob"]
    assert deliveries(events) == {("carol", "alice", 1), ("bob", "alice", 2), ("carol", "bob", 1)}


@pytest.mark.parametrize("workload", ["uniform", "groups:3", "request-reply"])
def test_a_trace_is_replayed_by_another_protocol(tmp_path: Path, workload: str) -> None:
    """The replay sends the same messages to the same processes."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert simulate(*SMALL, "--workload", workload, "--out", first).exit_code == 0
    result = simulate(
        "--protocol",
        "rst",
        "--workload",
        "replay",
        "--program",
        first / "trace.parquet",
        "--audit",
        "--out",
        second,
    )
    assert result.exit_code == 0, result.output
    recorded, replayed = (list(read(folder / "trace.parquet")) for folder in (first, second))
    assert deliveries(replayed) == deliveries(recorded) != set()
    before, after = causes_of_sends(recorded), causes_of_sends(replayed)
    assert before.keys() == after.keys()
    assert all(before[send] <= after[send] for send in before), "a send lost one of its causes"


# ---- rejected input ----


PROGRAMS = {
    "cyclic": '{"id": "a", "sender": "p", "to": ["q"], "after": ["b"]}\n'
    '{"id": "b", "sender": "p", "to": ["q"], "after": ["a"]}\n',
    "stranger": '{"id": "a", "sender": "p", "to": ["q"], "after": ["nobody"]}\n',
    "blind": '{"id": "a", "sender": "p", "to": ["q"]}\n'
    '{"id": "b", "sender": "r", "to": ["q"], "after": ["a"]}\n',
    "lonely": '{"id": "a", "sender": "p", "to": []}\n',
    "number": '{"id": "a", "sender": "p", "to": [7]}\n',
    "twice": '{"id": "a", "sender": "p", "to": ["q"]}\n' * 2,
    "torn": '{"id": "a", "sender": \n',
    "unknown": '{"id": "a", "sender": "p", "to": ["q"], "colour": "red"}\n',
    "empty": "",
}

BAD = [
    ("--processes 0", "from 1 to 1,000,000"),
    ("--processes -3", "from 1 to 1,000,000"),
    ("--processes 1", "at least 2 processes"),
    ("--messages -1", "from 0 to"),
    ("--seed -1", "from 0 to"),
    ("--header -1", "from 0 to"),
    ("--protocol nosuch", "the protocols: hybrid, "),
    ("--option colour=true", "its options: coalesce"),
    ("--option coalesce=maybe", "coalesce=true"),
    ("--option coalesce", "coalesce=true"),
    ("--protocol rst --option coalesce=true", "its options: none"),
    ("--protocol mattern --workload groups:3", "split"),
    ("--protocol rst --loss 0.1 --link never", "leave link at auto"),
    ("--workload nosuch", "the workloads: uniform[:PEERS], "),
    ("--workload hotspot", "hotspot:SHARE,PROBABILITY"),
    ("--workload hotspot:0.1", "hotspot:SHARE,PROBABILITY"),
    ("--workload hotspot:2,0.5", "from 0 to 1"),
    ("--workload pipeline", "pipeline:STAGES"),
    ("--workload pipeline:1", "from 2 to 5"),
    ("--workload ring:0", "from 1 to"),
    ("--workload groups:9", "from 2 to 5"),
    ("--workload broadcast:10,5s,2s", "not before"),
    ("--workload shop --processes 2", "at least 3 processes"),
    ("--workload replay", "needs a program"),
    ("--interval soon", "such as 5ms"),
    ("--payload -1", "0 or more"),
    ("--payload 1.5", "whole number"),
    ("--job 5parsec", "such as 5ms"),
    ("--job-share 2", "from 0 to 1"),
    ("--delay -5ms", "0 or more"),
    ("--delay 5", "'5' has no unit; write it like 5ms"),
    ("--delay gamma:1ms,2ms", "lognormal:40ms,0.5"),
    ("--delay uniform:9ms,1ms", "give the lower one first"),
    ("--delay matrix:1ms,2ms;1ms", "as many columns as rows"),
    ("--delay schedule:1s=2ms,0s=1ms", "sort its points"),
    ("--jitter -1ms", "0 or more"),
    ("--bandwidth 0", "50kB/s"),
    ("--bandwidth 0B/s", "unlimited"),
    ("--tick 0s", "give a duration"),
    ("--until never", "such as 5ms"),
    ("--loss 1.5", "from 0 to 1"),
    ("--loss 1", "less than 1"),
    ("--loss nan", "from 0 to 1"),
    ("--duplicate -0.1", "from 0 to 1"),
    ("--partition 1s-3s:stranger", "the processes: p0, p1, p2, p3, p4"),
    ("--partition 3s-1s:p1", "before it begins"),
    ("--partition whenever", "1s-3s:p1,p2"),
    ("--partition 1s-3s:100%", "one side"),
    ("--stop stranger@1s", "the processes: p0, p1, p2, p3, p4"),
    ("--stop p1", "p3@2s"),
    ("--stop p1@1s --stop p1@2s", "at most once"),
    ("--stop p1@1s --drop-after x", "such as 5ms"),
    ("--program {cyclic}", "cyclic"),
    ("--workload replay --program {folder}", "no trace in this folder"),
    ("--workload replay --program {missing}", "cannot be read"),
    ("--workload replay --program {binary}.jsonl", "line 1"),
    ("--workload replay --program {binary}.parquet", "Parquet"),
    ("--workload replay --program {cyclic}", "a comes after b comes after a"),
    ("--workload replay --program {stranger}", "isn't the id of any send"),
    ("--workload replay --program {blind}", "name a send of r, or a message to it"),
    ("--workload replay --program {lonely}", "name at least one process"),
    ("--workload replay --program {number}", "use a string"),
    ("--workload replay --program {twice}", "give each its own"),
    ("--workload replay --program {torn}", "line 1"),
    ("--workload replay --program {unknown}", "payload_bytes"),
    ("--workload replay --program {empty}", "at least one"),
]


@pytest.fixture(scope="module")
def invalid_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write files that aren't valid programs; return their paths by name."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.jsonl").write_text(text)
    for ending in ("jsonl", "parquet"):
        (folder / f"binary.{ending}").write_bytes(bytes(range(256)))
    (folder / "folder").mkdir()
    return {
        **{name: folder / f"{name}.jsonl" for name in (*PROGRAMS, "missing")},
        "binary": folder / "binary",
        "folder": folder / "folder",
    }


@pytest.mark.parametrize(("options", "allowed"), BAD, ids=[options for options, _ in BAD])
def test_invalid_scenarios_are_rejected_in_one_sentence(
    tmp_path: Path, invalid_programs: dict[str, Path], options: str, allowed: str
) -> None:
    """Exit code 2, one line with the allowed values, and no output folder."""
    out = tmp_path / "out"
    arguments = [part.format(**invalid_programs) for part in options.split()]
    result = simulate(*SMALL, *arguments, "--out", out)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit), "refused, not failed"
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("beforehand: ") and allowed in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "allowed"),
    [("--processes many", "integer"), ("--link maybe", "'auto'"), ("--colour red", "--")],
)
def test_options_that_cannot_be_parsed(tmp_path: Path, options: str, allowed: str) -> None:
    """The option parser rejects them with the same exit code."""
    result = simulate(*options.split(), "--out", tmp_path / "out")
    assert result.exit_code == 2 and result.stdout == ""
    assert allowed in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_as_output_folder_is_rejected(tmp_path: Path) -> None:
    """The message says so, and the file is unchanged."""
    (tmp_path / "out").write_text("mine")
    result = simulate(*SMALL, "--out", tmp_path / "out")
    assert result.exit_code == 2 and "cannot be created" in result.stderr
    assert (tmp_path / "out").read_text() == "mine"
