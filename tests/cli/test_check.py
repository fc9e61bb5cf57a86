"""`beforehand check`: output, exit codes, saved traces and rejected input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from typer.testing import CliRunner, Result

from beforehand.checker import explore
from beforehand.checker.search.estimate import estimate
from beforehand.checker.verdict import SearchProgress, Verdict
from beforehand.cli import app
from beforehand.cli.check import command as check_command
from beforehand.cli.check import warning as check_warning
from beforehand.cli.check.counterexample import save
from beforehand.cli.check.request import CheckBounds, SearchOptions
from beforehand.cli.check.view import CheckResult, show, to_dict
from beforehand.errors import LocalProtocolError
from beforehand.results.format import NANOSECONDS, duration
from beforehand.trace import Event, read
from tests.checker.cores import Swallowing, setting_of
from tests.pipeline.audit.logs import judge_events

runner = CliRunner()

UNSAFE = ("--protocol", "cykas-unsafe", "--program", "a>b a>c b>a b>c c>b")
RAW = ("--protocol", "raw", "--sends", "2,0")
SMALL = ("--protocol", "mattern", "--sends", "2,1,0")


def check(*arguments: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["check", *map(str, arguments)])


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore terminal settings in the environment of the tests."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def figures(result: Result) -> dict[str, str]:
    """Return the rows of the printed table, keyed by their first column."""
    rows = re.findall(r"^([a-z]+(?: seen)?)  +(.*)$", result.stdout, re.MULTILINE)
    return dict(rows)


# ---- verdicts and exit codes ----


def test_a_protocol_without_violations_is_correct() -> None:
    """Exit code 0; the table lists the bounds, the states and the coverage."""
    result = check(*SMALL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == "mattern: correct"
    rows = figures(result)
    assert rows["bounds"] == (
        "every program of 3 processes with 2, 1, 0 messages by a, b, c, each to any other, "
        "any order of sends and arrivals"
    )
    assert re.fullmatch(r"[\d,]+ distinct, [\d,]+ in all", rows["states"])
    assert "a message was held" in rows["seen"]
    assert "never seen" not in rows
    assert "partial order" in rows["reductions"]


def test_a_violation_is_shown_with_its_shortest_run() -> None:
    """Exit code 1; diagram, explanation, published figure and a command that reproduces the run."""
    result = check(*UNSAFE)
    assert result.exit_code == 1
    assert result.stdout.startswith("cykas-unsafe: violated (causal)\n")
    text = result.stdout
    assert "The shortest run that shows it, 9 steps:" in text
    assert "   |                        !! delivers a#1          |\n" in text
    assert "causal: b delivered c#1 before a#1, but a#1 happened before c#1: " in text
    assert "This is the run of figure 3 of Tong, Liittschwager and Kuper 2024." in text
    (program,) = re.findall(r"--program '(.*)'", text)
    assert sorted(program.split()) == sorted(["a>b", "a>c", "b>a", "b>c", "c>b"])
    assert all(len(line) <= 80 for line in text.splitlines() if "|" in line)


def test_the_suggested_program_reproduces_the_violation() -> None:
    """The suggested command finds the same violation with the same faults and links."""
    star = ("--links", "a-b,a-c")
    first = check("--protocol", "link-memory", "--sends", "1,0,0", *star, "--open", "b+c")
    assert first.exit_code == 1
    assert "This is the run of figure 2 of Nédelec, Molli and Mostéfaoui 2018." in first.stdout
    (suggested,) = re.findall(
        r"^To check only this program: beforehand check (.*)$", first.stdout, re.MULTILINE
    )
    program = re.findall(r"--program '(.*)'", suggested)
    assert suggested.startswith("--protocol link-memory --processes 3 --links a-b,a-c --program ")
    second = check("--protocol", "link-memory", *star, "--program", *program)
    assert second.exit_code == 1
    assert "duplicate: c delivered a#1 again" in first.stdout and "again" in second.stdout


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (("--max-states", "5"), "the limit of 5 states was hit"),
        (("--time-limit", "0.0001s"), "the time limit of 0.0001 seconds was hit"),
    ],
)
def test_a_limit_is_never_a_pass(limit: tuple[str, str], reason: str) -> None:
    """Exit code 3; the first line says that the search is unfinished."""
    result = check(*SMALL, *limit)
    assert result.exit_code == 3
    headline = result.stdout.splitlines()[0]
    assert (
        headline == f"mattern: not finished: {reason}; no violation so far, but this is not a pass"
    )


def test_a_check_without_coverage_is_inconclusive() -> None:
    """If no message was ever held, the exit code is 2 and the output lists what didn't happen."""
    result = check("--protocol", "mattern", "--processes", "2", "--messages", "1")
    assert result.exit_code == 2
    headline = result.stdout.splitlines()[0]
    assert headline.startswith("mattern: inconclusive: no violation, but ")
    assert headline.endswith("so this shows little; raise the bounds")
    assert "a message was held" in figures(result)["never seen"]


@pytest.mark.parametrize(
    ("outcome", "seen", "code", "headline"),
    [
        ("correct", True, 0, "mattern: correct"),
        ("correct", False, 2, "mattern: inconclusive: no violation, but some"),
        ("unfinished", True, 3, "mattern: not finished: why; no violation so far"),
        ("unfinished", False, 3, "mattern: not finished: why; no violation so far"),
        ("violated", True, 1, "mattern: violated"),
    ],
)
def test_only_a_finished_search_with_coverage_passes(
    capsys: pytest.CaptureFixture[str],
    outcome: Literal["correct", "unfinished", "violated"],
    seen: bool,
    code: int,
    headline: str,
) -> None:
    """An unfinished search never passes; a violation fails even without a counterexample."""
    bounds = CheckBounds("mattern")
    verdict = Verdict(outcome, 2, 3, 1, 0.5, {"a message was held": seen}, reason="why")
    report = CheckResult(bounds, SearchOptions(), bounds.setting(), verdict, None)
    assert report.exit_code == to_dict(report)["exit_code"] == code
    show(report)
    printed = capsys.readouterr().out
    assert printed.startswith(headline)
    assert "2 distinct, 4 in all" in printed and "4 states per second" in printed


def test_an_interrupted_check_is_not_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has an exit code of its own, and the sentence says that there is no verdict."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(explore, "check", interrupted)
    result = check(*SMALL)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "beforehand: interrupted; there is no verdict\n"


def test_progress_shows_states_depth_and_speed() -> None:
    """The text of the progress line on terminals."""
    text = check_command.progress_text(SearchProgress(12000, 50000, 7, 300, 2.0))
    assert text == "12,000 states, depth 7, 300 waiting, 6,000 states per second"


def test_reductions_can_be_switched_off() -> None:
    """Individually or together; the result lists the reductions used, and the verdict is the same."""
    used = {}
    for option in ("--workers=1", "--no-reduction", "--no-symmetry", "--full", "--depth-first"):
        result = check("--protocol", "mattern", "--sends", "1,1,1", "--json", option)
        report = json.loads(result.stdout)
        assert report["outcome"] == "correct"
        used[option] = (report["reduced"], report["symmetries"])
    assert used == {
        "--workers=1": (True, 6),
        "--depth-first": (True, 6),
        "--no-reduction": (False, 6),
        "--no-symmetry": (True, 1),
        "--full": (False, 1),
    }


def test_bounds_are_described_in_prose() -> None:
    """Programs, faults, trees, overlays and opened links."""
    for arguments, prose in (
        (
            ("--protocol", "hybrid", "--sends", "1,0,0", "--multicast", "--faults", "loss=2"),
            "each to any others, any order of sends and arrivals, up to 2 losses",
        ),
        (
            ("--protocol", "tree", "--program", "a>b", "--tree", "b:a,c:b"),
            "the program a>b of 3 processes, any order of sends and arrivals that is FIFO on each "
            "link, on the tree b:a,c:b",
        ),
        (
            ("--protocol", "prc", "--sends", "1,0,0", "--links", "a-b,a-c", "--open", "b+c/a"),
            "each to everybody, any order of sends and arrivals that is FIFO on each link, on the "
            "links a-b,a-c, with b+c/a at any moment",
        ),
        (
            ("--protocol", "vector", "--messages", "1", "--processes", "2", "--faults", "tick=1"),
            "every program of 2 processes with 1 message each, each to everybody, any order of sends "
            "and arrivals, up to 1 early tick",
        ),
    ):
        assert prose in figures(check(*arguments))["bounds"]


# ---- JSON ----


def test_json_has_everything() -> None:
    """Settings, counts, problem, run as text and as data, and exit code; nothing else is printed."""
    result = check(*UNSAFE, "--json", "--max-states", "100000")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["outcome"] == "violated" and report["exit_code"] == 1
    assert report["settings"]["program"] == "a>b a>c b>a b>c c>b"
    assert report["settings"]["max_states"] == 100000
    assert report["problem"]["kind"] == "causal"
    assert report["problem"]["sentence"].startswith("b delivered c#1 before a#1")
    assert report["states"] < report["total"] and report["depth"] > 0 and report["seconds"] > 0
    assert report["seen"]["a message was held"] is True
    run = report["counterexample"]
    assert run["figure"].startswith("figure 3 of Tong")
    assert len(run["run"]) == len(run["actions"]) == 9
    assert {"kind": "step", "process": "a", "send": True, "to": ["b"]} in run["actions"]
    arrivals = [action for action in run["actions"] if action["kind"] == "arrive"]
    assert arrivals[-1] == {
        "kind": "arrive",
        "process": "b",
        "sender": "a",
        "frame": "CykasMessage(1, False, b'a#1')",
        "messages": ["a#1"],
    }
    assert run["diagram"][0].split() == ["a", "b", "c"]
    assert run["trace"] is None


def test_json_of_a_pass() -> None:
    """Without a violation there is no problem and no counterexample."""
    report = json.loads(check(*SMALL, "--json").stdout)
    assert report["outcome"] == "correct" and report["exit_code"] == 0
    assert report["problem"] is None and report["counterexample"] is None


# ---- saved traces ----


def saved(tmp_path: Path, *arguments: str) -> list[Event]:
    """Run a check that finds a violation and return the events of the saved trace."""
    file = tmp_path / "found.jsonl"
    result = check(*arguments, "--out", file)
    assert result.exit_code == 1, result.output
    assert result.stdout.endswith(f"Trace: {file}\n")
    return list(read(file))


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (UNSAFE, "causal"),
        (RAW, "fifo"),
        (
            ("--protocol", "link-memory", "--links", "a-b,a-c", "--program", "a>* b+c"),
            "duplicate",
        ),
    ],
)
def test_the_auditor_finds_the_violation_in_the_saved_trace(
    tmp_path: Path, arguments: tuple[str, ...], kind: str
) -> None:
    """The auditor shares only its sentences with the checker; pending messages aren't lost."""
    events = saved(tmp_path, *arguments)
    verdict = judge_events(events)
    assert kind in {violation.kind for violation in verdict.violations}
    assert verdict.counts["lost"] == 0
    assert {event.detail for event in events if event.kind == "stop"} == {"cut short"}


def test_a_message_that_is_never_delivered_is_lost_in_the_trace(tmp_path: Path) -> None:
    """The run is complete, so the auditor reports the missing delivery."""
    swallowing = setting_of(Swallowing, "a>b a>b")
    counterexample = explore.check(swallowing).counterexample
    assert counterexample is not None and counterexample.problem.kind == "undelivered"
    save(swallowing, counterexample, tmp_path / "trace.jsonl")
    verdict = judge_events(read(tmp_path / "trace.jsonl"))
    assert [(violation.kind, violation.process) for violation in verdict.violations] == [
        ("lost", "b")
    ]


def test_a_trace_has_every_kind_of_event(tmp_path: Path) -> None:
    """Causal-sends, releases, holds, receives, deliveries and control frames, one millisecond apart."""
    events = saved(tmp_path, *UNSAFE)
    kinds = {event.kind for event in events}
    assert kinds == {
        "start",
        "send",
        "hold",
        "release",
        "receive",
        "deliver",
        "control",
        "stop",
    }
    assert sorted({event.time_ns // 1_000_000 for event in events}) == list(range(11))
    (hold,) = [event for event in events if event.kind == "hold"]
    assert (hold.process, hold.detail, hold.to) == ("c", "at sender", ("b",))
    assert all(event.meta_bytes > 0 for event in events if event.kind in ("release", "control"))


def test_a_trace_is_saved_to_a_new_folder_only_for_a_violation(tmp_path: Path) -> None:
    """`--out` may be a folder that doesn't exist yet; a pass reports that nothing was saved."""
    folder = tmp_path / "new" / "one"
    assert check(*RAW, "--out", folder).exit_code == 1
    assert [file.name for file in folder.iterdir()] == ["trace.jsonl"]
    other = tmp_path / "other"
    passed = check(*SMALL, "--out", other)
    assert passed.exit_code == 0 and not other.exists()
    assert f"There is no run to save, so {other / 'trace.jsonl'} was not written." in passed.stdout


# ---- rejected input ----


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--protocol", "cycas"), "there is no protocol 'cycas' (did you mean cykas?)"),
        (("--program", "a>z"), "a>z names 'z', which is not one of the processes (a, b, c)"),
        (("--program", "a:b"), "program: 'a:b' is not a step; write a>b"),
        (("--program", "a>*"), "this protocol has no broadcast; name the receivers"),
        (("--program", "a>b", "--messages", "1"), "--messages and --program"),
        (("--processes", "1"), "processes: 1 cannot be explored; give 2 to 8"),
        (("--messages", "-1"), "sends: a cannot send -1 messages; give 0 to 15"),
        (("--sends", "1,x"), "--sends: '1,x' is not a list of numbers"),
        (("--sends", "1,1", "--processes", "3"), "--sends: 1,1 is for 2 processes"),
        (("--sends", "1,1", "--messages", "3"), "both set the number of messages; leave out one"),
        (("--faults", "loss"), "--faults: 'loss' is not a fault with its number"),
        (("--faults", "loss=-1"), "--faults: 'loss=-1' is not a fault with its number"),
        (("--faults", "loss=99"), "loss=99 is out of range; give 0 to 15"),
        (("--multicast", "--protocol", "cykas"), "cykas does not support multicast"),
        (("--open", "a+c"), "--open is for protocols that run on links, and hybrid-sps does not"),
        (("--open", "a>c", "--protocol", "prc"), "--open: 'a>c' does not open a link; write a+c"),
        (("--links", "a-b"), "--links is for protocols that run on links"),
        (("--links", "ab", "--protocol", "prc"), "--links: 'ab' is not a link; write a-b"),
        (("--links", "a-b", "--protocol", "prc"), "links: a cannot reach c"),
        (("--links", "a-b,a-x", "--protocol", "prc"), "links: 'x' is not one of the processes"),
        (("--tree", "b:a"), "--tree is for protocols that run on a tree"),
        (("--tree", "b", "--protocol", "tree"), "--tree: 'b' is not a branch; write child:parent"),
        (("--time-limit", "soon"), "--time-limit: 'soon' is not a duration"),
        (("--workers", "2", "--master", "local[2]"), "--workers and --master"),
        (("--depth-first", "--master", "local[2]"), "--depth-first and --master"),
        (("--conf", "a=b"), "--conf: a setting of Spark, which is only used with --master"),
        (("--out", "nowhere/x.jsonl"), "--out: there is no folder nowhere; create it first"),
        (("--out", __file__), "is not a trace; name a folder, or a file that ends in"),
    ],
)
def test_bad_input_is_one_clear_sentence(arguments: tuple[str, ...], problem: str) -> None:
    """The message names the value and the remedy, the exit code is 2, and no search starts."""
    result = check(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("beforehand: ") and result.stderr.count("\n") == 1
    assert problem in result.stderr


def test_a_missing_numba_is_reported_with_the_extra_to_install() -> None:
    """The library works without numba, but this command needs it."""
    code = "import sys; sys.modules['numba'] = None; from beforehand.cli import app; app(['check'])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 3
    assert result.stderr == (
        "beforehand: this command needs numba, which is not installed; "
        "run `pip install 'beforehand[check]'`\n"
    )


def test_invalid_programs_are_rejected_before_the_search() -> None:
    """Not hours later, when the search reaches the invalid step."""
    with pytest.raises(LocalProtocolError, match="a: this protocol has no broadcast"):
        CheckBounds("hybrid", program="a>b a>b a>*").setting()
    with pytest.raises(LocalProtocolError, match="a link to oneself"):
        CheckBounds("prc", program="a>* a+a").setting()


# ---- bounds that cannot finish ----


def test_bounds_that_cannot_finish_cause_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimated states, time and memory are printed with a remedy; the limit then ends the search."""
    monkeypatch.setattr(check_warning, "estimate", partial(estimate, seconds=0.5))
    result = check(
        "--protocol", "hybrid", "--processes", "4", "--messages", "6", "--max-states", "9"
    )
    assert result.exit_code == 3
    assert re.match(
        r"beforehand: this may not finish: about [\d,.]+( x 10\^\d+)? states, which take about "
        r"[\d,.]+( x 10\^\d+)? years and [\d,.]+( x 10\^\d+)? GiB of memory "
        r"\([\d.]+ GiB are free\); reduce ",
        result.stderr,
    )
    assert "--sends" in result.stderr and "--master" in result.stderr


def test_estimates_are_rounded() -> None:
    """To two digits, in familiar units."""
    seconds = (5, 600, 2e4, 1e6, 1e9, 1e25)
    durations = [duration(value * NANOSECONDS, check_warning.rounded) for value in seconds]
    assert durations == [
        "5.0 s",
        "10 min",
        "5.6 h",
        "12 days",
        "32 years",
        "3 x 10^17 years",
    ]
