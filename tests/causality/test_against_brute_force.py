"""The quick algorithms agree with the definitions on thousands of random runs, most of them incorrect.

Each test also asserts that what it is about did happen: an oracle that never saw a violation, or a
search that never needed a long chain, would prove nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.causality import History, MessageId, Oracle
from tests.causality.brute_force import Distances, Verdicts, distances
from tests.causality.runs import NAMES, Send, Step, random_run, run_of

numbers = st.integers(0, 255)
choices = st.lists(st.tuples(st.integers(0, 15), numbers, numbers), min_size=12, max_size=48)


def assert_is_witness(chain: Sequence[MessageId], steps: Distances) -> None:
    """Each message of a chain happens before the next by a single step."""
    assert all(steps[pair] == 1 for pair in pairwise(chain))


def compare_oracle(run: Sequence[Step], seen: Counter[str]) -> None:
    """Judge a run by the oracle and by brute force, step by step."""
    oracle, truth = Oracle(), Verdicts(run)
    deliveries = 0
    for step, kinds, before in zip(run, truth.kinds, truth.before, strict=True):
        if isinstance(step, Send):
            oracle.send(step.process, step.receivers)
            seen["multicast"] += len(step.receivers) > 1
            continue
        violations = oracle.deliver(step.process, step.message)
        assert [violation.kind for violation in violations] == kinds
        deliveries += not {"duplicate", "invented"} & set(kinds)
        seen.update(kinds or ["fine"])
        for violation in violations:
            assert (violation.process, violation.message) == (step.process, step.message)
            if violation.kind in ("duplicate", "invented"):
                assert (violation.early, violation.chain) == (None, ())
                continue
            chain = violation.chain
            assert (chain[0], chain[-1]) == (step.message, violation.early)
            assert violation.early in before
            assert_is_witness(chain, truth.distances)
            nearest = min(truth.distances.get((step.message, m), len(run)) for m in before)
            assert len(chain) - 1 == nearest
            seen["to oneself"] += step.process == step.message.sender
            seen[f"chain of {len(chain)}"] += 1
    assert (oracle.sends, oracle.deliveries) == (len(truth.receivers), deliveries)
    assert oracle.undelivered() == truth.undelivered()
    assert [v.kind for v in oracle.violations] == [kind for kinds in truth.kinds for kind in kinds]


def assert_was_interesting(seen: Counter[str], least: int, longest: int) -> None:
    """Every kind of violation occurred at least `least` times, and chains up to `longest` long."""
    for name in ("causal", "fifo", "duplicate", "invented", "fine", "multicast", "to oneself"):
        assert seen[name] >= least, f"{name} seen {seen[name]} times only: {seen}"
    for length in range(2, longest + 1):
        assert seen[f"chain of {length}"] >= 5, f"few chains of {length}: {seen}"
    # FIFO is a part of causal order, and not all of it.
    assert seen["causal"] > seen["fifo"]


def test_the_oracle_agrees_with_brute_force() -> None:
    """Hypothesis looks for a run, and the smallest one, on which the oracle is wrong."""
    seen: Counter[str] = Counter()

    @settings(derandomize=True, max_examples=600, deadline=None, database=None)
    @given(st.integers(2, len(NAMES)), choices)
    def search(processes: int, chosen: list[tuple[int, int, int]]) -> None:
        compare_oracle(run_of(processes, chosen), seen)

    search()
    assert_was_interesting(seen, least=20, longest=3)


def test_the_oracle_agrees_with_brute_force_on_long_runs() -> None:
    """Two thousand runs of many messages, where chains grow longer than in a short search."""
    seen: Counter[str] = Counter()
    for seed in range(2000):
        try:
            compare_oracle(random_run(Random(seed), length=40), seen)
        except AssertionError as error:
            raise AssertionError(f"the oracle is wrong on the run of seed {seed}") from error
    assert_was_interesting(seen, least=100, longest=4)


def recorded(truth: Verdicts, random: Random) -> History:
    """A history of the same events, recorded process by process in a random order of processes."""
    history = History()
    names = sorted(truth.timelines)
    random.shuffle(names)
    for name in names:
        for kind, message in truth.timelines[name]:
            if kind == "c":
                assert history.send(name, truth.receivers[message]) == message
            else:
                history.deliver(name, message)
    return history


def compare_history(history: History, steps: Distances, random: Random, seen: Counter[str]) -> None:
    """Ask a history about all pairs of messages, and for chains to random targets."""
    messages = sorted({message for pair in steps for message in pair})
    for first in messages:
        for last in messages:
            assert history.happens_before(first, last) == ((first, last) in steps), (first, last)
        targets = set(random.sample(messages, random.randint(1, min(3, len(messages)))))
        chain = history.shortest_chain(first, targets)
        lengths = [steps[first, target] for target in targets if (first, target) in steps]
        if chain is None:
            assert not lengths
            seen["none"] += 1
            continue
        assert chain[0] == first
        assert chain[-1] in targets
        assert_is_witness(chain, steps)
        assert len(chain) - 1 == min(lengths)
        seen[f"chain of {len(chain)}"] += 1
        seen["cycle"] += chain[0] == chain[-1]


def test_happens_before_agrees_with_the_transitive_closure() -> None:
    """All pairs of messages, and shortest chains to any targets, in many random runs."""
    seen: Counter[str] = Counter()
    for seed in range(400):
        random = Random(seed)
        truth = Verdicts(random_run(random, length=60, processes=len(NAMES)))
        try:
            compare_history(recorded(truth, random), truth.distances, random, seen)
        except AssertionError as error:
            raise AssertionError(f"happens-before is wrong on the run of seed {seed}") from error
    for name in ("none", "chain of 2", "chain of 3", "chain of 4", "chain of 5"):
        assert seen[name] >= 20, seen
    assert not seen["cycle"], "a run that can happen has no cycles"


def test_happens_before_agrees_with_the_closure_on_impossible_records() -> None:
    """Records with deliveries before their causal-sends, which have cycles, as damaged logs do."""
    seen: Counter[str] = Counter()
    for seed in range(1000):
        random = Random(seed)
        history = History()
        timelines: dict[str, list[tuple[str, MessageId]]] = {name: [] for name in NAMES[:4]}
        for _ in range(random.randint(2, 24)):
            name = random.choice(NAMES[:4])
            if random.random() < 0.4:
                timelines[name].append(("c", history.send(name, "erin")))
            else:
                message = MessageId(random.choice(NAMES[:4]), random.randint(1, 4))
                history.deliver(name, message)
                timelines[name].append(("d", message))
        try:
            compare_history(history, distances(timelines), random, seen)
        except AssertionError as error:
            raise AssertionError(f"happens-before is wrong on the record of seed {seed}") from error
    for name in ("none", "cycle", "chain of 4"):
        assert seen[name] >= 10, seen
