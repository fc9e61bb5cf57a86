"""The auditor compared with the oracle, which shares only the sentences with it."""

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
    """Kind, process, message and chain length agree, whatever the order of the rows."""
    seen: set[str] = set()
    for seed in SEEDS:
        events = random_run(seed)
        expected = by_oracle(events)
        shuffled = events.copy()
        random.Random(seed).shuffle(shuffled)
        assert by_auditor(judge_events(shuffled)) == expected, f"seed {seed}"
        seen |= {kind for kind, *_ in expected}
    assert seen == {"causal", "fifo", "duplicate", "invented", "lost"}


def test_agrees_when_clocks_are_cut_into_blocks() -> None:
    """Judging one component at a time gives the same findings as judging all together."""
    violated = 0
    for seed in SEEDS[:60]:
        events = random_run(seed)
        assert by_auditor(judge_events(events, memory=1)) == by_oracle(events), f"seed {seed}"
        violated += bool(by_oracle(events))
    assert violated > 30


def test_clean_runs_have_no_violations() -> None:
    """Delivering in the order of sending is causal."""
    for seed in SEEDS[:100]:
        events = random_run(seed, careless=0.0)
        findings = judge_events(events)
        assert findings.violations == [], f"seed {seed}"
        assert findings.complete, findings.notes
        assert findings.sends == sum(event.kind == "send" for event in events)
        assert findings.deliveries == sum(event.kind == "deliver" for event in events)


def test_chains_and_sentences_match_the_oracle() -> None:
    """Alice asks Bob and Carol, Bob answers, and Carol delivers the answer first."""
    log = Writer()
    question = log.send("alice", "bob", "carol")
    log.deliver("bob", question)
    answer = log.send("bob", "carol")
    log.deliver("carol", answer)
    log.deliver("carol", question)
    (violation,) = judge_events(log.events).violations
    assert (violation.kind, violation.process, violation.message) == ("causal", "carol", question)
    assert violation.chain == (question, answer)
    assert violation.seq == 2
    assert violation.sentence == (
        "carol delivered bob#1 before alice#1, but alice#1 happened before bob#1: alice sent alice#1 "
        "to bob and carol; bob delivered alice#1, then sent bob#1 to carol."
    )


def test_the_number_of_witness_chains_is_limited() -> None:
    """Further violations are counted, and their sentences say that no chain was searched for."""
    log = Writer()
    messages = [log.send("a", "b") for _ in range(10)]
    for message in reversed(messages):
        log.deliver("b", message)
    findings = judge_events(log.events, witnesses=3)
    assert findings.counts["causal"] == findings.counts["fifo"] == 9
    causal = [finding for finding in findings.violations if finding.kind == "causal"]
    assert [len(finding.chain) for finding in causal] == [2] * 3 + [0] * 6
    assert "was not searched for" in causal[-1].sentence


def test_a_delivery_before_its_send_is_an_invention() -> None:
    """Each delivery requires the other to come first, so one of them must be invented."""
    log = Writer()
    log.deliver("a", MessageId("b", 1))
    log.send("a", "b")
    log.deliver("b", MessageId("a", 1))
    log.send("b", "a")
    findings = judge_events(log.events)
    (violation,) = findings.violations
    assert violation.kind == "invented"
    assert "before it can have been sent" in violation.sentence


@pytest.mark.parametrize(
    ("seq", "mid", "problem"),
    [
        (1, 2, "a has 2 events but its seq only goes up to 1"),
        (2, 1, "a sends number 1 after number 1"),
    ],
)
def test_logs_that_contradict_themselves_are_not_judged(seq: int, mid: int, problem: str) -> None:
    """Such a log has no order to judge."""
    log = Writer()
    log.send("a", "b")
    log.events.append(log.events[0]._replace(seq=seq, mid=mid))
    findings = judge_events(log.events)
    assert not findings.readable
    assert findings.row("r")["verdict"] == "unreadable"
    assert problem in findings.notes[0]


def test_two_events_with_one_seq_are_not_judged() -> None:
    """They are noticed even if a gap elsewhere makes the count come out right."""
    log = Writer()
    for _ in range(3):
        log.send("a", "b")
    log.events[1] = log.events[1]._replace(seq=1)
    findings = judge_events(log.events)
    assert not findings.readable
    assert "two events of a have the seq 1" in findings.notes[0]


def test_a_send_logged_by_another_process_is_not_judged() -> None:
    """It could be anywhere in its sender's order."""
    log = Writer()
    log.add("a", "send", "b", 1, ["c"])
    findings = judge_events(log.events)
    assert not findings.readable
    assert "a sends a message of b" in findings.notes[0]


def test_message_numbers_may_be_large_and_sparse() -> None:
    """Messages numbered by a clock take no more memory than consecutive ones."""
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


# ---- logs with gaps ----


def test_a_gap_in_the_senders_log_is_not_an_invention() -> None:
    """Bob's log lost his second send, so Carol's delivery of that message proves nothing."""
    log = Writer()
    messages = [log.send("bob", "carol") for _ in range(3)]
    for message in messages:
        log.deliver("carol", message)
    assert judge_events(log.events).complete
    findings = judge_events([e for e in log.events if (e.kind, e.mid) != ("send", 2)])
    assert not findings.violations and not findings.complete
    assert findings.deliveries == 3


def test_a_log_without_a_stop_counts_as_incomplete() -> None:
    """Bob may have been killed before the send was logged; with a stop, it would be an invention."""
    log = Writer()
    log.add("bob", "start")
    log.deliver("carol", MessageId("bob", 1))
    killed = judge_events(log.events)
    assert not killed.violations and not killed.complete
    assert "the logs of bob have a start and no stop" in killed.notes[0]
    log.add("bob", "stop", detail="end of the run")
    assert judge_events(log.events).counts["invented"] == 1


def test_order_is_judged_around_a_gap() -> None:
    """The remaining events still show that the sender's order was broken."""
    log = Writer()
    messages = [log.send("bob", "carol") for _ in range(3)]
    for message in reversed(messages):
        log.deliver("carol", message)
    findings = judge_events([e for e in log.events if (e.kind, e.mid) != ("send", 2)])
    assert not findings.complete
    assert findings.notes == ["1 events are missing in the logs of bob"]
    assert findings.counts["invented"] == findings.counts["lost"] == 0
    assert {(v.message.number, v.kind) for v in findings.violations} == {
        (number, kind) for number in (1, 2) for kind in ("causal", "fifo")
    }


def test_a_missing_log_is_noted_and_its_deliveries_are_not_expected() -> None:
    """Carol's file is missing, so her deliveries are unknown."""
    log = Writer()
    message = log.send("alice", "bob", "carol")
    log.deliver("bob", message)
    findings = judge_events(log.events)
    assert not findings.complete
    assert findings.notes == ["there is no log of carol"]
    assert not findings.violations


def test_a_gap_in_the_receivers_log_is_not_a_loss() -> None:
    """The missing event of Bob may have been the delivery."""
    log = Writer()
    messages = [log.send("alice", "bob") for _ in range(3)]
    for message in messages:
        log.deliver("bob", message)
    findings = judge_events([e for e in log.events if (e.process, e.seq) != ("bob", 2)])
    assert not findings.complete
    assert findings.counts["lost"] == 0


# ---- processes that need not deliver ----


def test_crashed_and_evicted_processes_need_not_deliver() -> None:
    """Bob crashed and Dan was evicted; only Carol, who reached the end of the run, lost the message."""
    log = Writer()
    log.send("alice", "bob", "carol", "dan")
    log.add("bob", "stop", detail="crashed")
    log.add("alice", "evict", "dan")
    log.add("dan", "start")
    log.add("dan", "stop")
    log.add("carol", "stop", detail="end of the run")
    findings = judge_events(log.events)
    assert [(v.kind, v.process) for v in findings.violations] == [("lost", "carol")]
    assert findings.violations[0].sentence == (
        "carol never delivered alice#1, which alice sent to carol."
    )


def test_a_run_that_was_cut_short_has_no_losses() -> None:
    """It is marked as incomplete instead."""
    log = Writer()
    log.send("alice", "bob")
    log.add("bob", "stop", detail="cut short")
    findings = judge_events(log.events)
    assert not findings.violations and not findings.complete


def test_broadcasts_are_not_expected_at_processes_that_joined_later() -> None:
    """Dan joined while the broadcast was under way; Carol was a member."""
    log = Writer()
    for name in ("alice", "bob", "carol"):
        log.add(name, "start")
    message = log.send("alice")
    log.deliver("alice", message)
    log.deliver("bob", message)
    log.add("dan", "start", detail="joined")
    for name in ("alice", "bob", "carol", "dan"):
        log.add(name, "stop")
    findings = judge_events(log.events)
    assert [(v.kind, v.process) for v in findings.violations] == [("lost", "carol")]
