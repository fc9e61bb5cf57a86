"""The auditor against the oracle, which shares no code with it but the sentences."""

import random

import pytest

from beforehand.causality.ids import MessageId
from tests.pipeline.audit.logs import (
    Writer,
    by_auditor,
    by_oracle,
    judge_events,
    random_run,
)

SEEDS = range(400)


def test_agrees_with_the_oracle_on_every_event_of_random_runs() -> None:
    """Same kind, process and message, and a chain of the same length; in whatever order rows come."""
    seen: set[str] = set()
    for seed in SEEDS:
        events = random_run(seed)
        expected = by_oracle(events)
        shuffled = events.copy()
        random.Random(seed).shuffle(shuffled)
        assert by_auditor(judge_events(shuffled)) == expected, f"seed {seed}"
        seen |= {kind for kind, *_ in expected}
    assert seen == {"causal", "fifo", "duplicate", "invented", "lost"}


def test_agrees_however_the_clocks_are_cut_into_blocks() -> None:
    """Every component by itself gives the same as all of them together."""
    violated = 0
    for seed in SEEDS[:60]:
        events = random_run(seed)
        assert by_auditor(judge_events(events, memory=1)) == by_oracle(events), f"seed {seed}"
        violated += bool(by_oracle(events))
    assert violated > 30


def test_says_nothing_about_clean_runs() -> None:
    """Deliveries in the order of sending are causal."""
    for seed in SEEDS[:100]:
        events = random_run(seed, careless=0.0)
        found = judge_events(events)
        assert found.violations == [], f"seed {seed}"
        assert found.complete, found.notes
        assert found.sends == sum(event.kind == "send" for event in events)
        assert found.deliveries == sum(event.kind == "deliver" for event in events)


def test_chains_and_sentences_are_those_of_the_oracle() -> None:
    """Alice asks both, Bob answers, Carol hears the answer first."""
    log = Writer()
    question = log.send("alice", "bob", "carol")
    log.deliver("bob", question)
    answer = log.send("bob", "carol")
    log.deliver("carol", answer)
    log.deliver("carol", question)
    (found,) = judge_events(log.events).violations
    assert (found.kind, found.process, found.message) == ("causal", "carol", question)
    assert found.chain == (question, answer)
    assert found.seq == 2
    assert found.sentence == (
        "carol delivered bob#1 before alice#1, but alice#1 happened before bob#1: alice sent alice#1 "
        "to bob and carol; bob delivered alice#1, then sent bob#1 to carol."
    )


def test_no_more_chains_than_asked_for() -> None:
    """The rest is counted, and says so."""
    log = Writer()
    messages = [log.send("a", "b") for _ in range(10)]
    for message in reversed(messages):
        log.deliver("b", message)
    found = judge_events(log.events, witnesses=3)
    assert found.counts["causal"] == found.counts["fifo"] == 9
    causal = [each for each in found.violations if each.kind == "causal"]
    assert [len(each.chain) for each in causal] == [2] * 3 + [0] * 6
    assert "was not searched for" in causal[-1].sentence


def test_a_delivery_before_its_sending_can_have_happened() -> None:
    """Each waits for the other: one of them must be made up."""
    log = Writer()
    log.deliver("a", MessageId("b", 1))
    log.send("a", "b")
    log.deliver("b", MessageId("a", 1))
    log.send("b", "a")
    found = judge_events(log.events)
    (circle,) = found.violations
    assert circle.kind == "invented"
    assert "before it can have been sent" in circle.sentence


@pytest.mark.parametrize(
    ("seq", "mid", "problem"),
    [
        (1, 2, "a has 2 events but its seq only goes up to 1"),
        (2, 1, "a sends number 1 after number 1"),
    ],
)
def test_logs_that_contradict_themselves_are_not_judged(seq: int, mid: int, problem: str) -> None:
    """There is no order to judge."""
    log = Writer()
    log.send("a", "b")
    log.events.append(log.events[0]._replace(seq=seq, mid=mid))
    found = judge_events(log.events)
    assert not found.readable
    assert found.row("r")["verdict"] == "unreadable"
    assert problem in found.notes[0]


def test_two_events_in_one_place_are_not_judged() -> None:
    """Even if a gap elsewhere makes the count come out right."""
    log = Writer()
    for _ in range(3):
        log.send("a", "b")
    log.events[1] = log.events[1]._replace(seq=1)
    found = judge_events(log.events)
    assert not found.readable
    assert "two events of a have the seq 1" in found.notes[0]


def test_a_send_written_at_another_process_is_not_judged() -> None:
    """It could be anywhere in the order of its sender."""
    log = Writer()
    log.add("a", "send", "b", 1, ["c"])
    found = judge_events(log.events)
    assert not found.readable
    assert "a sends a message of b" in found.notes[0]


def test_numbers_may_be_large_and_far_apart() -> None:
    """A log in which messages are numbered by a clock takes no more memory than any other."""
    for seed in SEEDS[:30]:
        events = random_run(seed)
        stretched = [
            event if event.mid is None else event._replace(mid=event.mid * 10**15)
            for event in events
        ]
        assert [
            (kind, process, message.sender, message.number // 10**15, chain)
            for kind, process, message, chain in by_auditor(judge_events(stretched))
        ] == [
            (kind, process, message.sender, message.number, chain)
            for kind, process, message, chain in by_auditor(judge_events(events))
        ], f"seed {seed}"


# ---- gaps: audited for what there is ----


def test_a_gap_at_the_sender_makes_no_invention() -> None:
    """Bob's log lost the sending of his second message, so that Carol has it proves nothing."""
    log = Writer()
    messages = [log.send("bob", "carol") for _ in range(3)]
    for message in messages:
        log.deliver("carol", message)
    assert judge_events(log.events).complete
    holed = judge_events([e for e in log.events if (e.kind, e.mid) != ("send", 2)])
    assert not holed.violations and not holed.complete
    assert holed.deliveries == 3


def test_a_log_without_an_end_may_lack_some_of_it() -> None:
    """Bob was killed before he could write everything down; with a stop it would be an invention."""
    log = Writer()
    log.add("bob", "start")
    log.deliver("carol", MessageId("bob", 1))
    killed = judge_events(log.events)
    assert not killed.violations and not killed.complete
    assert "the logs of bob have a start and no stop" in killed.notes[0]
    log.add("bob", "stop", detail="end of the run")
    assert judge_events(log.events).counts["invented"] == 1


def test_order_is_judged_around_a_gap() -> None:
    """What is left shows that the order of one sender was broken."""
    log = Writer()
    messages = [log.send("bob", "carol") for _ in range(3)]
    for message in reversed(messages):
        log.deliver("carol", message)
    holed = judge_events([e for e in log.events if (e.kind, e.mid) != ("send", 2)])
    assert not holed.complete
    assert holed.notes == ["1 events are missing in the logs of bob"]
    assert holed.counts["invented"] == holed.counts["lost"] == 0
    assert {(e.message.number, e.kind) for e in holed.violations} == {
        (number, kind) for number in (1, 2) for kind in ("causal", "fifo")
    }


def test_a_missing_log_is_said_and_nothing_is_expected_of_it() -> None:
    """Carol's file is not there: nobody knows what she delivered."""
    log = Writer()
    message = log.send("alice", "bob", "carol")
    log.deliver("bob", message)
    found = judge_events(log.events)
    assert not found.complete
    assert found.notes == ["there is no log of carol"]
    assert not found.violations


def test_gaps_at_the_receiver_make_no_loss() -> None:
    """One of Bob's events is missing, and it may have been the delivery."""
    log = Writer()
    messages = [log.send("alice", "bob") for _ in range(3)]
    for message in messages:
        log.deliver("bob", message)
    found = judge_events([e for e in log.events if (e.process, e.seq) != ("bob", 2)])
    assert not found.complete
    assert found.counts["lost"] == 0


# ---- who need not deliver ----


def test_nothing_is_expected_of_the_dead_or_from_them() -> None:
    """Bob crashed, Dan was given up; Carol only came to the end of the run."""
    log = Writer()
    log.send("alice", "bob", "carol", "dan")
    log.add("bob", "stop", detail="crashed")
    log.add("alice", "evict", "dan")
    log.add("dan", "start")
    log.add("dan", "stop")
    log.add("carol", "stop", detail="end of the run")
    found = judge_events(log.events)
    assert [(e.kind, e.process) for e in found.violations] == [("lost", "carol")]
    assert found.violations[0].sentence == (
        "carol never delivered alice#1, which alice sent to carol."
    )


def test_a_run_that_was_cut_short_lost_nothing() -> None:
    """It is marked as incomplete instead."""
    log = Writer()
    log.send("alice", "bob")
    log.add("bob", "stop", detail="cut short")
    found = judge_events(log.events)
    assert not found.violations and not found.complete


def test_broadcasts_are_for_everybody_but_newcomers() -> None:
    """Dan joined while it was under way, Carol was there."""
    log = Writer()
    for name in ("alice", "bob", "carol"):
        log.add(name, "start")
    message = log.send("alice")
    log.deliver("alice", message)
    log.deliver("bob", message)
    log.add("dan", "start", detail="joined")
    for name in ("alice", "bob", "carol", "dan"):
        log.add(name, "stop")
    found = judge_events(log.events)
    assert [(e.kind, e.process) for e in found.violations] == [("lost", "carol")]
