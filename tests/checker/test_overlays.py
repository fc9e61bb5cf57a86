"""Overlays to which a link is added while messages fly: every interleaving, by the checker.

`link-memory` is what `prc` starts from, and shows with its figure 2 why a link must not simply be
used; `prc` and `preventive` are two remedies. Overlays are written as "ab bc": links both ways.
"""

from __future__ import annotations

import random

import pytest

from beforehand.checker.actions import Run
from beforehand.checker.explore import check
from beforehand.checker.program import OpenStep
from beforehand.checker.setting import NO_FAULTS, FaultBudget, Setting, setting
from beforehand.checker.world import CheckedWorld
from beforehand.protocols.overlay.frames import Broadcast, Buffered
from beforehand.protocols.overlay.opening import FIRST_TIMEOUT
from tests.checker.reference import explore

SAFE = ("prc", "preventive")
STAR, LINE, RING = "ab ac ad", "ab bc cd", "ab bc cd da"
TRIANGLE = "ab bc ca"


def both_ways(links: str) -> list[tuple[str, str]]:
    """Each link with its two directions."""
    return [
        direction
        for link in links.split()
        for direction in ((link[0], link[1]), (link[1], link[0]))
    ]


def overlay(
    protocol: str,
    links: str,
    sends: str,
    *opened: str,
    via: tuple[str, ...] = (),
    faults: FaultBudget = NO_FAULTS,
) -> Setting:
    """So many broadcasts by each process ("1 0 0"), and links ("bc": b opens one to c) at any moment."""
    return setting(
        protocol,
        sends=[int(count) for count in sends.split()],
        links=both_ways(links),
        opens=[(link[0], OpenStep(link[1], via)) for link in opened],
        faults=faults,
    )


def steps_of(run: Run) -> list[str]:
    """Who gets what from whom, and what the programs do, one by one."""
    return [
        str(action)
        if action.frame is None
        else f"{action.sender}>{action.process} {type(action.frame).__name__}"
        for action in run
    ]


# ---- a link that is used at once ----


def test_figure_2_is_the_shortest_run() -> None:
    """c has the message and has forgotten it when b, behind the new link, passes it on."""
    verdict = check(overlay("link-memory", "ab ac", "1 0 0", "bc"))
    counterexample = verdict.counterexample
    assert counterexample is not None
    assert (
        str(counterexample.problem)
        == "duplicate: c delivered a#1 again, having already delivered it."
    )
    steps = steps_of(counterexample.run)
    # Nothing but what the figure shows, in an order that agrees with it.
    expected = ["a>*", "b+c", "a>c Broadcast", "b>c Linked", "a>b Broadcast", "b>c Broadcast"]
    assert sorted(steps) == sorted(expected)
    position = {step: number for number, step in enumerate(steps)}
    assert position["a>c Broadcast"] < position["b>c Linked"] < position["b>c Broadcast"]
    assert position["b+c"] < position["a>b Broadcast"]


@pytest.mark.parametrize("sends", ["1 0 0", "0 1 0", "0 0 1", "1 1 1"])
def test_link_memory_is_right_while_links_stay(sends: str) -> None:
    """The very same overlay without the new link."""
    assert check(overlay("link-memory", "ab ac", sends)).outcome == "correct"


@pytest.mark.parametrize("sends", ["0 1 0", "0 0 1", "1 1 1"])
def test_a_new_link_delivers_twice_whoever_broadcasts(sends: str) -> None:
    """The figure's broadcaster is not the only one."""
    counterexample = check(overlay("link-memory", "ab ac", sends, "bc")).counterexample
    assert counterexample is not None and counterexample.problem.kind == "duplicate"


def test_a_new_link_breaks_causal_order_too() -> None:
    """On a ring with two broadcasts, by a run that is shorter than any double delivery."""
    once = check(overlay("link-memory", RING, "1 0 0 0", "ac")).counterexample
    twice = check(overlay("link-memory", RING, "1 0 0 1", "ac")).counterexample
    assert once is not None and once.problem.kind == "duplicate"
    assert twice is not None and twice.problem.kind == "causal"
    assert len(twice.run) < len(once.run)


def test_a_new_link_without_messages_does_no_harm() -> None:
    """So the moment is wrong, not the link."""
    assert check(overlay("link-memory", "ab ac", "0 0 0", "bc")).outcome == "correct"


# ---- a link that is made with care ----


@pytest.mark.parametrize("protocol", SAFE)
@pytest.mark.parametrize("sends", ["1 0 0", "0 1 0", "0 0 1", "2 0 0", "1 1 0", "1 0 1", "0 1 1"])
def test_a_link_added_during_broadcasts(protocol: str, sends: str) -> None:
    """One or two broadcasts, a link made at any moment of them: nothing twice, nothing too early."""
    verdict = check(overlay(protocol, "ab ac", sends, "bc", via=("a",)))
    assert verdict.outcome == "correct"
    without = check(overlay(protocol, "ab ac", sends))
    assert verdict.states > without.states  # the link has made a difference


@pytest.mark.parametrize("protocol", SAFE)
@pytest.mark.parametrize("sends", ["1 0 0", "0 1 0", "0 0 1", "2 0 0"])
def test_a_link_added_without_a_mediator(protocol: str, sends: str) -> None:
    """Control information goes to everybody, like the messages."""
    assert check(overlay(protocol, "ab ac", sends, "bc")).outcome == "correct"


@pytest.mark.parametrize("protocol", SAFE)
@pytest.mark.parametrize(
    ("links", "opened", "mediator"), [(STAR, "bc", "a"), (LINE, "ac", "b"), (RING, "ac", "b")]
)
def test_four_processes(protocol: str, links: str, opened: str, mediator: str) -> None:
    """A star, a line and a ring, whoever broadcasts."""
    for sender in range(4):
        sends = " ".join(str(int(index == sender)) for index in range(4))
        assert check(overlay("link-memory", links, sends, opened)).outcome == "violated"
        setting = overlay(protocol, links, sends, opened, via=(mediator,))
        assert check(setting).outcome == "correct"


@pytest.mark.parametrize("protocol", SAFE)
def test_two_links_at_once(protocol: str) -> None:
    """b and c open links to each other, at moments of their own, while a broadcasts."""
    verdict = check(overlay(protocol, "ab ac", "1 0 0", "bc", "cb", via=("a",)))
    assert verdict.outcome == "correct"


@pytest.mark.parametrize("protocol", SAFE)
def test_a_link_that_is_given_up_and_started_anew(protocol: str) -> None:
    """With more ticks than its opener has patience for: what comes too late of the first one is ignored.

    Ticks do not make new states forever: each is counted, and at the end nothing is left to age.
    """
    patient, impatient = (
        check(overlay(protocol, "ab ac", "1 0 0", "bc", via=("a",), faults=faults), reduce=False)
        for faults in (FaultBudget(tick=FIRST_TIMEOUT), FaultBudget(tick=FIRST_TIMEOUT + 1))
    )
    assert impatient.outcome == "correct" and not impatient.unseen
    assert impatient.depth > patient.depth + 1  # it is more than one more tick: a second attempt


@pytest.mark.slow
@pytest.mark.parametrize("protocol", SAFE)
def test_larger_bounds(protocol: str) -> None:
    """Three broadcasts at once; two on a ring; a ring on which control goes to everybody."""
    for chosen in (
        overlay(protocol, "ab ac", "1 1 1", "bc"),
        overlay(protocol, "ab ac", "1 1 0", "bc", "cb", via=("a",)),
        overlay(protocol, RING, "1 0 0 1", "ac", via=("b",)),
        overlay(protocol, RING, "1 0 0 0", "ac"),
    ):
        assert check(chosen).outcome == "correct"


# ---- a link that is closed ----


@pytest.mark.parametrize("protocol", ["link-memory", *SAFE])
def test_a_link_in_use_is_closed_during_a_broadcast(protocol: str) -> None:
    """Whichever process broadcasts: everything is delivered once, and engine and worlds agree."""
    for program in ("a>* b-c", "b>* b-c", "b-c b>*", "c>* b-c"):
        chosen = setting(protocol, program=program, links=both_ways(TRIANGLE))
        plain, verdict = explore(chosen), check(chosen, reduce=False, symmetry=False)
        assert plain.outcome == verdict.outcome == check(chosen).outcome == "correct", program
        sizes = (plain.states, plain.transitions, plain.depth)
        assert (verdict.states, verdict.transitions, verdict.depth) == sizes, program


@pytest.mark.parametrize("protocol", SAFE)
def test_a_link_is_closed_and_opened_again(protocol: str) -> None:
    """What is left of the old link does not disturb the new one, which may be closed in the making."""
    for program in ("a>* b-c b+c/a", "a>* b-c b+c/a b-c", "a>* b-c b+c/a c>*"):
        chosen = setting(protocol, program=program, links=both_ways(TRIANGLE))
        assert check(chosen).outcome == "correct", program


@pytest.mark.parametrize("protocol", ["link-memory", "prc"])
def test_a_closed_link_is_not_waited_for(protocol: str) -> None:
    """c has a's message and expects a copy from b, until b announces that nothing more will come."""
    world = CheckedWorld(setting(protocol, program="a>* b-c", links=both_ways(TRIANGLE)))
    entries = []
    for step in ("a>*", "a>c Broadcast", "b-c", "b>c Close"):
        action = next(action for action in world.enabled() if steps_of((action,)) == [step])
        assert world.apply(action) is None
        entries.append(world.cores["c"].entries())
    assert entries == [0, 1, 1, 0]


# ---- that there was something to see ----


def test_prc_runs_covered_the_interesting_cases() -> None:
    """In the worlds explored above B-beta brings news, and old news, and the new link gets used."""
    seen = set()
    for seed in range(60):
        rng = random.Random(seed)
        world = CheckedWorld(overlay("prc", "ab ac", "1 1 0", "bc", via=("a",)))
        while actions := world.enabled():
            arrivals = [action for action in actions if action.frame is not None]
            # The programs take their time, or all is sent before the link is half made.
            action = rng.choice(arrivals if arrivals and rng.random() < 0.8 else actions)
            missing = len(world.oracle.undelivered())
            assert world.apply(action) is None, seed
            if isinstance(action.frame, Buffered) and action.frame.frames:
                delivered = missing - len(world.oracle.undelivered())
                seen.add("news" if delivered else "old news")
            if isinstance(action.frame, Broadcast) and action.sender + action.process == "bc":
                seen.add("used")
    assert seen == {"news", "old news", "used"}
