"""The engine against the plain exploration: without reductions they agree on every count.

With reductions, the findings must not change: whether there is a problem, and after how many actions at
least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from beforehand import protocols
from beforehand.checker.explore import check
from beforehand.checker.program import OpenStep, every_program
from beforehand.checker.setting import FaultBudget, Setting, setting
from beforehand.checker.verdict import Verdict
from beforehand.checker.world import replay
from tests.checker.cores import (
    BROKEN,
    NAMES,
    Dreaming,
    Panicking,
    Plain,
    Resending,
    Roundabout,
    setting_of,
    unprotected,
)
from tests.checker.reference import Explored, explore

LOSS, DUPLICATE, TICK = FaultBudget(loss=1), FaultBudget(duplicate=1), FaultBudget(tick=1)
OVERLAYS = ("link-memory", "preventive", "prc")
LINE = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
FULL, REDUCED = (False, False), (True, True)  # reduce, symmetry


def small(name: str) -> Iterator[Setting]:
    """A few small settings of a protocol: a free program, a written one, and one sort of fault."""
    faults = (LOSS, DUPLICATE, TICK)[protocols.names().index(name) % 3]
    yield setting(name, sends=[1, 1], faults=faults)
    if name in OVERLAYS:
        yield setting(name, sends=[1, 0, 0])
        yield setting(name, sends=[1, 0, 0], links=LINE, opens=[("a", OpenStep("c", ("b",)))])
        return
    yield setting(name, sends=[1, 1, 1] if name in ("rst", "ks", "vector", "tree") else [2, 1, 0])
    if "broadcast" in protocols.describe(name).casts:
        yield setting(name, program="a>* b>* b>*")
    elif "multicast" in protocols.describe(name).casts:
        yield setting(name, program="a>a,b,c b>a,c")
    else:
        yield setting(name, program="a>a a>b b>a b>b")


def larger(name: str) -> Iterator[Setting]:
    """Settings of every kind that a protocol supports."""
    casts = protocols.describe(name).casts
    yield setting(name, sends=[3, 2])
    for faults in (LOSS, DUPLICATE, TICK):
        yield setting(name, sends=[1, 1], faults=faults)
    if name in OVERLAYS:
        yield setting(name, sends=[1, 1, 0], links=LINE)
        yield setting(name, sends=[1, 1, 0], faults=TICK)
        yield setting(name, sends=[1, 1, 0], links=LINE, opens=[("a", OpenStep("c", ("b",)))])
        return
    yield setting(name, sends=[2, 1, 1])
    yield setting(name, sends=[1, 1, 1], faults=TICK)
    if "unicast" in casts:
        yield setting(name, program="a>c a>b b>c c>a")
        yield setting(name, sends=[1, 1, 1, 0])
    if "multicast" in casts:
        yield setting(name, sends=[1, 1, 0], multicast=True)
    if name == "tree":
        yield setting(name, sends=[2, 1, 1], tree={"b": "a", "c": "b"})


def agree(
    chosen: Setting, modes: Iterable[tuple[bool, bool]] = (FULL, REDUCED)
) -> tuple[Explored, Verdict]:
    """Explore in these modes and compare; returns the plain result and the last of the others."""
    plain = explore(chosen)
    for reduce, symmetry in modes:
        verdict = check(chosen, reduce=reduce, symmetry=symmetry, workers=1)
        assert (verdict.outcome, verdict.reduced) == (plain.outcome, reduce)
        if verdict.counterexample is not None:
            run, problem = verdict.counterexample.run, verdict.counterexample.problem
            assert len(run) == plain.length
            assert problem.kind in plain.kinds
            assert replay(chosen, run)[1] == problem
        elif (reduce, symmetry) == FULL:
            counts = (verdict.states, verdict.transitions, verdict.depth)
            assert counts == (plain.states, plain.transitions, plain.depth)
    return plain, verdict


@pytest.mark.parametrize("name", protocols.names())
def test_every_protocol(name: str) -> None:
    """The causal ones are correct, in each of these settings; and reductions leave something out."""
    results = [agree(chosen) for chosen in small(name)]
    assert sum(verdict.states for _, verdict in results) < sum(plain.states for plain, _ in results)
    # Opening a link breaks link-memory, which does not pretend otherwise.
    wrong = name in ("raw", "fifo", "link-memory")
    assert any(plain.problems for plain, _ in results) == wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", protocols.names())
def test_every_protocol_in_more_settings(name: str) -> None:
    """The same with larger programs, all faults, and each reduction alone."""
    for chosen in larger(name):
        plain, verdict = agree(chosen, [FULL, (True, False), (False, True), REDUCED])
        assert verdict.states <= plain.states


@pytest.mark.parametrize("fifo", [False, True])
@pytest.mark.parametrize("core", BROKEN, ids=lambda core: core.__name__)
def test_every_kind_of_problem(core: type[Plain], fifo: bool) -> None:
    """Found after the same number of actions, however the exploration is reduced."""
    chosen = replace(setting_of(core, "a>b c>b b>a"), fifo=fifo)
    plain, _ = agree(chosen)
    assert plain.kinds == {BROKEN[core]}
    free = every_program(dict.fromkeys(NAMES, 1), ["unicast"])
    plain, verdict = agree(replace(chosen, program=free))
    assert plain.kinds == {BROKEN[core]} and verdict.symmetries == 6


@pytest.mark.parametrize(
    ("chosen", "kind", "length"),
    [
        (setting("raw", program="a>b a>b"), "fifo", 4),
        (setting("raw", program="a>c a>b b>c"), "causal", 6),
        (setting("fifo", program="a>c a>b b>c", faults=LOSS), "causal", 6),
        (unprotected("raw", "a>b b>a", LOSS), "undelivered", 4),
        (unprotected("raw", "a>b b>a", DUPLICATE), "duplicate", 3),
        (unprotected("cykas", "a>b b>a", DUPLICATE), "refused", 3),
        (setting_of(Roundabout, "a>a a>b b>a"), "causal", 6),
        (setting_of(partial(Resending, "b"), "a>b,c", LOSS), "duplicate", 5),
        (setting_of(partial(Resending, "c"), "a>b,c", LOSS), "duplicate", 5),
        (setting_of(Panicking, "a>b", LOSS), "error", 3),
        (setting_of(Dreaming, "a>b", LOSS), "invented", 3),
        (setting_of(Panicking, "a>b", TICK), "error", 2),
        (setting_of(Dreaming, "a>b", TICK), "invented", 2),
        (replace(setting_of(Plain, "a>b a>b"), fifo=True), "", 0),
    ],
)
def test_the_shortest_violations_have_the_expected_kind_and_length(
    chosen: Setting, kind: str, length: int
) -> None:
    """The kind and the length are those of the shortest runs, worked out by hand."""
    plain, _ = agree(chosen)
    assert plain.kinds == ({kind} if kind else set()) and plain.length == length


def test_several_faults_at_once() -> None:
    """A loss, a duplicate and an early tick in one run."""
    plain, verdict = agree(setting("mattern", sends=[1, 1], faults=FaultBudget(1, 1, 1)))
    assert plain.outcome == "correct" and verdict.states < plain.states
    assert all(verdict.seen[f"a frame was {fault}"] for fault in ("lost", "duplicated"))


def test_the_largest_numbers() -> None:
    """Fifteen messages of one process, eight processes, and more frames in flight than usual."""
    agree(setting("vector", processes=8, program="h>*"), [(False, False), (True, False)])
    long = replace(setting_of(Plain, "a>b " * 15 + "b>c"), fifo=True)
    wide = replace(setting_of(Plain, "a>b,c " * 9), fifo=True)
    # So many are sent, and so many of them delivered at each receiver.
    assert agree(long)[0].states == 3 * sum(sent + 1 for sent in range(16))
    assert agree(wide)[0].states == sum((sent + 1) ** 2 for sent in range(10))
