"""Each slip of the printed overlay algorithms is found by an exploration, and by no smaller one.

Or it needs what no program does (drop a peer, join), or leaves entries behind: then nothing is found
here, and `tests/mutants/test_overlay_slips.py` has a run that shows it.
"""

from __future__ import annotations

from functools import cache

import pytest

from beforehand._build import is_compiled
from beforehand.checker.explore import check
from beforehand.checker.world import replay
from tests.checker.slips.overlay import (
    CLOSING,
    FINDINGS,
    GIVEN_UP,
    NOTHING,
    OUT_OF_REACH,
    SHORTCUT,
    Bound,
    Finding,
    Written,
)
from tests.mutants.overlay import SLIPS

pytestmark = pytest.mark.skipif(
    is_compiled(), reason="a broken copy cannot extend compiled classes"
)
each_finding = pytest.mark.parametrize(
    "finding", FINDINGS, ids=[f"{finding.slip}: {finding.kind}" for finding in FINDINGS]
)


@cache  # many bounds have the same smaller ones
def outcome(bound: Bound | Written, protocol: str, slip: str) -> str:
    """Correct, or the kind of problem that is found."""
    verdict = check(bound.setting(protocol, slip))
    return verdict.counterexample.problem.kind if verdict.counterexample else verdict.outcome


@each_finding
def test_the_slip_is_found(finding: Finding) -> None:
    """Of the expected kind, after the expected number of actions, and the run can be replayed."""
    setting = finding.bound.setting(finding.protocol, finding.slip)
    counterexample = check(setting).counterexample
    assert counterexample is not None, f"{finding.slip}: nothing is found with {finding.bound}"
    assert (counterexample.problem.kind, len(counterexample.run)) == (
        finding.kind,
        finding.length,
    ), counterexample.problem
    assert finding.sentence_part in counterexample.problem.sentence
    assert replay(setting, counterexample.run)[1] == counterexample.problem


@each_finding
def test_no_smaller_bound_shows_it(finding: Finding) -> None:
    """There is nothing to find, unless that bound is in the catalogue too.

    A program that closes a link for good may be at fault itself: then a copy without the slip fails too.
    """
    known = {other.bound: other.kind for other in FINDINGS if other.slip == finding.slip}
    for bound in finding.bound.smaller():
        actual = outcome(bound, finding.protocol, finding.slip)
        if isinstance(bound, Written):
            assert actual == outcome(bound, finding.protocol, NOTHING.name), str(bound)
        else:
            assert actual == known.get(bound, "correct"), str(bound)


@pytest.mark.parametrize(
    ("protocol", "bound"),
    sorted({(other.protocol, other.bound) for other in FINDINGS}, key=str),
    ids=str,
)
def test_nothing_is_found_without_the_slip(protocol: str, bound: Bound | Written) -> None:
    """What is found is the slip, and not the copying."""
    assert outcome(bound, protocol, NOTHING.name) == "correct"


@cache  # each slip is held against the same sizes without it
def size(bound: Bound | Written, slip: str) -> tuple[str, int, int]:
    """How an exploration ends, and how large it is."""
    verdict = check(bound.setting("prc", slip))
    return verdict.outcome, verdict.states, verdict.transitions


@pytest.mark.parametrize("slip", OUT_OF_REACH)
def test_slips_out_of_reach_make_no_difference(slip: str) -> None:
    """Not a state more or less, with a link that is given up and with control that goes two ways."""
    for bound in (Bound((1, 1, 0), faults=GIVEN_UP), Bound((0, 0, 1), ("b+c",), links=SHORTCUT)):
        assert size(bound, slip) == size(bound, NOTHING.name)
        assert size(bound, slip)[0] == "correct"


@pytest.mark.parametrize("slip", OUT_OF_REACH)
@pytest.mark.parametrize("bound", CLOSING, ids=str)
def test_a_link_in_use_that_is_closed_does_not_show_it(bound: Written, slip: str) -> None:
    """Not a state more or less, unless entries are kept: those add states, and do no harm."""
    keeps = slip == "close leaves E alone"
    (outcome, states, _), (_, without, _) = size(bound, slip), size(bound, NOTHING.name)
    assert outcome == "correct"
    assert states > without if keeps else states == without


def test_every_slip_is_found_or_out_of_reach() -> None:
    """None is forgotten, and none is called out of reach that is found."""
    caught = {finding.slip for finding in FINDINGS}
    assert not caught & set(OUT_OF_REACH)
    assert caught | set(OUT_OF_REACH) == {slip.name for slip in SLIPS}
