"""`beforehand diagram`: files, output, discovery of traces, and rejected input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from beforehand import requirements
from beforehand.cli import app
from beforehand.cli.diagram import command as diagram_command
from beforehand.cli.diagram import judge as diagram_judge
from beforehand.cli.diagram.events import runs
from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.report.diagram.traces import trace_of
from tests.simulator.traced_run import traced
from tests.trace.events import write

WRONG = """
    alice 0 send alice#1 bob,carol
    bob 5 deliver alice#1
    bob 6 send bob#1 carol
    carol 9 deliver bob#1
    carol 12 deliver alice#1
"""
GOOD = "a 0 send a#1 b\n b 5 deliver a#1"
BAD_NETWORK = {"loss": 0.2, "duplicate": 0.2, "jitter": "uniform:0ms,60ms"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draw(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["diagram", *map(str, arguments)])


def refused(*arguments: str | Path) -> str:
    """Run a command that must be rejected; return its one-line message."""
    result = draw(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("beforehand: ")]
    return line


def test_a_page_is_written_and_summarised(here: Path) -> None:
    """`diagram.html` embeds the run, and wrong deliveries are printed."""
    write(here / "t.parquet", trace_of(WRONG, "my-run"))
    result = draw("t.parquet")
    assert result.exit_code == 0, result.output
    summary, violation = result.stdout.splitlines()
    assert summary == "diagram.html: 3 processes, 2 messages, 5 events"
    assert violation.startswith("1 wrong delivery is marked; the first: carol delivered bob#1")
    assert "my-run" in (here / "diagram.html").read_text(encoding="utf-8")


def test_an_svg_is_written(here: Path) -> None:
    """By the option or by the suffix of the file; optionally drawn by order."""
    write(here / "t.parquet", trace_of(WRONG))
    assert draw("t.parquet", "--svg").exit_code == 0
    assert draw("t.parquet", "--out", "x.svg", "--by", "order").exit_code == 0
    by_time, by_order = ((here / name).read_text("utf-8") for name in ("diagram.svg", "x.svg"))
    assert "not to scale" in by_order and "not to scale" not in by_time
    assert ElementTree.fromstring(by_time).tag.endswith("svg")


def test_counts_of_one_are_singular_and_folders_are_created(here: Path) -> None:
    """The summary says 1 process, not 1 processes."""
    write(here / "t.parquet", trace_of("a 0 send a#1 a"))
    result = draw("t.parquet", "--out", "new/folder/a.svg")
    assert result.stdout.startswith("new/folder/a.svg: 1 process, 1 message, 1 event\n")
    assert (here / "new" / "folder" / "a.svg").exists()


def test_standard_output_contains_only_the_svg(here: Path) -> None:
    """So that it can be piped."""
    write(here / "t.parquet", trace_of(WRONG))
    result = draw("t.parquet", "--svg", "--out", "-")
    assert ElementTree.fromstring(result.stdout).tag.endswith("svg")
    assert [file.name for file in here.iterdir()] == ["t.parquet"]


def test_json_output(here: Path) -> None:
    """The file that was written, and what it shows."""
    write(here / "t.parquet", trace_of(WRONG))
    report = json.loads(draw("t.parquet", "--json", "--events", "3").stdout)
    assert report == {
        "file": "diagram.html",
        "run": "r",
        "events": 3,
        "processes": 3,
        "messages": 2,
        "flags": [],
        "note": "The first 3 of 5 events.",
    }
    (flag,) = json.loads(draw("t.parquet", "--json").stdout)["flags"]
    assert "alice#1 happened before bob#1" in flag


def test_a_message_can_be_given_by_its_short_name(here: Path) -> None:
    """With or without the incarnation of its sender."""
    events = [
        event._replace(process="n1@9c017489ccba3459", sender="n1@9c017489ccba3459")
        for event in trace_of("a 0 send a#1 b\n a 1 send a#2 b\n a 2 send a#3 b")
    ]
    write(here / "t.parquet", events)
    for name in ("n1#2", "n1@9c017489ccba3459#2"):
        report = json.loads(draw("t.parquet", "--around", name, "--events", "1", "--json").stdout)
        assert report["note"].startswith("1 of 3 events, around n1#2.")


def test_traces_are_found_in_subfolders(here: Path) -> None:
    """As in sweeps and studies, next to other tables and unfinished files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for folder in ("study/sweep/traces/1", "study/sweep/traces/2", "study/results", "study/empty"):
        (here / folder).mkdir(parents=True)
    pq.write_table(pa.table({"run": ["x"]}), here / "study" / "results" / "part.parquet")
    (here / "study" / "results" / "notes.jsonl").write_text('{"no": "trace"}\n')
    (here / "study" / "sweep" / "traces" / "1" / "_half.parquet").write_bytes(b"PAR1")
    write(here / "study/sweep/traces/1/a.parquet", trace_of(WRONG, "one"))
    write(here / "study/sweep/traces/2/b.parquet", trace_of(GOOD, "two"))
    assert runs(here / "study") == ["one", "two"]
    assert json.loads(draw("study", "--run", "two", "--json").stdout)["processes"] == 2
    assert "several runs; choose one with --run: one, two" in refused("study")
    assert "there is no run tow in the trace; there is two" in refused("study", "--run", "tow")
    assert "no trace in this folder or below" in refused("study/empty")


def test_shell_completion_offers_runs(here: Path) -> None:
    """The runs of the trace on the command line; nothing if it can't be read."""
    write(here / "a.parquet", [*trace_of(GOOD, "one"), *trace_of(GOOD, "other"), *trace_of(GOOD)])

    def completions(*words: str) -> list[str]:
        variables = {"COMP_WORDS": " ".join(("beforehand", *words)), "COMP_CWORD": str(len(words))}
        result = CliRunner().invoke(
            app, prog_name="beforehand", env={"_BEFOREHAND_COMPLETE": "complete_bash", **variables}
        )
        return result.stdout.split()

    assert completions("diagram", "a.parquet", "--run", "o") == ["one", "other"]
    assert (
        completions("diagram", "nothing", "--run", "o")
        == completions("diagram", "--run", "o")
        == []
    )


def test_a_folder_with_one_file_per_process(here: Path) -> None:
    """As real nodes write them, here in JSON lines; the files form one run."""
    events = trace_of(WRONG)
    for name in ("alice", "bob", "carol"):
        write(here / f"{name}.jsonl", [event for event in events if event.process == name])
    assert json.loads(draw(here, "--json").stdout)["events"] == 5
    assert "there is no run x in the trace; there is r" in refused(here, "--run", "x")


def test_open_shows_the_page_when_it_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the default browser; where there is none, the command still succeeds."""
    write(here / "t.jsonl", trace_of(GOOD))
    opened: list[Path] = []
    monkeypatch.setattr(diagram_command, "open_page", opened.append)
    assert draw("t.jsonl").exit_code == 0 and opened == []
    assert draw("t.jsonl", "--open", "--out", "a.html").exit_code == 0
    assert opened == [Path("a.html")] and opened[0].exists()
    assert "there is no file to open" in refused("t.jsonl", "--open", "--out", "-")


def test_invalid_input_is_rejected(here: Path) -> None:
    """Each time with a sentence that includes the remedy."""
    write(here / "t.parquet", trace_of(WRONG))
    (here / "cut.parquet").write_bytes((here / "t.parquet").read_bytes()[:-20])
    assert "no such file or folder" in refused("nothing")
    assert "not a complete Parquet file" in refused("cut.parquet")
    assert "choose one" in refused("t.parquet", "--svg", "--html")
    assert "like alice#3" in refused("t.parquet", "--around", "alice")
    assert "like alice#3" in refused("t.parquet", "--around", "alice#\u0663")
    assert "no process dave in run r; there is alice" in refused("t.parquet", "--around", "dave#1")
    assert "its messages are 1 to 1" in refused("t.parquet", "--around", "alice#7")
    assert "ask for 1 or more" in refused("t.parquet", "--events", "0")
    assert "name a file" in refused("t.parquet", "--json", "--out", "-")
    assert "is a folder; name a file in it" in refused("t.parquet", "--out", ".")
    assert "--out is empty" in refused("t.parquet", "--out", "")
    assert "t.parquet is a file; choose" in refused("t.parquet", "--out", "t.parquet/x.svg")
    assert not list(here.glob("diagram.*"))


def test_another_version_and_an_empty_folder_are_rejected(here: Path) -> None:
    """In one sentence, before anything is read or written."""
    (here / "new.jsonl").write_text('{"beforehand-trace": 99}\n')
    (here / "empty").mkdir()
    write(here / "good.jsonl", trace_of(GOOD))
    assert "99" in refused("new.jsonl")
    assert "there is no trace in this folder or below" in refused("empty")
    assert "no such file or folder" in refused("good.jsonl", "--compare", "nothing")
    assert "there is no trace in this folder" in refused("good.jsonl", "--compare", "empty")
    assert not list(here.glob("diagram.*"))


def test_a_page_needs_the_extra_and_a_picture_does_not(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, the command names the one line that installs it, and exits with 3."""
    write(here / "t.jsonl", trace_of(GOOD))
    monkeypatch.setattr(requirements, "find_spec", lambda name: name != "jinja2" or None)
    result = draw("t.jsonl")
    assert result.exit_code == 3 and result.stdout == ""
    assert "needs jinja2" in result.stderr and "pip install 'beforehand[report]'" in result.stderr
    assert draw("t.jsonl", "--svg").exit_code == 0


def test_a_heading_names_the_protocol_and_the_verdict(here: Path) -> None:
    """The protocol is in the notes that simulations and clusters leave next to their traces."""
    write(here / "trace.parquet", trace_of(WRONG))
    (here / "result.json").write_text('{"scenario": {"protocol": "fifo"}}')
    assert draw("trace.parquet").exit_code == 0
    assert "<p>fifo: 1 of 3 deliveries is wrong</p>" in (here / "diagram.html").read_text()
    (here / "result.json").write_text("[]")
    assert draw(".").exit_code == 0
    assert "<p>1 of 3 deliveries is wrong</p>" in (here / "diagram.html").read_text()


def test_two_runs_are_compared(here: Path) -> None:
    """Of two traces, or of one; the summary is printed and, for programs, its figures."""
    right = WRONG.replace("12 deliver alice#1", "8 deliver alice#1").splitlines()
    right[4], right[5] = right[5], right[4]
    write(here / "left.jsonl", trace_of(WRONG, "one"))
    write(here / "right.jsonl", trace_of("\n".join(right), "two"))
    write(here / "both.jsonl", [*trace_of(WRONG, "one"), *trace_of("\n".join(right), "two")])
    result = draw("left.jsonl", "--compare", "right.jsonl")
    assert result.exit_code == 0, result.output
    assert "1 delivery of 3 comes in a different order." in result.stdout
    assert "Wrong only on the left: 1; only on the right: none." in result.stdout
    page = (here / "diagram.html").read_text()
    assert 'id="left-data"' in page and 'id="right-data"' in page
    same = draw("both.jsonl", "--run", "one", "--compare-run", "two", "--json")
    figures = json.loads(same.stdout)
    assert (figures["moved_deliveries"], figures["common_deliveries"]) == (1, 3)
    assert len(figures["wrong_left"]) == 1 and figures["wrong_right"] == []
    assert "leave out --svg" in refused("left.jsonl", "--compare", "right.jsonl", "--svg")
    write(here / "other.jsonl", trace_of(GOOD))
    assert "no delivery in common" in refused("left.jsonl", "--compare", "other.jsonl")


@pytest.mark.parametrize("protocol", ["fifo", "raw", "hybrid"])
def test_flagged_deliveries_are_those_of_the_oracle(protocol: str) -> None:
    """The oracle observed the run itself; the judge sees only the trace, even with skewed clocks."""
    fields = {"protocol": protocol, "processes": 5, "messages": 12, "seed": 2, **BAD_NETWORK}
    result, events = traced(audit=True, **fields)
    wrong = {(violation.process, violation.message) for violation in result.violations}
    assert bool(wrong) == (protocol != "hybrid")
    skewed = [
        event._replace(time_ns=event.time_ns // 2 ** event.seq.bit_length()) for event in events
    ]
    for trace in (events, skewed):
        diagram = build(trace, judge=DeliveryJudge())
        marks = [diagram.marks[flag.mark] for flag in diagram.flags]
        names = diagram.processes
        assert {
            (names[mark.process], (names[message.sender], message.mid))
            for mark in marks
            if mark.message is not None
            for message in [diagram.messages[mark.message]]
        } == wrong


def judged(text: str, leave_out: tuple[str, int] = ("", 0)) -> list[str]:
    """Return the flagged violations of a trace, optionally with one event left out."""
    events = [event for event in trace_of(text) if (event.process, event.seq) != leave_out]
    return [flag.sentence for flag in build(events, judge=DeliveryJudge()).flags]


def test_invented_messages_and_gaps() -> None:
    """A message that was never sent is wrong, unless a gap in a log may hide the send."""
    assert judged("a 0 start\n b 1 deliver a#1") == [], "the end of the log of a is missing"
    assert judged("a 0 start\n a 9 stop\n b 1 deliver a#1") == [
        "b delivered a#1, which a never sent: it sent nothing."
    ]
    gap = "a 0 send a#1 b\n a 1 send a#2 b\n b 5 deliver a#1\n b 6 deliver a#2"
    assert judged(gap) == judged(gap, ("a", 1)) == []
    late = f"a 0 send a#5 b\n a 1 send a#{10**15} b\n b 5 deliver a#{10**15}\n b 6 deliver a#5"
    assert judged(late) == [
        f"b delivered a#{10**15} before a#5, but a#5 happened before a#{10**15}: "
        f"a sent a#5 to b, then a#{10**15} to b."
    ], "numbers are exact, and gaps cost nothing"
    other = "a 0 send a#7 b\n b 5 deliver a#7\n b 6 deliver a#7\n c 7 deliver a#7"
    assert judged(other) == [
        "b delivered a#7 again, having already delivered it.",
        "c delivered a#7, which a sent to b instead.",
    ]
    assert judged("b 1 deliver a#1\n b 2 deliver a#1") == [], "there is no log of a"
    assert judged("a 1 deliver b#1\n a 2 send a#1 b\n b 1 deliver a#1\n b 2 send b#1 a") == [
        "a delivered b#1 before it can have been sent."
    ]


def test_the_limits_of_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them, the note refers to the auditor."""
    events: list[Event] = trace_of(WRONG)
    monkeypatch.setattr(diagram_judge, "MOST_FLAGS", 1)
    judge = DeliveryJudge()
    assert len(judge(events, True)) == 1 and "`beforehand audit` finds all" in judge.note
    monkeypatch.setattr(diagram_judge, "MOST_EVENTS", 4)
    judge = DeliveryJudge()
    assert judge(events, True) == {} and "not judged" in judge.note
