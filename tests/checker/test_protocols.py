"""Every protocol of the registry in small bounds: the causal ones are right, the others are caught."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.checker.explore import check
from beforehand.checker.setting import setting
from beforehand.checker.world import replay

# Three processes and these many messages of each: the least at which there is something to see.
BOUNDS = {
    "hybrid": "2 1 1",
    "hybrid-sps": "2 1 1",
    "mattern": "2 1 1",
    "cykas": "2 2 1",
    "cykas-unsafe": "2 2 1",
    "rst": "2 1 1",
    "ks": "2 1 1",
    "newtop": "1 1 1",
    "vector": "2 1 1",
    "tree": "2 2 1",
    "link-memory": "1 1 1",
    "preventive": "1 1 1",
    "prc": "1 1 1",
    "fifo": "2 1 0",
    "raw": "2 0 0",
}
CAUSAL = [name for name in BOUNDS if protocols.describe(name).causal]
# What the others break first.
OTHERS = {"cykas-unsafe": "causal", "fifo": "causal", "raw": "fifo"}
# The same where each message may go to both others at once: that alone lets hybrid ones wait.
MULTICAST = {
    "hybrid": "1 1 1",
    "hybrid-sps": "1 1 1",
    "rst": "2 1 0",
    "ks": "2 1 0",
    "tree": "2 1 0",
}


def counts(bound: str) -> list[int]:
    """How many messages each process sends."""
    return [int(count) for count in bound.split()]


def test_all_protocols_are_covered() -> None:
    """One that is added later is checked too."""
    assert list(BOUNDS) == protocols.names()
    able = [name for name in CAUSAL if "multicast" in protocols.describe(name).casts]
    assert list(MULTICAST) == able
    assert set(BOUNDS) == {*CAUSAL, *OTHERS}


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_protocol(name: str) -> None:
    """No interleaving breaks it, and its characteristic events occurred: holds, eager sends, permits."""
    verdict = check(setting(name, sends=counts(BOUNDS[name])))
    assert verdict.outcome == "correct"
    assert not verdict.unseen


@pytest.mark.parametrize("name", MULTICAST)
def test_multicast(name: str) -> None:
    """Each message to one other process or to both."""
    sends = counts(MULTICAST[name])
    verdict = check(setting(name, sends=sends, multicast=True))
    unicast = check(setting(name, sends=sends))
    assert verdict.outcome == "correct" and not verdict.unseen
    assert verdict.states > unicast.states


@pytest.mark.parametrize("name", OTHERS)
def test_a_protocol_that_is_not_causal(name: str) -> None:
    """A violation is found, and the replayed run confirms it."""
    chosen = setting(name, sends=counts(BOUNDS[name]))
    verdict = check(chosen)
    assert verdict.outcome == "violated" and verdict.counterexample is not None
    assert verdict.counterexample.problem.kind == OTHERS[name]
    assert replay(chosen, verdict.counterexample.run)[1] == verdict.counterexample.problem


@pytest.mark.parametrize("name", OTHERS)
def test_with_one_message_less_there_is_nothing_to_catch(name: str) -> None:
    """So the bounds are the smallest ones at which there is a counterexample."""
    sends = counts(BOUNDS[name])
    for index, count in enumerate(sends):
        if count:
            fewer = [*sends[:index], count - 1, *sends[index + 1 :]]
            assert check(setting(name, sends=fewer)).outcome == "correct"
