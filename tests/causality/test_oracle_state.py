"""Copies and fingerprints of an oracle: what a model checker relies on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from random import Random

import pytest

from beforehand.causality import MessageId, Oracle
from tests.causality.runs import Deliver, Send, Step, random_run

KINDS = ("causal", "fifo", "duplicate", "invented")


def take(oracle: Oracle, step: Step) -> list[str]:
    """Carry out one step, and return the kinds of violation that it was."""
    if isinstance(step, Send):
        oracle.send(step.process, step.receivers)
        return []
    return [violation.kind for violation in oracle.deliver(step.process, step.message)]


def played(run: list[Step]) -> Oracle:
    """The oracle after a run."""
    oracle = Oracle()
    for step in run:
        take(oracle, step)
    return oracle


def test_a_copy_goes_on_like_the_original_and_leaves_it_alone() -> None:
    """At every step of a run, a copy taken there and an oracle that was never copied agree."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        run = random_run(Random(seed), length=30)
        alone, original = played(run), Oracle()
        for position, step in enumerate(run):
            before, twin = original.fingerprint(), original.copy()
            for later in run[position:]:
                seen.update(take(twin, later))
            assert original.fingerprint() == before, f"seed {seed}, step {position}"
            for one, other in ((twin, alone), (twin.copy(), alone)):
                assert one.violations == other.violations, f"seed {seed}, step {position}"
                assert one.fingerprint() == other.fingerprint(), f"seed {seed}, step {position}"
                assert one.deliveries == other.deliveries, f"seed {seed}, step {position}"
            take(original, step)
        assert original.violations == alone.violations, f"seed {seed}"
    assert min(seen[kind] for kind in KINDS) > 50, seen


def test_a_copy_remembers_who_is_gone() -> None:
    """An excuse is a part of the state, and an excuse given to a copy stays there."""
    oracle = Oracle()
    message = oracle.send("a", "b")
    twin = oracle.copy()
    twin.excuse("b")
    assert oracle.undelivered() == [(message, "b")]
    assert twin.undelivered() == twin.copy().undelivered() == []


class Program:
    """Some causal-sends, each process's in a fixed order, and all the runs that they allow."""

    def __init__(self, *sends: tuple[str, str]) -> None:
        self.names = sorted({name for process, to in sends for name in process + to})
        self.sends = {
            name: [Send(name, frozenset(to)) for process, to in sends if process == name]
            for name in self.names
        }

    def next_steps(self, oracle: Oracle) -> list[Step]:
        """The steps that advance the run: the next causal-send of a process, or a first delivery."""
        counts = {name: oracle.history.sends(name) for name in self.names}
        sends = [self.sends[n][counts[n]] for n in self.names if counts[n] < len(self.sends[n])]
        return [*sends, *(Deliver(to, message) for message, to in oracle.undelivered())]

    def every_delivery(self) -> list[Deliver]:
        """All that could be delivered, right or wrong, at any time."""
        messages = [MessageId(n, k) for n in self.names for k in range(len(self.sends[n]) + 2)]
        return [Deliver(name, message) for name in self.names for message in messages]


def future(oracle: Oracle, program: Program) -> Hashable:
    """The violations of each possible next step, and the fingerprint that it leads to."""
    outcomes: list[Hashable] = [tuple(oracle.undelivered())]
    for step in [*program.next_steps(oracle), *program.every_delivery()]:
        after = oracle.copy()
        outcomes.append((step, tuple(take(after, step)), after.fingerprint()))
    return tuple(outcomes)


@pytest.mark.parametrize(
    "program",
    [
        Program(("a", "c"), ("a", "b"), ("a", "c"), ("b", "c"), ("b", "c")),
        Program(("a", "a"), ("a", "b"), ("b", "ab"), ("b", "a")),
        Program(("a", "bc"), ("a", "b"), ("b", "c"), ("c", "b")),
        # d knows of a#1 or not, by a message of b that is delivered either way
        Program(("a", "c"), ("a", "b"), ("a", "c"), ("b", "d"), ("d", "c")),
    ],
)
def test_equal_fingerprints_have_equal_futures(program: Program) -> None:
    """In all runs of a program, equal fingerprints lead to equal verdicts and equal fingerprints.

    So, by induction, states with equal fingerprints can never again be distinguished.
    """
    seen: Counter[str] = Counter()
    futures: dict[Hashable, Hashable] = {}
    states: set[Hashable] = set()
    stack = [Oracle()]
    while stack:
        oracle = stack.pop()
        events = tuple(oracle.history.events(name) for name in program.names)
        if events in states:
            continue
        states.add(events)
        then = future(oracle, program)
        assert futures.setdefault(oracle.fingerprint(), then) == then, events
        for step in program.next_steps(oracle):
            after = oracle.copy()
            seen.update(take(after, step))
            stack.append(after)
    assert seen["causal"] > 20, seen
    assert seen["fifo"] > 5, seen
    assert len(futures) < len(states) / 2, "fingerprints are meant to bring states together"


def test_an_excuse_is_in_the_fingerprint() -> None:
    """Who is gone decides what is undelivered, so it distinguishes states."""
    oracle = Oracle()
    oracle.send("a", "b")
    twin = oracle.copy()
    twin.excuse("b")
    assert oracle.fingerprint() != twin.fingerprint()


def relayed(knowing: bool) -> tuple[Oracle, list[Deliver]]:
    """b sends to c after, or before, it delivers a's message; two deliveries are left."""
    oracle = Oracle()
    question = oracle.send("a", ["b", "c"])
    if knowing:
        oracle.deliver("b", question)
    answer = oracle.send("b", "c")
    if not knowing:
        oracle.deliver("b", question)
    return oracle, [Deliver("c", question), Deliver("c", answer)]


def test_irrelevant_knowledge_leaves_no_trace() -> None:
    """The order matters while a delivery is open, and not afterwards."""
    (one, left), (two, _) = relayed(knowing=True), relayed(knowing=False)
    assert one.fingerprint() != two.fingerprint()
    for step in left:
        take(one, step)
        take(two, step)
    assert one.fingerprint() == two.fingerprint()


def test_counts_are_rounded_to_what_is_still_open() -> None:
    """d knows of a#2 or of a#3, and that makes no difference: only a#1 has yet to be delivered."""
    fingerprints = set()
    for knowing in (True, False):
        oracle = Oracle()
        _, second, third = oracle.send("a", "c"), oracle.send("a", "b"), oracle.send("a", "b")
        oracle.deliver("b", second)
        if knowing:
            oracle.deliver("b", third)
        oracle.deliver("d", oracle.send("b", "d"))
        if not knowing:
            oracle.deliver("b", third)
        fingerprints.add(oracle.fingerprint())
    assert len(fingerprints) == 1


def test_knowledge_of_ones_own_sends_changes_nothing() -> None:
    """b's answer to a was sent after, or before, it delivered from a, who knew it all anyway."""
    fingerprints = set()
    for knowing in (True, False):
        oracle = Oracle()
        _, question = oracle.send("a", "c"), oracle.send("a", "b")
        if knowing:
            oracle.deliver("b", question)
        oracle.deliver("a", oracle.send("b", "a"))
        if not knowing:
            oracle.deliver("b", question)
        fingerprints.add(oracle.fingerprint())
    assert len(fingerprints) == 1
