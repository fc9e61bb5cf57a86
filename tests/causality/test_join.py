"""A newcomer starts as a copy of its contact: what it has to deliver, and what it knows."""

from __future__ import annotations

from random import Random

import pytest

from beforehand.causality import MessageId, Oracle
from beforehand.causality.history import CausalSend
from beforehand.errors import LocalProtocolError

ABC = ["a", "b", "c"]


def kinds(oracle: Oracle, process: str, message: MessageId) -> list[str]:
    """What a delivery breaks."""
    return [violation.kind for violation in oracle.deliver(process, message)]


def test_a_newcomer_must_deliver_what_its_contact_has_not() -> None:
    """And nothing else: neither what the contact has delivered nor what was never sent to it."""
    oracle = Oracle()
    old, open_to_b, elsewhere = (oracle.send("a", to) for to in (ABC, ABC, ["a", "c"]))
    assert kinds(oracle, "b", old) == []
    oracle.join("n", "b")
    assert oracle.undelivered().count((open_to_b, "n")) == 1
    assert {receiver for _, receiver in oracle.undelivered()} == {"a", "b", "c", "n"}
    assert kinds(oracle, "n", old) == ["invented"]
    assert kinds(oracle, "n", elsewhere) == ["invented"]
    assert kinds(oracle, "n", open_to_b) == []
    assert kinds(oracle, "n", open_to_b) == ["duplicate"]
    assert not [missing for missing in oracle.undelivered() if missing[1] == "n"]
    everybody = frozenset([*ABC, "n"])
    assert oracle.history.receivers(open_to_b) == everybody
    assert oracle.history.events("a")[1] == CausalSend(open_to_b, everybody)


def test_a_message_stays_open_until_the_newcomer_has_it() -> None:
    """Also if all its original receivers have delivered it before."""
    oracle = Oracle()
    first, second = oracle.send("a", ABC), oracle.send("a", ABC)
    oracle.join("n", "b")
    for process in ABC:
        assert kinds(oracle, process, first) == kinds(oracle, process, second) == []
    assert oracle.undelivered() == [(first, "n"), (second, "n")]
    assert kinds(oracle, "n", second) == []
    assert kinds(oracle, "n", first) == ["causal", "fifo"]  # its clock was still kept
    assert oracle.undelivered() == []


def test_a_newcomers_sends_follow_its_contacts_deliveries() -> None:
    """Also if its contact was a newcomer itself; and the chain that proves it is found."""
    oracle = Oracle()
    old = oracle.send("a", ABC)
    assert kinds(oracle, "b", old) == []
    oracle.join("n", "b")
    oracle.join("m", "n")
    news = oracle.send("m", [*ABC, "m", "n"])
    assert oracle.history.happens_before(old, news)
    assert kinds(oracle, "c", news) == []
    (violation,) = oracle.deliver("c", old)
    assert violation.kind == "causal" and violation.chain == (old, news)


def test_sends_before_joining_follow_nothing() -> None:
    """It waits at the newcomer, whose contact had delivered nothing by then."""
    oracle = Oracle()
    old = oracle.send("a", ABC)
    assert kinds(oracle, "b", old) == []
    early = oracle.send("n", ["n", *ABC])
    oracle.join("n", "b")
    late = oracle.send("n", ["n", *ABC])
    assert not oracle.history.happens_before(old, early)
    assert oracle.history.happens_before(old, late)
    assert kinds(oracle, "c", early) == kinds(oracle, "c", old) == kinds(oracle, "c", late) == []


def test_a_newcomer_does_not_know_its_contacts_sends_to_others() -> None:
    """A contact that has not delivered its own message has passed on nothing of it."""
    oracle = Oracle()
    secret = oracle.send("b", "c")
    oracle.join("n", "b")
    news = oracle.send("n", "c")
    assert not oracle.history.happens_before(secret, news)
    assert kinds(oracle, "c", news) == kinds(oracle, "c", secret) == []


def test_a_newcomer_inherits_the_violations_of_its_contact() -> None:
    """It starts with the effect, so the cause comes too late for it as well."""
    oracle = Oracle()
    cause, effect = oracle.send("a", ABC), oracle.send("a", ABC)
    assert kinds(oracle, "b", effect) == []
    oracle.join("n", "b")
    violation, order = oracle.deliver("n", cause)
    assert violation.kind == "causal" and violation.chain == (cause, effect)
    assert order.kind == "fifo" and order.early == effect


def test_misuse_changes_nothing() -> None:
    """A process joins once, before anything else, and through another process."""
    oracle = Oracle()
    message = oracle.send("a", ABC)
    oracle.deliver("c", message)
    oracle.join("n", "b")
    before = oracle.fingerprint()
    for newcomer, contact in [("n", "b"), ("n", "n"), ("c", "b"), ("x", "x")]:
        with pytest.raises(LocalProtocolError, match="is a member already|cannot join by itself"):
            oracle.join(newcomer, contact)
    with pytest.raises(LocalProtocolError, match="must not be empty"):
        oracle.join("x", "")
    with pytest.raises(LocalProtocolError, match="was not causal-sent"):
        oracle.history.add_receiver(MessageId("a", 2), "x")
    assert oracle.fingerprint() == before


def test_copies_and_fingerprints_know_who_joined() -> None:
    """A join in a copy stays there, and equal steps lead to equal states."""
    oracle = Oracle()
    message = oracle.send("a", ABC)
    twin, other = oracle.copy(), oracle.copy()
    twin.join("n", "b")
    assert oracle.fingerprint() == other.fingerprint() != twin.fingerprint()
    assert oracle.history.receivers(message) == frozenset(ABC)
    assert oracle.history.events("a") == other.history.events("a") != twin.history.events("a")
    oracle.join("n", "b")
    assert oracle.fingerprint() == twin.fingerprint()
    assert kinds(twin, "n", message) == kinds(oracle, "n", message) == []
    nothing = Oracle()
    nothing.join("n", "b")
    assert nothing.fingerprint() != Oracle().fingerprint()  # it cannot be let in again


@pytest.mark.parametrize("seed", range(40))
def test_a_newcomer_is_judged_like_a_founding_member(seed: int) -> None:
    """Against an oracle in which it delivers, at the join, what its contact has, in that order."""
    random = Random(seed)
    quick, slow = Oracle(), Oracle()
    members = list(ABC)
    verdicts: list[list[str]] = []
    for step in range(120):
        process = random.choice(members)
        if step in (30, 60):
            newcomer = f"n{step}"
            quick.join(newcomer, process)
            # Everything was for it from the start; what its contact has, it delivers now.
            for earlier in [e.message for e in slow.history.events(process) if len(e) == 1]:
                slow.deliver(newcomer, earlier)
            members.append(newcomer)
        elif random.random() < 0.4:
            quick.send(process, members)
            slow.send(process, [*ABC, "n30", "n60"])
        else:
            waiting = [message for message, to in quick.undelivered() if to == process]
            if waiting:
                message = random.choice(waiting[:4])
                verdict = kinds(quick, process, message)
                assert verdict == kinds(slow, process, message), f"seed {seed}, step {step}"
                if process not in ABC:
                    verdicts.append(verdict)
    assert [] in verdicts and any("causal" in verdict for verdict in verdicts), (
        f"seed {seed}: {verdicts}"
    )
