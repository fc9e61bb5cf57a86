"""Random trees of processes, worlds on them, and whether all cores still agree on one tree."""

from __future__ import annotations

import random
from collections.abc import Mapping

from beforehand.protocols.core import Core
from beforehand.protocols.reliable import ReliableLink
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.slide import MOVING
from beforehand.protocols.tree.topology import Tree
from tests.support.network import World


def random_tree(rng: random.Random, size: int) -> dict[str, str]:
    """Child -> parent: a chain, a star, or anything between."""
    names = [f"p{number}" for number in range(size)]
    rng.shuffle(names)
    reach = rng.choice([1, 2, size])  # how far back a parent may be
    parents = {names[0]: names[0]}
    for number in range(1, size):
        parents[names[number]] = names[max(0, number - rng.randint(1, reach))]
    return parents


def tree_world(
    tree: Mapping[str, str], seed: int, *, fifo: bool = True, link: bool = False, bad: float = 0.0
) -> World:
    """A core for each process of a tree; with `link` on a network that loses and reorders."""
    cores: dict[str, Core] = {name: TreeCore(name, tree) for name in tree}
    if link:
        cores = {name: ReliableLink(core) for name, core in cores.items()}
    return World(cores, seed, loss=bad, duplicate=bad, fifo=fifo, mirror=seed % 10 == 0)


def tree_core(world: World, name: str) -> TreeCore:
    """The core of a process, without the link around it."""
    core = world.cores[name]
    if isinstance(core, ReliableLink):
        core = core.inner
    assert isinstance(core, TreeCore)
    return core


def choices(core: TreeCore) -> list[str]:
    """The parents that a process may ask for now."""
    if not core.parent or core.target:
        return []
    return [
        name
        for name in core.routes.tree.names
        if name not in (core.process, core.parent)
        and not core.is_dropped(name)
        and core.routes.hop(name) == core.parent
    ]


def moving(world: World) -> list[str]:
    """Those that have left their old parent for good, but still receive from it."""
    movers = []
    for name in world.cores:
        slide = tree_core(world, name).slide
        if slide is not None and slide.phase == MOVING:
            movers.append(name)
    return movers


def assert_one_tree(world: World, gone: frozenset[str] = frozenset()) -> Tree:
    """Nothing moves, and what each core knows of its neighbours is the same tree."""
    cores = {name: tree_core(world, name) for name in world.cores if name not in gone}
    for name, core in cores.items():
        assert core.slide is None and core.target == "", f"{name} still moves: {world.about()}"
    tree = Tree({name: core.parent or name for name, core in cores.items()})
    for name, core in cores.items():
        assert core.children == tree.children(name), f"children of {name}: {world.about()}"
        for other in cores:
            assert core.routes.hop(other) == tree.next(name, other), (
                f"{name} > {other}: {world.about()}"
            )
    return tree
