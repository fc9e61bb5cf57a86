"""Each slip of the printed algorithms is found by an exploration, and by no smaller one.

There are no false alarms: at the same bounds neither the cores without the slip nor our own have a
problem.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from beforehand._build import is_compiled
from beforehand.checker.explore import check
from beforehand.checker.setting import Setting
from beforehand.checker.world import replay
from beforehand.errors import LocalProtocolError
from tests.checker.slips.printed import ALGORITHM_1, SHARED_FIELD, SLIPS, TO_ONESELF
from tests.checker.slips.slip import Slip

pytestmark = pytest.mark.skipif(
    is_compiled(), reason="a broken copy cannot extend compiled classes"
)
each_slip = pytest.mark.parametrize("slip", SLIPS, ids=[slip.name for slip in SLIPS])


def outcome(setting: Setting) -> str:
    """The outcome of cores without the slip: correct, a kind of problem, or an invalid program."""
    try:
        verdict = check(setting)
    except LocalProtocolError:
        return "no program"
    return verdict.counterexample.problem.kind if verdict.counterexample else verdict.outcome


@each_slip
def test_the_slip_is_found(slip: Slip) -> None:
    """Of the expected kind, after the expected number of actions, and the run can be replayed."""
    setting = slip.broken()
    counterexample = check(setting).counterexample
    assert counterexample is not None, f"{slip.name}: nothing is found at {slip.bound}"
    assert (counterexample.problem.kind, len(counterexample.run)) == (slip.kind, slip.length), (
        counterexample.problem
    )
    assert slip.sentence_part in counterexample.problem.sentence
    assert replay(setting, counterexample.run)[1] == counterexample.problem


@each_slip
def test_no_smaller_bound_shows_it(slip: Slip) -> None:
    """With one send, one process or one fault less there is nothing to find."""
    for bound in slip.bound.smaller():
        verdict = check(slip.broken(bound))
        assert verdict.outcome == "correct", f"{bound}: {verdict.counterexample}"


@each_slip
def test_nothing_is_found_without_the_slip(slip: Slip) -> None:
    """Not in a copy without it, nor in our own core, which also rejects lies and empty messages."""
    assert outcome(slip.unbroken()) == slip.instead
    assert outcome(slip.real()) == slip.instead


def test_messages_to_oneself_may_go_through_the_network_under_csps() -> None:
    """Only SPS lets the answer go before the message to oneself is acknowledged."""
    slip = next(slip for slip in SLIPS if slip.name == TO_ONESELF)
    assert outcome(replace(slip, algorithm=ALGORITHM_1).broken()) == "correct"


def test_a_flag_that_is_a_number_does_no_harm_in_the_place_of_an_index() -> None:
    """False is 0 and True is 1, never above a position that it is compared with: luck."""
    slip = next(slip for slip in SLIPS if slip.name == SHARED_FIELD)
    (file, old, new), *_ = slip.changes
    numeric = replace(slip, changes=((file, old, new.replace("str(", "bool(")),))
    assert outcome(numeric.broken()) == "correct"
