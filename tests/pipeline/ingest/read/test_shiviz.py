"""ShiViz logs: the reconstructed messages give exactly the order of the log's own clocks."""

from __future__ import annotations

import random

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.ingest.read.options import Options
from beforehand.pipeline.ingest.resolve.outcomes import GAP, NOT_IN_LOG
from tests.pipeline.ingest.logs import disagreements, random_log
from tests.pipeline.ingest.plain import ancestors, ingest_one

SMALL = """\
asks
alice {"alice": 1}
hears alice
bob {"bob": 1, "alice": 1}
answers
bob {"bob": 2, "alice": 1}
hears both
carol {"carol": 1, "bob": 2, "alice": 1}
"""


def test_a_small_log() -> None:
    """Carol learns of alice through bob, so alice sent her nothing."""
    ingested = ingest_one(SMALL, name="small.log")
    messages = {m["id"]: (m["to"], m["after"]) for m in ingested.messages}
    assert messages == {"alice:1": (("bob",), ()), "bob:2": (("carol",), ("alice:1",))}
    assert ingested.file.accepted == ingested.file.rows == 4
    assert [run.run for run in ingested.summary.runs] == ["small"]
    events = [(e["process"], e["seq"], e["kind"], e["sender"], e["mid"]) for e in ingested.events]
    assert events == [
        ("alice", 1, "send", "alice", 1),
        ("bob", 1, "deliver", "alice", 1),
        ("bob", 2, "send", "bob", 1),
        ("carol", 1, "deliver", "bob", 1),
    ]


def test_a_send_with_several_receivers_is_one_message() -> None:
    """A multicast is one message with several receivers."""
    ingested = ingest_one('x\na {"a": 1}\nx\nb {"b": 1, "a": 1}\nx\nc {"c": 1, "a": 1}\n')
    assert [(message["id"], message["to"]) for message in ingested.messages] == [
        ("a:1", ("b", "c"))
    ]


def test_an_event_may_receive_several_messages() -> None:
    """Two senders that do not know of each other sent one message each."""
    ingested = ingest_one('x\na {"a": 1}\nx\nb {"b": 1}\nx\nc {"c": 1, "a": 1, "b": 1}\n')
    assert sorted(message["id"] for message in ingested.messages) == ["a:1", "b:1"]


@pytest.mark.parametrize("seed", range(30))
def test_random_logs_keep_their_order(seed: int) -> None:
    """Messages order exactly those pairs of send and receive events that the clocks order."""
    log = random_log(random.Random(seed))
    ingested = ingest_one(log.text)
    assert ingested.file.accepted == len(log.clocks) and ingested.messages, f"seed {seed}"
    assert disagreements(ingested, "x", log.clocks) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(10))
def test_messages_and_clocks_agree_on_the_order(seed: int) -> None:
    """The order given by `after` is that of the clocks of the send events."""
    log = random_log(random.Random(seed), hosts=3, events=40)
    ingested = ingest_one(log.text)
    before = ancestors(ingested.after)
    clocks = {f"{host}:{number}": clock for (host, number), clock in log.clocks.items()}
    for cause in before:
        host, _, number = cause.rpartition(":")
        for effect in before:
            if cause != effect:
                knows = clocks[effect].get(host, 0) >= int(number)
                assert (cause in before[effect]) == knows, f"seed {seed}: {cause} {effect}"


def test_the_layout_is_detected() -> None:
    """The layout that explains the whole file is used, and noted."""
    events = [("p", '{"p": 1}', "one two"), ("q", '{"q": 1, "p": 1}', "three")]
    layouts = {
        "event, then host and clock": "{2}\n{0} {1} \n",
        "host and clock, then event": "{0} {1}\n{2}\n",
        "host, clock and event in one line": "[INFO] [1.2] [akka://x/user/{0}] {1} {2}\n",
    }
    for name, layout in layouts.items():
        ingested = ingest_one("".join(layout.format(*event) for event in events))
        assert ingested.file.note == f"layout: {name}"
        assert (ingested.file.accepted, ingested.file.rejected) == (2, 0)
        assert [message["id"] for message in ingested.messages] == ["p:1"]


def test_a_custom_pattern_may_use_javascript_groups() -> None:
    """`(?<host>...)` is JavaScript's syntax, `(?P<host>...)` is Python's."""
    for group in ("?<", "?P<"):
        options = Options(pattern=rf"^({group}clock>{{.*}});({group}host>\w+)$")
        ingested = ingest_one('{"p": 1};p\n{"q": 1, "p": 1};q\n', options)
        assert ingested.file.format == "shiviz" and len(ingested.messages) == 1


def test_several_executions_in_one_file() -> None:
    """Each is its own run, named by the group `trace` of the delimiter or by its number."""
    text = SMALL + "=== second ===\n" + SMALL + "===  ===\n" + SMALL
    ingested = ingest_one(text, Options(delimiter="^=== (?<trace>.*) ===$"), "log.txt")
    assert [(run.run, run.messages) for run in ingested.summary.runs] == [
        ("log", 2),
        ("log/2", 2),
        ("log/second", 2),
    ]
    assert ingested.file.accepted == ingested.file.rows == 12


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ('x\nalice {"bob": 3}', "no entry for its own host"),
        ('x\nalice {"alice": 0}', "count their events from 1 on"),
        ('x\nalice {"alice": 2, "bob": -1}', "out of the range"),
        ('x\nalice {"alice": 2, "bob": "many"}', "not an integer"),
        ('x\nalice {"alice": 99999999999999999999}', "out of the range"),
        ('x\nalice {"alice": 2,}', "not JSON"),
        ('other\nalice {"alice": 1}', "alice:1 exists already (x, 1)"),
        ('x\nbob {"bob": 3}', "knows less of 'alice' than that of bob:2"),
    ],
)
def test_a_bad_clock_is_one_rejected_event(event: str, reason: str) -> None:
    """All other events are kept."""
    ingested = ingest_one(SMALL + event + "\n")
    assert (ingested.file.accepted, ingested.file.rejected) == (4, 1)
    [(position, rejection)] = ingested.reasons
    assert position == 9 and reason in rejection
    assert len(ingested.messages) == 2


def test_the_same_event_twice_is_a_duplicate() -> None:
    """An event that is equal in every respect is counted as a duplicate and used once."""
    ingested = ingest_one(SMALL + 'answers\nbob {"bob": 2, "alice": 1}\n')
    assert (ingested.file.accepted, ingested.file.duplicates) == (4, 1)


def test_an_event_known_only_from_clocks() -> None:
    """Its message is kept, flagged, and ordered within its host."""
    text = 'x\na {"a": 1}\nx\na {"a": 3}\nx\nb {"b": 1, "a": 1}\n'
    ingested = ingest_one(text + 'x\nc {"c": 1, "a": 2}\nx\nd {"d": 1, "a": 3}\n')
    messages = {m["id"]: (m["after"], m["flags"]) for m in ingested.messages}
    assert messages == {
        "a:1": ((), ()),
        "a:2": (("a:1",), (NOT_IN_LOG,)),
        "a:3": (("a:2",), (GAP,)),
    }
    assert ingested.summary.flags == {GAP: 1, NOT_IN_LOG: 1}


def test_clocks_that_contradict_each_other_are_rejected() -> None:
    """Two events that know of each other cannot both have happened."""
    text = 'x\na {"a": 1, "b": 1}\nx\nb {"b": 1, "a": 1}\nx\nc {"c": 1}\nx\nd {"d": 1, "c": 1}\n'
    ingested = ingest_one(text)
    assert (ingested.file.accepted, ingested.file.rejected) == (2, 2)
    assert all("contradict" in reason for _, reason in ingested.reasons)
    assert [message["id"] for message in ingested.messages] == ["c:1"]


def test_lines_that_match_no_event_are_rejected_individually() -> None:
    """Each reject has its line number."""
    ingested = ingest_one(SMALL + "what is this\n\nand this\n")
    assert [position for position, _ in ingested.reasons] == [9, 11]


def test_a_line_that_is_not_text_is_the_only_reject() -> None:
    """Its bytes are shown with replacement characters."""
    ingested = ingest_one(SMALL.encode() + b"\xff\xfe\n")
    assert ingested.reasons[0][0] == 9 and ingested.rejects[0]["raw"] == "��"
    assert ingested.file.accepted == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "(?<host>x"}, "is not a regular expression"),
        ({"pattern": "(?<host>x)"}, "has no group clock"),
        ({"delimiter": "["}, "is not a regular expression"),
    ],
)
def test_bad_patterns_are_refused(options: dict[str, str], message: str) -> None:
    """The error is raised before anything is read."""
    with pytest.raises(PipelineError, match=message):
        Options(**options)  # type: ignore[arg-type]
