"""Reductions omit nothing that matters, on random cores and programs.

Each is explored in full and with reductions. Whether there is a problem, and how many actions it takes
to reach one, must be the same. (Whether the full exploration is right is in `test_against_reference.py`
and, for these cores, in the first test here.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from beforehand.checker.explore import check
from beforehand.checker.program import CloseStep, OpenStep, SendStep, every_program, written_program
from beforehand.checker.search.reductions.symmetry import rename, renamings
from beforehand.checker.setting import FaultBudget, Setting, setting
from beforehand.checker.verdict import Verdict
from beforehand.protocols.effects import Effect
from beforehand.protocols.frames import Frame
from tests.checker.automata import drawn
from tests.checker.cores import NAMES, Counting, Plain, setting_of
from tests.checker.random_cores import journey, spoilt
from tests.checker.reference import explore

LARGE = 3_000  # states: more than that is left to the slow tests


def length(verdict: Verdict) -> int:
    """Of the shortest run to a problem; 0 if there is none."""
    return 0 if verdict.counterexample is None else len(verdict.counterexample.run)


def in_full(chosen: Setting, most: int = LARGE) -> Verdict:
    """Everything, one by one."""
    return check(chosen, reduce=False, symmetry=False, workers=1, max_states=most)


def compared(
    seeds: range, fair: bool, modes: Sequence[tuple[bool, bool]], most: int = LARGE
) -> Counter[str]:
    """Explore these systems with and without reductions; what happened, in numbers."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        chosen = drawn(seed, fair)
        full = in_full(chosen, most)
        if full.outcome == "unfinished":
            seen["too large"] += 1
            continue
        seen[full.outcome] += 1
        for reduce, symmetry in modes:
            verdict = check(chosen, reduce=reduce, symmetry=symmetry, workers=1)
            case = f"seed {seed}, fair {fair}, reduce {reduce}, symmetry {symmetry}"
            assert (verdict.outcome, length(verdict)) == (full.outcome, length(full)), case
        seen["symmetric"] += verdict.symmetries > 1
        seen["not symmetric"] += verdict.symmetries == 1
        if full.counterexample is not None:
            seen[full.counterexample.problem.kind] += 1
        seen["fifo"] += chosen.fifo
        seen["loss"] += chosen.faults.loss
        seen["duplicate"] += chosen.faults.duplicate
        seen["tick"] += chosen.faults.tick
    return seen


def test_the_full_exploration_of_odd_cores() -> None:
    """On the random cores too, it finds exactly the states that the plain one finds."""
    seen: Counter[str] = Counter()
    for draw, seed, fair in product([drawn, journey], range(12), [True, False]):
        chosen = draw(seed, fair)
        verdict = in_full(chosen, most=400)
        if verdict.outcome == "unfinished":
            continue
        plain = explore(chosen)
        case = f"{chosen.protocol}, fair {fair}"
        assert (verdict.outcome, length(verdict)) == (plain.outcome, plain.length), case
        if verdict.counterexample is None:
            counts = (verdict.states, verdict.transitions, verdict.depth)
            assert counts == (plain.states, plain.transitions, plain.depth), case
        else:
            assert verdict.counterexample.problem.kind in plain.kinds, case
        seen[verdict.outcome] += 1
    assert seen["correct"] > 10 and seen["violated"] > 10


@pytest.mark.parametrize("fair", [True, False], ids=["fair", "unfair"])
def test_reductions_change_nothing(fair: bool) -> None:
    """Same verdict, same length of the shortest run; and every interesting case occurred."""
    seen = compared(range(100, 118), fair, [(True, False), (True, True)])
    for outcome in ("correct", "violated", "symmetric", "not symmetric", "fifo", "loss", "tick"):
        assert seen[outcome], f"no system was of this sort: {outcome}; {seen}"


@pytest.mark.slow
@pytest.mark.parametrize("fair", [True, False], ids=["fair", "unfair"])
def test_reductions_change_nothing_in_many_systems(fair: bool) -> None:
    """The same on many more and larger ones, with every kind of problem."""
    modes = [(True, False), (False, True), (True, True)]
    seen = compared(range(1_000, 2_000), fair, modes, most=30_000)
    for kind in ("causal", "fifo", "duplicate", "invented", "error", "refused", "undelivered"):
        assert seen[kind] > 3, f"{kind} was hardly ever met: {seen}"


def planted_problems_found(seeds: range, variants: range, most: int = LARGE) -> Counter[str]:
    """Plant problems in journeys that have none; every exploration must find them."""
    seen: Counter[str] = Counter()
    for seed, fair in product(seeds, [True, False]):
        base = in_full(journey(seed, fair), most)
        assert base.outcome != "violated"
        for variant in variants if base.outcome == "correct" else ():
            chosen = spoilt(seed, fair, variant)
            full = in_full(chosen, 10 * most)
            for symmetry in (False, True):
                verdict = check(chosen, symmetry=symmetry, workers=1)
                case = f"seed {seed}, fair {fair}, lot {variant}, symmetry {symmetry}"
                assert verdict.outcome == full.outcome, case
            seen[full.outcome] += 1
            seen["bad end" if variant % 2 else "bad step"] += full.outcome == "violated"
            seen["symmetric"] += verdict.symmetries > 1
    return seen


def test_a_single_planted_problem_is_found() -> None:
    """Reductions leave a way to each state in which a process can end, and to each of its steps."""
    seen = planted_problems_found(range(8), range(4))
    for outcome in ("correct", "bad end", "bad step", "symmetric"):
        assert seen[outcome] > 3, f"{outcome} was hardly ever met: {seen}"


@pytest.mark.slow
def test_many_planted_problems_are_found() -> None:
    """The same on many more journeys."""
    seen = planted_problems_found(range(1_000, 1_300), range(6), most=10_000)
    assert seen["bad end"] > 300 and seen["bad step"] > 200, seen


class Waiting(Counting):
    """One process among equals waits forever after two messages."""

    def unacknowledged(self) -> int:
        """Only the last process waits, and forever."""
        return int(self.received > 1 and self.process == "c")


class Stumbling(Counting):
    """One process among equals fails when it gets two messages."""

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Only the last process fails."""
        if self.process == "c":
            raise ValueError("two are too many")
        return effects


class Muttering(Counting):
    """One process among equals never delivers its second message."""

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Only the last process forgets."""
        return [] if self.process == "c" else effects


class Preferring(Plain):
    """All processes answer b only."""

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver, and send b what came once more, if it came from b."""
        return super().receive(sender, frame) * (2 if sender == "b" else 1)


class Fussy(Plain):
    """A timer does something at one process only, and that is to fail."""

    def tick(self) -> list[Effect]:
        """Only the last process fails."""
        if self.process == "c" and self.sent:
            raise ValueError("no time")
        return []


@pytest.mark.parametrize(
    "core", [Waiting, Stumbling, Muttering, Preferring, Fussy], ids=lambda core: core.__name__
)
@pytest.mark.parametrize("reduce", [False, True])
def test_a_core_that_does_not_treat_names_alike_is_noticed(core: type[Plain], reduce: bool) -> None:
    """Its program is symmetric, and all cases but one are harmless: that one must not be skipped."""
    program = every_program(dict.fromkeys(NAMES, 1), ["unicast"])
    chosen = replace(setting_of(core, "", FaultBudget(tick=int(core is Fussy))), program=program)
    full = in_full(chosen)
    verdict = check(chosen, reduce=reduce)
    assert full.outcome == "violated" and verdict.symmetries == 1
    assert (verdict.outcome, length(verdict)) == (full.outcome, length(full))


class Grumbling(Counting):
    """One process among equals waits until it has got a message."""

    def unacknowledged(self) -> int:
        """Only b is impatient."""
        return int(self.received == 0 and self.process == "b")


def test_a_process_that_waits_from_the_start() -> None:
    """It has not behaved differently from the others yet, but it is not equivalent to them."""
    program = every_program({"a": 1, "b": 0, "c": 0}, ["unicast"])
    chosen = replace(setting_of(Grumbling, ""), program=program)
    assert in_full(chosen).outcome == "violated"
    assert check(chosen).outcome == "violated"


def test_symmetry_is_used_where_it_exists() -> None:
    """Six renamings of three equal processes, two of two; none where the program distinguishes them."""
    assert check(setting("hybrid", sends=[1, 1, 1])).symmetries == 6
    assert check(setting("hybrid", sends=[1, 1, 0])).symmetries == 2
    assert check(setting("hybrid", sends=[2, 1, 0])).symmetries == 1
    assert check(setting("hybrid", program="a>b b>c c>a")).symmetries == 3
    assert check(setting("hybrid", program="a>b,c b>c,a c>b,a")).symmetries == 6
    assert check(setting("hybrid", sends=[1, 1, 1]), symmetry=False).symmetries == 1


def test_choices_of_a_process_with_another_name() -> None:
    """All processes named in a step are renamed: receivers, the other end of a link, mediators."""
    mapping = {"a": "b", "b": "c", "c": "a"}
    assert rename(SendStep(("b", "c")), mapping) == SendStep(("a", "c"))
    assert rename(SendStep(None), mapping) == SendStep(None)
    assert rename(OpenStep("b", ("c",)), mapping) == OpenStep("c", ("a",))
    assert rename(CloseStep("b"), mapping) == CloseStep("c")


def test_closed_links_distinguish_processes() -> None:
    """A ring of closes can be turned, and nothing else; one close leaves nothing to rename."""
    assert renamings(written_program("a-b b-c c-a", NAMES)) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert renamings(written_program("a-b", NAMES)) == [(0, 1, 2)]
    assert renamings(written_program("a-c b-c", NAMES)) == [(0, 1, 2), (1, 0, 2)]
    for protocol in ("link-memory", "preventive", "prc"):
        turned = setting(protocol, program="a-b b-c c-a")
        verdict, plain = check(turned), check(turned, reduce=False, symmetry=False)
        assert verdict.symmetries == 3 and verdict.states < plain.states
        assert verdict.outcome == plain.outcome == "correct"
