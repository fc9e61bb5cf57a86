"""What an event must be, one at a time and in tables."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import TraceError
from beforehand.trace import KINDS, Event, check
from beforehand.trace.checks import first_problem, problem
from tests.trace.events import MOST, SAMPLES, events

GOOD = {event.kind: event for event in SAMPLES}
SEND, CONTROL = GOOD["send"], GOOD["control"]

# A field, a value that it must not have in a `send`, and the error.
WRONG: list[tuple[str, object, str]] = [
    ("run", None, "`run` is None, not a string; write it in quotes"),
    ("run", "\ud800", "`run` .* lone surrogate .*; decode it"),
    ("process", "", "`process`: .* must not be empty; give the process a name"),
    ("process", None, "`process`: .* must be a str, not NoneType"),
    ("process", "x" * 256, "`process`: .* choose a shorter name"),
    ("seq", 0, "`seq` is 0, less than 1; number the events of each process 1, 2, 3"),
    ("seq", None, "`seq` is None, not an integer; write it as a plain number"),
    ("seq", True, "`seq` is True, not an integer"),
    ("seq", MOST + 1, "`seq` is 9223372036854775808, more than 64 bits can hold"),
    ("kind", "sent", "`kind` is 'sent'; it must be one of send, release, receive"),
    ("kind", None, "`kind` is None; it must be one of"),
    ("kind", ["send"], r"`kind` is \['send'\]; it must be one of"),
    ("sender", 5, "`sender`: .* must be a str, not int"),
    ("sender", "", "`sender`: .* must not be empty"),
    ("sender", None, "`sender` is missing; for `send` it must name a process"),
    ("sender", "bob", "`send` of a message whose `sender` is another process; write it at"),
    ("mid", None, "`mid` is missing; for `send` it must be the number of the message"),
    ("mid", 0, "`mid` is 0, less than 1; number the messages"),
    ("mid", -1, "`mid` is -1, less than 1; number the messages"),
    ("mid", 1.0, "`mid` is 1.0, not an integer"),
    ("mid", MOST + 1, "`mid` .* more than 64 bits can hold"),
    ("to", "bob", "`to` is 'bob', not a list of names; write a single name as a list too"),
    ("to", ["bob"], r"`to` is \['bob'\], not a list of names"),
    ("to", (), "`to` is empty; name the receivers, or leave it out if everybody is one"),
    ("to", ("bob", ""), "`to`: .* must not be empty"),
    ("to", ("bob", None), "`to`: .* must be a str, not NoneType"),
    ("time_ns", 1.5, "`time_ns` is 1.5, not an integer"),
    ("time_ns", MOST + 1, "`time_ns` .* more than 64 bits can hold; give nanoseconds"),
    ("time_ns", -MOST - 1, "`time_ns` .* less than .*; give nanoseconds"),
    ("payload_bytes", -1, "`payload_bytes` is -1, less than 0; give a count of bytes"),
    ("meta_bytes", "7", "`meta_bytes` is '7', not an integer"),
    ("meta_bytes", -1, "`meta_bytes` is -1, less than 0"),
    ("detail", None, "`detail` is None, not a string"),
    ("detail", "\udfff", "`detail` .* lone surrogate"),
]

_IDS = [f"{field}={str(value)[:12]!a}" for field, value, _ in WRONG]


def test_every_kind_is_explained_and_has_a_sample() -> None:
    """Every kind has an explanation and a sample event."""
    assert set(KINDS) == set(GOOD)
    assert all(meaning and "\n" not in meaning for meaning in KINDS.values())


@pytest.mark.parametrize("event", SAMPLES, ids=[event.kind for event in SAMPLES])
def test_valid_events_pass(event: Event) -> None:
    """The samples are valid, and are returned unchanged."""
    assert check(event) is event


@given(events)
def test_any_valid_event_passes(event: Event) -> None:
    """The events that other tests generate are valid."""
    assert check(event) is event


@pytest.mark.parametrize(("field", "value", "error"), WRONG, ids=_IDS)
def test_invalid_events_are_refused(field: str, value: object, error: str) -> None:
    """The error names the field, the problem and a remedy."""
    with pytest.raises(TraceError, match=error):
        check(SEND._replace(**{field: value}))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["send", "release", "receive", "deliver", "hold"])
def test_a_message_has_a_name(kind: str) -> None:
    """An event about a message names it."""
    with pytest.raises(TraceError, match=f"`sender` is missing; for `{kind}`"):
        check(GOOD[kind]._replace(sender=None))
    with pytest.raises(TraceError, match=f"`mid` is missing; for `{kind}`"):
        check(GOOD[kind]._replace(mid=None))


@pytest.mark.parametrize("kind", ["control", "evict"])
def test_an_event_about_a_peer_names_it(kind: str) -> None:
    """A frame has a sender, and whoever is evicted has a name."""
    with pytest.raises(TraceError, match=f"`sender` is missing; for `{kind}`"):
        check(GOOD[kind]._replace(sender=None))


@pytest.mark.parametrize("kind", ["release", "control"])
def test_one_copy_has_one_receiver(kind: str) -> None:
    """Neither none, nor everybody, nor two."""
    for to, error in ((None, "is missing"), ((), "has 0 names"), (("a", "b"), "has 2 names")):
        with pytest.raises(TraceError, match=f"`to` {error}; for `{kind}` write one event per"):
            check(GOOD[kind]._replace(to=to))


def test_the_error_names_the_event() -> None:
    """So that it can be found among millions."""
    where = re.escape("event 3 of 'alice' in run 'r1': ")
    with pytest.raises(TraceError, match=f"^{where}`mid`"):
        check(GOOD["hold"]._replace(mid=0))


def test_a_long_value_is_not_repeated_in_full() -> None:
    """An error stays readable, on any terminal."""
    with pytest.raises(TraceError) as caught:
        check(SEND._replace(kind="\u2028" * 10_000))
    assert len(str(caught.value)) < 300 and str(caught.value).isascii()


@pytest.mark.parametrize(("field", "value", "error"), WRONG, ids=_IDS)
def test_tables_are_checked_by_the_same_rules(field: str, value: object, error: str) -> None:
    """An invalid row among valid ones is detected, and the first one reported."""
    wrong = SEND._replace(**{field: value})  # type: ignore[arg-type]
    table = list(zip(*SAMPLES, *SAMPLES[:3], wrong, *SAMPLES, wrong, strict=True))
    first = first_problem(table)
    assert first == (len(SAMPLES) + 3, problem(wrong))


@given(st.lists(events, max_size=20))
def test_a_table_of_valid_events_passes(rows: list[Event]) -> None:
    """Looking at what differs between rows refuses nothing that a look at each row allows."""
    assert first_problem(list(zip(*rows, strict=True)) or [()] * len(Event._fields)) is None


@given(st.lists(st.tuples(events, events), min_size=1, max_size=8), st.data())
def test_tables_and_rows_agree(pairs: list[tuple[Event, Event]], data: st.DataObject) -> None:
    """With fields of one event put into another, right or not, both checks come to one result."""
    rows = []
    for one, other in pairs:
        swapped = data.draw(st.sets(st.sampled_from(Event._fields), max_size=2))
        rows.append(one._replace(**{field: getattr(other, field) for field in swapped}))
    wrong = [(at, reason) for at, row in enumerate(rows) if (reason := problem(row)) is not None]
    assert first_problem(list(zip(*rows, strict=True))) == (wrong[0] if wrong else None)
