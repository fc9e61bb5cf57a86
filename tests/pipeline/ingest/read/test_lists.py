"""Lists of sender, receiver and time."""

from __future__ import annotations

import random

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.ingest.read.options import Options, columns_of
from tests.pipeline.ingest.plain import FOLDER, ancestors, ingest_files, ingest_one


def test_a_message_follows_what_its_sender_sent_and_had_received() -> None:
    """Its causes are the sender's last message and those that the sender received since."""
    ingested = ingest_one("a b 1\nc b 2\nb d 3\na b 4\nb d 5\n")
    assert ingested.after == {
        "x:1": set(),
        "x:2": set(),
        "x:3": {"x:1", "x:2"},
        "x:4": {"x:1"},
        "x:5": {"x:3", "x:4"},
    }
    assert ingested.messages[0]["time_ns"] == 10**9
    assert [run.run for run in ingested.summary.runs] == ["data"]


def test_a_message_received_at_the_same_instant_is_not_a_cause() -> None:
    """It only counts for the next send: a message at time 2 follows what was received before 2."""
    ingested = ingest_one("a b 2\nb c 2\nb c 3\n")
    assert ingested.after == {"x:1": set(), "x:2": set(), "x:3": {"x:1", "x:2"}}


def test_the_last_message_of_a_sender_implies_the_earlier_ones() -> None:
    """A hundred messages from a to b become one entry."""
    ingested = ingest_one("".join(f"a b {i}\n" for i in range(100)) + "b a 200\n")
    assert ingested.after["x:101"] == {"x:100"}
    assert len(ancestors(ingested.after)["x:101"]) == 100


@pytest.mark.parametrize("seed", range(20))
def test_random_lists_follow_the_rule_exactly(seed: int) -> None:
    """A naive formulation of the rule has the same transitive closure."""
    rng = random.Random(seed)
    rows = [(rng.choice("abcd"), rng.choice("abcd"), rng.randint(0, 25)) for _ in range(40)]
    ingested = ingest_one("".join(f"{s} {r} {t}\n" for s, r, t in rows))
    by_time = sorted(range(40), key=lambda i: (rows[i][2], i))
    naive: dict[str, set[str]] = {}
    for rank, i in enumerate(by_time):
        sender, _, time = rows[i]
        naive[f"x:{i + 1}"] = {
            f"x:{j + 1}"
            for j in by_time[:rank]
            if rows[j][0] == sender or (rows[j][1] == sender and rows[j][2] < time)
        }
    assert ancestors(ingested.after) == ancestors(naive), f"seed {seed}"


@pytest.mark.parametrize(
    "text",
    [
        "a b 1\nb c 2\n",
        "a,b,1\nb,c,2\n",
        "a\tb\t1\r\nb\tc\t2\r\n",
        "# who whom when\na b 1\n\nb c 2\n",
        "from,to,when\na,b,1\nb,c,2\n",
        "\ufeffa b 1\nb c 2",
    ],
)
def test_accepted_notations_of_a_list(text: str) -> None:
    """Spaces, tabs or commas; comments, a header, a byte order mark."""
    ingested = ingest_one(text)
    assert ingested.file.format == "list"
    assert [(m["sender"], m["to"], m["time_ns"]) for m in ingested.messages] == [
        ("a", ("b",), 10**9),
        ("b", ("c",), 2 * 10**9),
    ]


@pytest.mark.parametrize(
    ("written", "nanoseconds"),
    [
        ("1082040961", 1082040961 * 10**9),
        ("0.000000001", 1),
        ("1.5e3", 1500 * 10**9),
        ("-2", -2 * 10**9),
    ],
)
def test_times_are_exact(written: str, nanoseconds: int) -> None:
    """Fractions do not go through floating point."""
    assert ingest_one(f"a b {written}\n").messages[0]["time_ns"] == nanoseconds


def test_columns_can_be_mapped_by_title_or_number_with_units() -> None:
    """Unmapped columns are ignored."""
    text = "size,who,whom,at\n5,a,b,7\n6,b,a,8\n"
    by_title = Options(columns=columns_of(["sender=who,receiver=whom", "time=at:ms", "bytes=size"]))
    by_number = Options(columns=columns_of(["sender=2,receiver=3,time=4:ms,bytes=1"]))
    for options in (by_title, by_number):
        ingested = ingest_one(text, options)
        messages = [(m["sender"], m["time_ns"], m["payload_bytes"]) for m in ingested.messages]
        assert messages == [("a", 7 * 10**6, 5), ("b", 8 * 10**6, 6)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a b", "has 2 columns, fewer than 3"),
        ("a b soon", "time is 'soon', not a number"),
        ("a b nan", "not a number"),
        ("a b 1e999999999", "more than 64 bits can hold"),
        ("a b 99999999999999999999", "out of the range"),
        (f"{'n' * 256} b 1", "takes 256 bytes"),
    ],
)
def test_bad_lines_are_rejected_with_their_number(line: str, reason: str) -> None:
    """The other lines are kept."""
    ingested = ingest_one(f"a b 1\n{line}\nb a 2\n", Options(format="list"))
    [(position, rejection)] = ingested.reasons
    assert position == 2 and reason in rejection and ingested.rejects[0]["raw"] == line
    assert len(ingested.messages) == 2


def test_equal_lines_of_one_file_are_several_messages() -> None:
    """A list has no ids, and two processes may exchange several messages in one second."""
    ingested = ingest_one("a b 1\na b 1\n")
    assert ingested.file.accepted == 2 and ingested.after["x:2"] == {"x:1"}


def test_lines_of_overlapping_files_are_counted_once() -> None:
    """The k-th of several equal lines is the same message in both files."""
    one, two = "a b 1\nb c 2\nb c 2\n", "b c 2\nb c 2\nb c 2\nc a 3\n"
    ingested = ingest_files({f"{FOLDER}/1.txt": one.encode(), f"{FOLDER}/2.txt": two.encode()})
    assert [(f.rows, f.accepted, f.duplicates) for f in ingested.summary.files] == [
        (3, 3, 0),
        (4, 2, 2),
    ]
    assert [run.messages for run in ingested.summary.runs] == [5]


def test_a_message_to_oneself_is_a_message() -> None:
    """It is delivered at once and adds no causes beyond those its sender has."""
    ingested = ingest_one("a a 1\na b 2\n")
    assert ingested.after == {"x:1": set(), "x:2": {"x:1"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sender", "write it like"),
        ("who=1", "there is trace, span"),
        ("time=3:hours", "one of the units ns, us, ms, s"),
        ("sender=1:ms", "other columns have none"),
        ("sender=1,sender=2", "named twice"),
    ],
)
def test_bad_mappings_are_refused(text: str, message: str) -> None:
    """The error says what can be written instead."""
    with pytest.raises(PipelineError, match=message):
        columns_of([text])


def test_a_mapping_is_for_spans_or_for_lists() -> None:
    """Mixing the two is refused, and a mapping for spans must be complete."""
    with pytest.raises(PipelineError, match="one after the other"):
        Options(columns=columns_of(["trace=a,sender=b"]))
    with pytest.raises(PipelineError, match="needs trace, span, parent"):
        Options(columns=columns_of(["trace=a,span=b"]))
