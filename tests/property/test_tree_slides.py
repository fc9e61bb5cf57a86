"""Re-parenting at random moments, everywhere at once, with an oracle watching.

Every kind of cast is in flight while subtrees move, several of them in different places and some that
compete for the same processes. In the end everything was delivered once, in causal order, and all cores
agree on one tree.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand.protocols.tree.topology import Tree
from tests.support.network import World
from tests.support.trees import (
    assert_one_tree,
    choices,
    moving,
    random_tree,
    tree_core,
    tree_world,
)

RUNS = 400


def send_something(world: World, rng: random.Random) -> None:
    """A unicast, a multicast or a broadcast of anybody."""
    process = rng.choice(list(world.cores))
    others = [name for name in world.cores if name != process]
    kind = rng.random()
    if kind < 0.4:
        world.send(process, None)
    elif kind < 0.8:
        world.send(process, rng.choice(others))
    else:
        some = rng.sample(list(world.cores), rng.randint(1, len(world.cores)))
        world.send(process, some, count=rng.randint(1, 2))


def move_somebody(world: World, rng: random.Random) -> bool:
    """Ask for a move that is allowed, if there is one."""
    process = rng.choice(list(world.cores))
    parents = choices(tree_core(world, process))
    if parents:
        world.reparent(process, rng.choice(parents))
    return bool(parents)


def moving_run(
    seed: int, *, fifo: bool = True, link: bool = False, steps: int = 150
) -> Counter[str]:
    """A random run with moves all the time; returns what happened in it."""
    rng = random.Random(seed)
    tree = random_tree(rng, rng.choice([3, 4, 5, 7, 14]))
    world = tree_world(tree, seed, fifo=fifo, link=link, bad=0.1 if link else 0.0)
    haste = rng.choice([0.1, 0.3, 0.5])
    seen: Counter[str] = Counter()
    for _ in range(steps):
        kind = rng.random()
        if kind < haste:
            send_something(world, rng)
        elif kind < haste + 0.1:
            seen["asked"] += move_somebody(world, rng)
        elif kind < haste + 0.15:
            world.tick()
        else:
            world.step()
        movers = moving(world)
        frames = [frame for queue in world.flight.values() for frame in queue]
        seen["in flight"] += bool(movers) and any(frame.messages() for frame in frames)
        seen["together"] += len(movers) > 1
        slides = [tree_core(world, name).slide for name in world.cores]
        seen["crossing"] += any(slide is not None and slide.crossing for slide in slides)
    world.run_until_quiet()
    world.assert_causal_and_complete()
    seen["tree changed"] += assert_one_tree(world).key() != Tree(tree).key()
    seen.update(world.kinds, held=world.held_seen)
    return seen


def test_everything_arrives_once_and_in_causal_order_while_subtrees_move() -> None:
    """Hundreds of runs, in which every interesting case occurred."""
    seen: Counter[str] = Counter()
    for seed in range(RUNS):
        seen += moving_run(seed)
    for event, least in {
        "TreeClear": 4 * RUNS,  # slides that were completed
        "TreeRefusal": RUNS,
        "held": RUNS,
        "in flight": RUNS,
        "together": RUNS,
        "crossing": RUNS // 10,
        "tree changed": RUNS // 2,
    }.items():
        assert seen[event] >= least, f"{event}: {seen}"
    # As many slides began as were completed, each with its steps.
    assert seen["TreeGo"] == seen["TreeHandover"] == seen["TreeLast"] == seen["TreeClear"], seen
    assert seen["TreeFarewell"] == 2 * seen["TreeClear"], seen


@pytest.mark.parametrize("seed", range(20))
def test_the_same_on_a_bad_network_with_reliable_links(seed: int) -> None:
    """The link keeps the order that the protocol needs; loss and overtaking are its business."""
    seen = moving_run(seed, fifo=False, link=True, steps=100)
    assert seen["TreeMessage"] or seen["TreeBroadcast"], seen


def test_without_fifo_links_something_goes_wrong() -> None:
    """The order of each link is all that the protocol rests on: without it, it is not causal."""
    wrong = 0
    for seed in range(20):
        rng = random.Random(seed)
        world = tree_world(random_tree(rng, 6), seed, fifo=False)
        for _ in range(60):
            send_something(world, rng) if rng.random() < 0.5 else world.step()
        world.run_until_quiet()
        wrong += bool(world.violations)
    assert wrong > 10, wrong
