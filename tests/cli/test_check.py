"""`beforehand check`: what it prints, its exit codes, what it saves, and what it refuses."""

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
from tests.checker.cores import Swallowing, made
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
    """Whether there is a terminal is not for the environment of the tests to say."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def figures(result: Result) -> dict[str, str]:
    """The rows of the table, by their first column."""
    rows = re.findall(r"^([a-z]+(?: seen)?)  +(.*)$", result.stdout, re.MULTILINE)
    return dict(rows)


# ---- verdicts and exit codes ----


def test_what_held_everywhere_is_correct() -> None:
    """Exit 0, with what was covered, how much there was of it, and what was seen."""
    result = check(*SMALL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == "mattern: correct"
    shown = figures(result)
    assert shown["bounds"] == (
        "every program of 3 processes with 2, 1, 0 messages by a, b, c, each to any other, "
        "any order of sends and arrivals"
    )
    assert re.fullmatch(r"[\d,]+ distinct, [\d,]+ in all", shown["states"])
    assert "a message was held" in shown["seen"]
    assert "never seen" not in shown
    assert "partial order" in shown["reductions"]


def test_a_violation_is_shown_with_its_run() -> None:
    """Exit 1; the diagram, the sentence of the oracle, whose figure it is, and how to see it again."""
    result = check(*UNSAFE)
    assert result.exit_code == 1
    assert result.stdout.startswith("cykas-unsafe: violated (causal)\n")
    text = result.stdout
    assert "The shortest run that shows it, 9 steps:" in text
    assert "   |                        !! delivers a#1          |\n" in text
    assert "causal: b delivered c#1 before a#1, but a#1 happened before c#1: " in text
    assert "This is the run of figure 3 of Tong, Liittschwager and Kuper 2024." in text
    (again,) = re.findall(r"--program '(.*)'", text)
    assert sorted(again.split()) == sorted(["a>b", "a>c", "b>a", "b>c", "c>b"])
    assert all(len(line) <= 80 for line in text.splitlines() if "|" in line)


def test_the_program_that_is_proposed_shows_the_same() -> None:
    """Whoever follows the hint gets the same violation, with the same faults and links."""
    star = ("--links", "a-b,a-c")
    first = check("--protocol", "link-memory", "--sends", "1,0,0", *star, "--open", "b+c")
    assert first.exit_code == 1
    assert "This is the run of figure 2 of Nédelec, Molli and Mostéfaoui 2018." in first.stdout
    (again,) = re.findall(
        r"^To check only this program: beforehand check (.*)$", first.stdout, re.MULTILINE
    )
    program = re.findall(r"--program '(.*)'", again)
    assert again.startswith("--protocol link-memory --processes 3 --links a-b,a-c --program ")
    second = check("--protocol", "link-memory", *star, "--program", *program)
    assert second.exit_code == 1
    assert "duplicate: c delivered a#1 again" in first.stdout and "again" in second.stdout


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (("--max-states", "5"), "the limit of 5 states was hit"),
        (("--time-limit", "0.0001s"), "the time limit of 0.0001 seconds was hit"),
    ],
)
def test_a_limit_is_never_a_pass(limit: tuple[str, str], words: str) -> None:
    """Exit 2, and the first line says that nothing is known."""
    result = check(*SMALL, *limit)
    assert result.exit_code == 2
    first = result.stdout.splitlines()[0]
    assert first == f"mattern: not finished: {words}; no violation so far, but this is not a pass"


def test_nothing_seen_says_little() -> None:
    """A check in which no message ever waited exits with 2 and says what did not happen."""
    result = check("--protocol", "mattern", "--processes", "2", "--messages", "1")
    assert result.exit_code == 2
    first = result.stdout.splitlines()[0]
    assert first.startswith("mattern: inconclusive: no violation, but ")
    assert first.endswith("so this shows little; raise the bounds")
    assert "a message was held" in figures(result)["never seen"]


@pytest.mark.parametrize(
    ("outcome", "seen", "code", "words"),
    [
        ("correct", True, 0, "mattern: correct"),
        ("correct", False, 2, "mattern: inconclusive: no violation, but some"),
        ("unfinished", True, 2, "mattern: not finished: why; no violation so far"),
        ("unfinished", False, 2, "mattern: not finished: why; no violation so far"),
        ("violated", True, 1, "mattern: violated"),
    ],
)
def test_only_what_is_known_passes(
    capsys: pytest.CaptureFixture[str],
    outcome: Literal["correct", "unfinished", "violated"],
    seen: bool,
    code: int,
    words: str,
) -> None:
    """Whatever else was seen, a limit is no pass; and a violation is one, even without its run."""
    asked = CheckBounds("mattern")
    verdict = Verdict(outcome, 2, 3, 1, 0.5, {"a message was held": seen}, reason="why")
    report = CheckResult(asked, SearchOptions(), asked.setting(), verdict, None)
    assert report.exit_code == to_dict(report)["exit_code"] == code
    show(report)
    shown = capsys.readouterr().out
    assert shown.startswith(words)
    assert "2 distinct, 4 in all" in shown and "4 states per second" in shown


def test_an_interrupted_check_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other commands exit with 1 then; here that would be a verdict."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(explore, "check", interrupted)
    result = check(*SMALL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "beforehand: interrupted before the search finished: no verdict\n"


def test_progress_tells_states_depth_and_speed() -> None:
    """What stands on the line that changes, on terminals."""
    words = check_command.progress_text(SearchProgress(12000, 50000, 7, 300, 2.0))
    assert words == "12,000 states, depth 7, 300 waiting, 6,000 states per second"


def test_reductions_can_be_switched_off() -> None:
    """Each by itself, or both; the table says which were used, and the verdict is the same."""
    used = {}
    for option in ("--workers=1", "--no-reduction", "--no-symmetry", "--full", "--depth-first"):
        result = check("--protocol", "mattern", "--sends", "1,1,1", "--json", option)
        found = json.loads(result.stdout)
        assert found["outcome"] == "correct"
        used[option] = (found["reduced"], found["symmetries"])
    assert used == {
        "--workers=1": (True, 6),
        "--depth-first": (True, 6),
        "--no-reduction": (False, 6),
        "--no-symmetry": (True, 1),
        "--full": (False, 1),
    }


def test_bounds_are_told_in_words() -> None:
    """Programs, faults, trees, overlays and links that are opened."""
    for arguments, words in (
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
        assert words in figures(check(*arguments))["bounds"]


# ---- for programs ----


def test_json_has_everything() -> None:
    """Settings, counts, problem, run in words and as data, and exit code; nothing else is printed."""
    result = check(*UNSAFE, "--json", "--max-states", "100000")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["outcome"] == "violated" and found["exit_code"] == 1
    assert found["settings"]["program"] == "a>b a>c b>a b>c c>b"
    assert found["settings"]["max_states"] == 100000
    assert found["problem"]["kind"] == "causal"
    assert found["problem"]["sentence"].startswith("b delivered c#1 before a#1")
    assert found["states"] < found["total"] and found["depth"] > 0 and found["seconds"] > 0
    assert found["seen"]["a message was held"] is True
    run = found["counterexample"]
    assert run["figure"].startswith("figure 3 of Tong")
    assert len(run["run"]) == len(run["actions"]) == 9
    assert {"kind": "step", "process": "a", "send": True, "to": ["b"]} in run["actions"]
    arrivals = [each for each in run["actions"] if each["kind"] == "arrive"]
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
    found = json.loads(check(*SMALL, "--json").stdout)
    assert found["outcome"] == "correct" and found["exit_code"] == 0
    assert found["problem"] is None and found["counterexample"] is None


# ---- what it saves ----


def saved(tmp_path: Path, *arguments: str) -> list[Event]:
    """The trace of the violation that a check finds."""
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
    """It shares no code with the checker but the sentences; what had not arrived is no loss."""
    events = saved(tmp_path, *arguments)
    found = judge_events(events)
    assert kind in {each.kind for each in found.violations}
    assert found.counts["lost"] == 0
    assert {event.detail for event in events if event.kind == "stop"} == {"cut short"}


def test_what_is_never_delivered_is_lost_in_the_trace(tmp_path: Path) -> None:
    """Such a run comes to its end, so the auditor may miss what is not there."""
    swallowing = made(Swallowing, "a>b a>b")
    found = explore.check(swallowing).counterexample
    assert found is not None and found.problem.kind == "undelivered"
    save(swallowing, found, tmp_path / "trace.jsonl")
    judged = judge_events(read(tmp_path / "trace.jsonl"))
    assert [(each.kind, each.process) for each in judged.violations] == [("lost", "b")]


def test_a_trace_has_every_kind_of_event(tmp_path: Path) -> None:
    """Causal-sends, releases, holds, arrivals, deliveries and control frames, a millisecond apart."""
    events = saved(tmp_path, *UNSAFE)
    kinds = {event.kind for event in events}
    assert kinds == {
        *("start", "send", "hold", "release", "receive", "deliver", "control", "stop"),
    }
    assert sorted({event.time_ns // 1_000_000 for event in events}) == list(range(11))
    (hold,) = [event for event in events if event.kind == "hold"]
    assert (hold.process, hold.detail, hold.to) == ("c", "at sender", ("b",))
    assert all(event.meta_bytes > 0 for event in events if event.kind in ("release", "control"))


def test_a_folder_gets_a_file_and_nothing_is_saved_without_a_violation(tmp_path: Path) -> None:
    """`--out` may be a folder that does not exist yet; a pass says that there is nothing to save."""
    folder = tmp_path / "new" / "one"
    assert check(*RAW, "--out", folder).exit_code == 1
    assert [file.name for file in folder.iterdir()] == ["trace.jsonl"]
    other = tmp_path / "other"
    passed = check(*SMALL, "--out", other)
    assert passed.exit_code == 0 and not other.exists()
    assert f"There is no run to save, so {other / 'trace.jsonl'} was not written." in passed.stdout


# ---- what it refuses ----


@pytest.mark.parametrize(
    ("arguments", "words"),
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
        (("--open", "a+c"), "--open is for protocols that run on links, and hybrid does not"),
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
def test_bad_input_is_one_clear_sentence(arguments: tuple[str, ...], words: str) -> None:
    """It says what, where and what to do, exits with 2, and explores nothing."""
    result = check(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("beforehand: ") and result.stderr.count("\n") == 1
    assert words in result.stderr


def test_an_installation_without_numba_is_told_what_to_install() -> None:
    """The library does without; this command cannot."""
    code = "import sys; sys.modules['numba'] = None; from beforehand.cli import app; app(['check'])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 2
    assert result.stderr == (
        "beforehand: this command needs numba (numba is not installed); "
        "`pip install 'beforehand[check]'`\n"
    )


def test_what_a_core_would_refuse_is_refused_before_the_search() -> None:
    """Not after hours, when the search comes to it."""
    with pytest.raises(LocalProtocolError, match="a: this protocol has no broadcast"):
        CheckBounds("hybrid", program="a>b a>b a>*").setting()
    with pytest.raises(LocalProtocolError, match="a link to oneself"):
        CheckBounds("prc", program="a>* a+a").setting()


# ---- bounds that cannot finish ----


def test_bounds_that_cannot_finish_are_warned_about_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """States, time and memory are told on the error stream, with what to do; the limit then ends it."""
    monkeypatch.setattr(check_warning, "estimate", partial(estimate, seconds=0.5))
    result = check(
        "--protocol", "hybrid", "--processes", "4", "--messages", "6", "--max-states", "9"
    )
    assert result.exit_code == 2
    assert re.match(
        r"beforehand: this may not finish: about [\d,.]+( x 10\^\d+)? states, which take about "
        r"[\d,.]+( x 10\^\d+)? years and [\d,.]+( x 10\^\d+)? GiB of memory "
        r"\([\d.]+ GiB are free\); reduce ",
        result.stderr,
    )
    assert "--sends" in result.stderr and "--master" in result.stderr


def test_guesses_are_rounded() -> None:
    """Two digits, in units that people use."""
    seconds = (5, 600, 2e4, 1e6, 1e9, 1e25)
    words = [duration(each * NANOSECONDS, check_warning.rounded) for each in seconds]
    assert words == [
        "5.0 s",
        "10 min",
        "5.6 h",
        "12 days",
        "32 years",
        "3 x 10^17 years",
    ]
