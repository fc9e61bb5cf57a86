"""Overlays that change all the time: every message reaches every process that stays, once and in order.

Links are opened over routes, over routes that do not exist and without any, closed, opened again;
processes join, leave, crash, are dropped early, late and by mistake. The oracle checks each delivery.
Each test also asserts that what it is about did happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from tests.support.overlay import OverlayWorld, world_of

# What must have happened in a few hundred runs, or they prove nothing.
OF_EVERY_CHURN = (
    "sends",
    "answers",
    "opens",
    "routes",
    "safe",
    "closes",
    "Flood",
    "Routed",
    "ignored",
    "joins",
    "admitted",
    "Refuse",
    "leaves",
    "crashes",
    "crashes in a handshake",
    "suspicions",
)
OF_PRC = ("messages kept for a new link", "expected on a new link", "Buffered", "Alpha", "Close")


def judged(world: OverlayWorld, forgets: bool) -> Counter[str]:
    """The statistics of a run, after checking that it is correct."""
    problem = world.problem()
    assert not problem, f"{problem} in {world.about()}"
    remaining = world.entries()
    if forgets:
        assert not remaining, f"{remaining} entries left in {world.about()}"
    else:
        assert remaining, f"nothing is remembered in {world.about()}"
    return world.count


def churned(
    name: str, seeds: Iterable[int], steps: int, most: int = 6, mirror: bool = False
) -> Counter[str]:
    """What happened in all these runs together."""
    total: Counter[str] = Counter()
    for seed in seeds:
        world = world_of(name, 3 + seed % (most - 2), seed, mirror=mirror)
        world.churn(steps)
        world.settle()
        total += judged(world, name == "prc")
    return total


def assert_happened(total: Counter[str], names: Iterable[str], least: int) -> None:
    """Each of these happened at least that often."""
    for name in names:
        assert total[name] >= least, f"{name}: {total[name]} times only, of {dict(total)}"


def test_prc_delivers_once_in_order_and_forgets() -> None:
    """Nothing is left at the end, however the overlay has changed."""
    total = churned("prc", range(300), 330)
    assert_happened(total, OF_EVERY_CHURN, 20)
    assert_happened(total, OF_PRC, 200)


def test_preventive_delivers_once_in_order_and_remembers() -> None:
    """The same guarantees; but every sender is remembered forever."""
    total = churned("preventive", range(250), 330)
    assert_happened(total, OF_EVERY_CHURN, 5)
    assert_happened(total, ["Pong"], 200)


@pytest.mark.parametrize("name", ["prc", "preventive"])
def test_copies_do_the_same_at_every_step(name: str) -> None:
    """A copy is independent, and its frames survive the way to bytes and back."""
    total = churned(name, range(1_000, 1_016), 300, mirror=True)
    assert_happened(total, ["safe", "joins", "closes", "crashes"], 5)


def test_link_memory_on_links_that_stay() -> None:
    """Exactly once, in causal order, and nothing is left at the end."""
    total: Counter[str] = Counter()
    most = 0
    for seed in range(60):
        world = world_of("link-memory", 2 + seed % 6, seed, mirror=seed % 6 == 0)
        world.churn(60, sends=0.3, changes=0.0)
        most = max(most, world.entries())
        world.settle()
        total += judged(world, forgets=True)
    assert total["opens"] == total["joins"] == 0 and total["sends"] > 800
    assert most > 20, "nothing was ever remembered"


def test_link_memory_on_links_that_change_is_caught() -> None:
    """The same churn breaks a protocol that is not made for it, and the world detects it."""
    problems: Counter[str] = Counter()
    for seed in range(40):
        world = world_of("link-memory", 3 + seed % 4, seed)
        world.churn(300)
        world.settle()
        problems[world.problem().split(":")[0]] += 1
    assert problems["duplicate"] >= 10, problems


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prc", "preventive"])
def test_a_larger_exploration(name: str) -> None:
    """More seeds, more processes, longer runs."""
    total = churned(name, range(10_000, 12_000), 400)
    total += churned(name, range(20_000, 20_300), 1_500, most=14)
    assert_happened(total, OF_EVERY_CHURN, 100)
