"""The events of a run, compared with the world in which it was replayed."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.causality.ids import MessageId
from beforehand.checker.explain.run_events import RunEvent, run_events
from beforehand.checker.setting import FaultBudget, setting
from tests.checker.cores import Repeating, setting_of
from tests.checker.runs import random_run, written_run

SEEDS = range(6)


def kinds(events: list[RunEvent]) -> list[tuple[int, str, str, str]]:
    """Step, process, kind and message of each event, control frames left out."""
    return [
        (event.step, event.process, event.kind, str(event.message or ""))
        for event in events
        if event.kind != "control"
    ]


def test_a_waiting_message_is_recorded_from_send_to_delivery() -> None:
    """Causal-send, hold, release, arrival and delivery are different things at different steps."""
    mattern = setting("mattern", program="a>b a>b a>b", processes=2)
    events = run_events(mattern, written_run(mattern, "a>b a>b a>b b<a a<b b<a"))
    assert kinds(events) == [
        (1, "a", "send", "a#1"),
        (1, "a", "release", "a#1"),
        (2, "a", "send", "a#2"),
        (2, "a", "hold", "a#2"),
        (3, "a", "send", "a#3"),
        (3, "a", "hold", "a#3"),
        (4, "b", "receive", "a#1"),
        (4, "b", "deliver", "a#1"),
        (5, "a", "release", "a#2"),
        (6, "b", "receive", "a#2"),
        (6, "b", "deliver", "a#2"),
    ]
    hold = next(event for event in events if event.kind == "hold")
    assert [(wait.kind, wait.peer, wait.message_id) for wait in hold.waits] == [("ack", "b", 1)]


def test_a_run_ends_where_a_guarantee_is_broken() -> None:
    """The delivery that the oracle objects to is the last event, and the only wrong one."""
    raw = setting("raw", program="a>b a>b", processes=2)
    events = run_events(raw, written_run(raw, "a>b a>b b<a2 b<a"))
    assert kinds(events)[-1] == (4, "b", "deliver", "a#1")
    assert [event.wrong for event in events] == [False] * (len(events) - 1) + [True]


def test_of_two_deliveries_in_one_step_the_second_is_the_wrong_one() -> None:
    """A duplicate is wrong because of the delivery before it, which is not."""
    repeating = setting_of(Repeating, "a>b")
    events = run_events(repeating, written_run(repeating, "a>b b<a"))
    assert [event.wrong for event in events if event.kind == "deliver"] == [False, True]


def test_repeated_copies_are_marked_as_such() -> None:
    """Frames that are resent or arrive twice, stay in flight or are lost."""
    lossy = setting("mattern", program="a>b", processes=2, faults=FaultBudget(loss=1, duplicate=1))
    events = run_events(lossy, written_run(lossy, "a>b b<a! ~ b<a= b<a"))
    releases = [event.again for event in events if event.kind == "release"]
    assert releases == [False, True]
    arrivals = [(event.again, event.repeated) for event in events if event.kind == "receive"]
    assert arrivals == [(False, True), (True, False)]
    assert [event.step for event in events if event.kind == "lose"] == [2]


@pytest.mark.parametrize("name", protocols.names())
def test_events_of_random_runs_make_sense(name: str) -> None:
    """Every delivered message was sent before, and arrived from the network unless it is one's own."""
    explored = setting(name, messages=2, faults=FaultBudget(loss=1, duplicate=1, tick=1))
    deliveries = 0
    for seed in SEEDS:
        sent: set[MessageId | None] = set()
        released: set[tuple[str, MessageId | None]] = set()
        received: set[tuple[str, MessageId | None]] = set()
        for event in run_events(explored, random_run(explored, seed)):
            copy = (event.process, event.message)
            match event.kind:
                case "send":
                    sent.add(event.message)
                case "release":
                    assert event.message in sent, f"{event}, seed {seed}"
                    released |= {(to, event.message) for to in event.to or ()}
                case "receive":
                    assert copy in released, f"{event}, seed {seed}"
                    received.add(copy)
                case "deliver":
                    assert event.message is not None
                    own = event.message.sender == event.process
                    assert event.message in sent and (own or copy in received), f"seed {seed}"
                    deliveries += 1
    assert deliveries > 6
