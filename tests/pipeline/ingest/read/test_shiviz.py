"""ShiViz logs: the messages that are reconstructed give exactly the order of the logs' own clocks."""

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
    found = ingest_one(SMALL, name="small.log")
    told = {each["id"]: (each["to"], each["after"]) for each in found.messages}
    assert told == {"alice:1": (("bob",), ()), "bob:2": (("carol",), ("alice:1",))}
    assert found.file.accepted == found.file.rows == 4
    assert [each.run for each in found.summary.runs] == ["small"]
    kinds = [(e["process"], e["seq"], e["kind"], e["sender"], e["mid"]) for e in found.events]
    assert kinds == [
        ("alice", 1, "send", "alice", 1),
        ("bob", 1, "deliver", "alice", 1),
        ("bob", 2, "send", "bob", 1),
        ("carol", 1, "deliver", "bob", 1),
    ]


def test_one_event_that_several_receive_from_is_one_message() -> None:
    """A multicast is one message with several receivers."""
    found = ingest_one('x\na {"a": 1}\nx\nb {"b": 1, "a": 1}\nx\nc {"c": 1, "a": 1}\n')
    assert [(each["id"], each["to"]) for each in found.messages] == [("a:1", ("b", "c"))]


def test_an_event_may_receive_several_messages() -> None:
    """Two senders that do not know of each other each sent one."""
    found = ingest_one('x\na {"a": 1}\nx\nb {"b": 1}\nx\nc {"c": 1, "a": 1, "b": 1}\n')
    assert sorted(each["id"] for each in found.messages) == ["a:1", "b:1"]


@pytest.mark.parametrize("seed", range(30))
def test_random_logs_keep_their_order(seed: int) -> None:
    """Of all pairs of send and receive events, the messages order those that the clocks order."""
    log = random_log(random.Random(seed))
    found = ingest_one(log.text)
    assert found.file.accepted == len(log.clocks) and found.messages, f"seed {seed}"
    assert disagreements(found, "x", log.clocks) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(10))
def test_messages_and_events_tell_the_same_order(seed: int) -> None:
    """What `after` says about messages is what the clocks say about their send events."""
    log = random_log(random.Random(seed), hosts=3, events=40)
    found = ingest_one(log.text)
    before = ancestors(found.after)
    clocks = {f"{host}:{number}": clock for (host, number), clock in log.clocks.items()}
    for one in before:
        host, _, number = one.rpartition(":")
        for two in before:
            if one != two:
                knows = clocks[two].get(host, 0) >= int(number)
                assert (one in before[two]) == knows, f"seed {seed}: {one} {two}"


def test_the_layouts_are_told_apart() -> None:
    """Whichever of the three explains the whole file is taken, and said."""
    events = [("p", '{"p": 1}', "one two"), ("q", '{"q": 1, "p": 1}', "three")]
    layouts = {
        "event, then host and clock": "{2}\n{0} {1} \n",
        "host and clock, then event": "{0} {1}\n{2}\n",
        "host, clock and event in one line": "[INFO] [1.2] [akka://x/user/{0}] {1} {2}\n",
    }
    for name, layout in layouts.items():
        found = ingest_one("".join(layout.format(*each) for each in events))
        assert found.file.note == f"layout: {name}"
        assert (found.file.accepted, found.file.rejected) == (2, 0)
        assert [each["id"] for each in found.messages] == ["p:1"]


def test_a_pattern_of_the_user_with_groups_as_in_javascript() -> None:
    """`(?<host>...)` is JavaScript's way, `(?P<host>...)` Python's."""
    for group in ("?<", "?P<"):
        options = Options(pattern=rf"^({group}clock>{{.*}});({group}host>\w+)$")
        found = ingest_one('{"p": 1};p\n{"q": 1, "p": 1};q\n', options)
        assert found.file.format == "shiviz" and len(found.messages) == 1


def test_several_executions_in_one_file() -> None:
    """Each is a run of its own, named by the group `trace` of the delimiter or by its number."""
    text = SMALL + "=== second ===\n" + SMALL + "===  ===\n" + SMALL
    found = ingest_one(text, Options(delimiter="^=== (?<trace>.*) ===$"), "log.txt")
    assert [(each.run, each.messages) for each in found.summary.runs] == [
        ("log", 2),
        ("log/2", 2),
        ("log/second", 2),
    ]
    assert found.file.accepted == found.file.rows == 12


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
    """The others are kept."""
    found = ingest_one(SMALL + event + "\n")
    assert (found.file.accepted, found.file.rejected) == (4, 1)
    [(position, told)] = found.reasons
    assert position == 9 and reason in told
    assert len(found.messages) == 2


def test_the_same_event_twice_is_a_duplicate() -> None:
    """Equal in every respect: counted, and used once."""
    found = ingest_one(SMALL + 'answers\nbob {"bob": 2, "alice": 1}\n')
    assert (found.file.accepted, found.file.duplicates) == (4, 1)


def test_an_event_that_only_clocks_tell_of() -> None:
    """Its message is kept and flagged, and takes its place in the order of its host."""
    text = 'x\na {"a": 1}\nx\na {"a": 3}\nx\nb {"b": 1, "a": 1}\n'
    found = ingest_one(text + 'x\nc {"c": 1, "a": 2}\nx\nd {"d": 1, "a": 3}\n')
    told = {each["id"]: (each["after"], each["flags"]) for each in found.messages}
    assert told == {
        "a:1": ((), ()),
        "a:2": (("a:1",), (NOT_IN_LOG,)),
        "a:3": (("a:2",), (GAP,)),
    }
    assert found.summary.flags == {GAP: 1, NOT_IN_LOG: 1}


def test_clocks_that_contradict_each_other_are_rejected() -> None:
    """Two events that each know of the other cannot have happened."""
    text = 'x\na {"a": 1, "b": 1}\nx\nb {"b": 1, "a": 1}\nx\nc {"c": 1}\nx\nd {"d": 1, "c": 1}\n'
    found = ingest_one(text)
    assert (found.file.accepted, found.file.rejected) == (2, 2)
    assert all("contradict" in reason for _, reason in found.reasons)
    assert [each["id"] for each in found.messages] == ["c:1"]


def test_lines_that_fit_no_event_are_rejected_one_by_one() -> None:
    """With their numbers."""
    found = ingest_one(SMALL + "what is this\n\nand this\n")
    assert [position for position, _ in found.reasons] == [9, 11]


def test_a_line_that_is_no_text_spoils_only_itself() -> None:
    """The bytes are shown with replacement characters."""
    found = ingest_one(SMALL.encode() + b"\xff\xfe\n")
    assert found.reasons[0][0] == 9 and found.rejects[0]["raw"] == "��"
    assert found.file.accepted == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pattern": "(?<host>x"}, "is not a regular expression"),
        ({"pattern": "(?<host>x)"}, "has no group clock"),
        ({"delimiter": "["}, "is not a regular expression"),
    ],
)
def test_bad_patterns_are_refused(options: dict[str, str], told: str) -> None:
    """Before anything is read."""
    with pytest.raises(PipelineError, match=told):
        Options(**options)  # type: ignore[arg-type]
