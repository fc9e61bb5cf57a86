"""`beforehand diagram`: what it writes and prints, which traces it finds, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from beforehand.cli import app
from beforehand.cli.diagram import judge as diagram_judge
from beforehand.cli.diagram.events import runs
from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.report.diagram.traces import trace_of
from tests.simulator.kept import traced
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
    """A folder of its own for each test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draw(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["diagram", *map(str, arguments)])


def refused(*arguments: str | Path) -> str:
    """What it says when it refuses, in one line and with exit code 2."""
    ran = draw(*arguments)
    assert ran.exit_code == 2 and ran.stdout == ""
    (line,) = [each for each in ran.stderr.splitlines() if each.startswith("beforehand: ")]
    return line


def test_a_page_is_written_and_told(here: Path) -> None:
    """`diagram.html`, with the data of the run in it, and what is wrong on the terminal."""
    write(here / "t.parquet", trace_of(WRONG, "my-run"))
    ran = draw("t.parquet")
    assert ran.exit_code == 0, ran.output
    first, wrong = ran.stdout.splitlines()
    assert first == "diagram.html: 3 processes, 2 messages, 5 events"
    assert wrong.startswith("1 wrong delivery is marked; the first: carol delivered bob#1")
    assert "my-run" in (here / "diagram.html").read_text(encoding="utf-8")


def test_a_picture_is_written(here: Path) -> None:
    """By the option, or by the name of the file; by order if one wants."""
    write(here / "t.parquet", trace_of(WRONG))
    assert draw("t.parquet", "--svg").exit_code == 0
    assert draw("t.parquet", "--out", "x.svg", "--by", "order").exit_code == 0
    by_time, by_order = ((here / name).read_text("utf-8") for name in ("diagram.svg", "x.svg"))
    assert "not to scale" in by_order and "not to scale" not in by_time
    assert ElementTree.fromstring(by_time).tag.endswith("svg")


def test_one_of_each_in_a_new_folder(here: Path) -> None:
    """The folder is made, and words are as people say them."""
    write(here / "t.parquet", trace_of("a 0 send a#1 a"))
    ran = draw("t.parquet", "--out", "new/folder/a.svg")
    assert ran.stdout.startswith("new/folder/a.svg: 1 process, 1 message, 1 event\n")
    assert (here / "new" / "folder" / "a.svg").exists()


def test_standard_output_is_the_picture_and_nothing_else(here: Path) -> None:
    """So that it can be piped."""
    write(here / "t.parquet", trace_of(WRONG))
    ran = draw("t.parquet", "--svg", "--out", "-")
    assert ElementTree.fromstring(ran.stdout).tag.endswith("svg")
    assert [file.name for file in here.iterdir()] == ["t.parquet"]


def test_json_for_programs(here: Path) -> None:
    """What was written, and what it shows."""
    write(here / "t.parquet", trace_of(WRONG))
    found = json.loads(draw("t.parquet", "--json", "--events", "3").stdout)
    assert found == {
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


def test_around_a_message_by_its_short_name(here: Path) -> None:
    """As people call it, or in full."""
    events = [
        event._replace(process="n1@9c017489ccba3459", sender="n1@9c017489ccba3459")
        for event in trace_of("a 0 send a#1 b\n a 1 send a#2 b\n a 2 send a#3 b")
    ]
    write(here / "t.parquet", events)
    for name in ("n1#2", "n1@9c017489ccba3459#2"):
        found = json.loads(draw("t.parquet", "--around", name, "--events", "1", "--json").stdout)
        assert found["note"].startswith("1 of 3 events, around n1#2.")


def test_traces_are_found_in_folders_below(here: Path) -> None:
    """As sweeps and studies have them, among tables that are no traces and files that are not ready."""
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


def test_the_shell_offers_runs(here: Path) -> None:
    """Those of the trace that was typed before; nothing if it cannot be read."""
    write(here / "a.parquet", [*trace_of(GOOD, "one"), *trace_of(GOOD, "other"), *trace_of(GOOD)])

    def offered(*words: str) -> list[str]:
        typed = {"COMP_WORDS": " ".join(("beforehand", *words)), "COMP_CWORD": str(len(words))}
        ran = CliRunner().invoke(
            app, prog_name="beforehand", env={"_BEFOREHAND_COMPLETE": "complete_bash", **typed}
        )
        return ran.stdout.split()

    assert offered("diagram", "a.parquet", "--run", "o") == ["one", "other"]
    assert offered("diagram", "nothing", "--run", "o") == offered("diagram", "--run", "o") == []


def test_a_folder_with_a_file_for_each_process(here: Path) -> None:
    """As real nodes leave them, in lines of JSON here; the rows of one run belong together."""
    events = trace_of(WRONG)
    for name in ("alice", "bob", "carol"):
        write(here / f"{name}.jsonl", [each for each in events if each.process == name])
    assert json.loads(draw(here, "--json").stdout)["events"] == 5
    assert "there is no run x in the trace; there is r" in refused(here, "--run", "x")


def test_what_is_refused(here: Path) -> None:
    """Each in a sentence that says what to do."""
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
    assert "x.svg: cannot be written (" in refused("t.parquet", "--out", "t.parquet/x.svg")
    assert not list(here.glob("diagram.*"))


@pytest.mark.parametrize("protocol", ["fifo", "raw", "hybrid"])
def test_what_is_marked_is_what_the_oracle_says(protocol: str) -> None:
    """The oracle watched the run itself; here it hears of it from the trace, also if clocks differ."""
    fields = {"protocol": protocol, "processes": 5, "messages": 12, "seed": 2, **BAD_NETWORK}
    result, events = traced(audit=True, **fields)
    wrong = {(each.process, each.message) for each in result.violations}
    assert bool(wrong) == (protocol != "hybrid")
    skewed = [each._replace(time_ns=each.time_ns // 2 ** each.seq.bit_length()) for each in events]
    for trace in (events, skewed):
        diagram = build(trace, judge=DeliveryJudge())
        marks = [diagram.marks[flag.mark] for flag in diagram.flags]
        names = diagram.processes
        assert {
            (names[mark.process], (names[each.sender], each.mid))
            for mark in marks
            if mark.message is not None
            for each in [diagram.messages[mark.message]]
        } == wrong


def judged(text: str, leave_out: tuple[str, int] = ("", 0)) -> list[str]:
    """What is wrong in a trace, of which one event may be missing."""
    events = [each for each in trace_of(text) if (each.process, each.seq) != leave_out]
    return [flag.sentence for flag in build(events, judge=DeliveryJudge()).flags]


def test_inventions_and_gaps() -> None:
    """What was never sent is wrong, unless a log has gaps where the sending may have been."""
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
    ], "numbers are told as they are, and gaps cost nothing"
    other = "a 0 send a#7 b\n b 5 deliver a#7\n b 6 deliver a#7\n c 7 deliver a#7"
    assert judged(other) == [
        "b delivered a#7 again, having already delivered it.",
        "c delivered a#7, which a sent to b instead.",
    ]
    assert judged("b 1 deliver a#1\n b 2 deliver a#1") == [], "there is no log of a"
    assert judged("a 1 deliver b#1\n a 2 send a#1 b\n b 1 deliver a#1\n b 2 send b#1 a") == [
        "a delivered b#1 before it can have been sent."
    ]


def test_limits_of_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them it says that the auditor is for that."""
    events: list[Event] = trace_of(WRONG)
    monkeypatch.setattr(diagram_judge, "MOST_FLAGS", 1)
    judging = DeliveryJudge()
    assert len(judging(events, True)) == 1 and "`beforehand audit` finds all" in judging.note
    monkeypatch.setattr(diagram_judge, "MOST_EVENTS", 4)
    judging = DeliveryJudge()
    assert judging(events, True) == {} and "not judged" in judging.note
