"""Every protocol on random schedules, with an oracle watching: what it promises, on its network.

A run that never saw a loss, a held message or an overtaking proves nothing, so each family of runs
also asserts that those did happen.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from beforehand import protocols
from beforehand._build import is_compiled
from tests.support.groups import habits, world_of
from tests.support.network import World

RUNS = 150 if is_compiled() else 60  # pure cores are slower, and behave the same
BAD = 0.2  # of the frames are lost, and as many doubled


def world(name: str, seed: int, lossy: bool, link: bool = False, **options: Any) -> World:
    """2 to 6 processes of a protocol; every fifth run checks copies and fingerprints as well."""
    names = [f"p{index}" for index in range(2 + seed % 5)]
    bad = BAD if lossy else 0.0
    return world_of(name, names, seed, bad=bad, link=link, mirror=seed % 5 == 0, **options)


def play(name: str, lossy: bool, link: bool = False, **options: Any) -> Counter[str]:
    """Many runs that must all be causal and complete; returns what happened in them."""
    happened: Counter[str] = Counter()
    for seed in range(RUNS):
        run = world(name, seed, lossy, link, **options)
        run.run_random(25, burst=1 + seed % 3, hurry=0.2 + seed % 4 / 8, **habits(name))
        run.assert_causal_and_complete()
        assert not any(core.held() for core in run.cores.values()), run.about()
        happened.update(
            run.kinds,
            lost=run.lost,
            duplicated=run.duplicated,
            reordered=run.reordered,
            held=run.held_seen,
        )
    return happened


@pytest.mark.parametrize("fifo_links", [False, True])
def test_mattern_on_a_bad_network(fifo_links: bool) -> None:
    """Plain and pipelined, it needs nothing of the network."""
    happened = play("mattern", lossy=True, fifo_links=fifo_links)
    for event in ("lost", "duplicated", "held", "MatternAck"):
        assert happened[event] > RUNS, happened
    assert happened["reordered"] > (RUNS if fifo_links else 0), happened


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("cykas", ["CykasMessage", "CykasAck", "CykasYouCanTell"]),
        ("rst", ["RstMessage"]),
        ("ks", ["KsMessage"]),
        ("vector", ["VectorMessage"]),
    ],
)
def test_on_a_reliable_network_that_reorders(name: str, frames: list[str]) -> None:
    """Protocols that assume reliability get it, and no order at all."""
    happened = play(name, lossy=False)
    for event in ("held", "reordered", *frames):
        assert happened[event] > RUNS, happened


def test_newtop_on_fifo_links() -> None:
    """It gets the order of each link that it assumes, and nothing overtakes there."""
    happened = play("newtop", lossy=False)
    assert not happened["reordered"], happened
    for event in ("held", "NewtopMessage", "NewtopNull"):
        assert happened[event] > RUNS, happened


@pytest.mark.parametrize("name", ["cykas", "rst", "ks", "newtop", "vector"])
def test_in_a_reliable_link_on_a_bad_network(name: str) -> None:
    """The link makes up for loss, duplication and reordering."""
    happened = play(name, lossy=True, link=True)
    for event in ("lost", "duplicated", "reordered", "held", "SegmentAck"):
        assert happened[event] > RUNS, happened


@pytest.mark.parametrize(("name", "link"), [("raw", False), ("raw", True), ("fifo", False)])
def test_the_controls_are_caught(name: str, link: bool) -> None:
    """They deliver everything and break causal order, and the oracle says so."""
    broken = 0
    for seed in range(100):
        run = world(name, seed, lossy=name == "fifo" or link, link=link)
        run.run_random(25, multicast=True, hurry=0.4)
        assert not run.undelivered(), run.about()
        broken += any(str(violation).startswith("causal") for violation in run.violations)
    assert broken > 30, f"{broken} of 100 runs"


def test_the_refuted_variant_is_caught() -> None:
    """Answers in secret mode break causal order, if only in few runs; cykas breaks it in none."""
    broken: Counter[str] = Counter()
    for name in ("cykas", "cykas-unsafe"):
        for seed in range(300):
            run = World({process: protocols.create(name, process) for process in "abc"}, seed)
            run.run_random(25, hurry=0.5)
            assert not run.undelivered(), run.about()
            broken[name] += any(str(violation).startswith("causal") for violation in run.violations)
    assert broken["cykas"] == 0 and broken["cykas-unsafe"] > 2, broken


def test_a_seed_is_a_run() -> None:
    """The same seed gives the same run, frame by frame."""
    first, second = (world("cykas", 11, lossy=True, link=True) for _ in range(2))
    first.run_random(30)
    second.run_random(30)
    assert first.about() == second.about() and first.delivered == second.delivered


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mattern", "cykas", "rst", "ks"])
def test_long_runs(name: str) -> None:
    """Longer runs with more messages in flight."""
    caps = protocols.describe(name)
    for seed in range(60):
        run = world(name, seed, lossy=caps.network == "lossy")
        run.run_random(300, multicast="multicast" in caps.casts, burst=4, hurry=0.5)
        run.assert_causal_and_complete()
