"""A group of cores of any protocol, whatever that protocol needs to know about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beforehand import protocols
from beforehand.protocols.core import Core
from beforehand.protocols.reliable import ReliableLink
from tests.support.network import World


def tree_of(names: Sequence[str]) -> dict[str, str]:
    """Child -> parent: a binary tree with the first name on top."""
    return {names[index]: names[(index - 1) // 2] for index in range(1, len(names))}


def ring_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """Links both ways between neighbours in a ring."""
    after = [*names[1:], *names[:1]]
    pairs = [(a, b) for a, b in zip(names, after, strict=True) if a != b]
    return sorted({*pairs, *((b, a) for a, b in pairs)})


def core_of(name: str, process: str, names: Sequence[str], **options: Any) -> Core:
    """A core with every option that a protocol may need; it ignores the others."""
    return protocols.create(
        name, process, processes=names, tree=tree_of(names), links=ring_of(names), **options
    )


def cores_of(
    name: str, names: Sequence[str], link: bool = False, **options: Any
) -> dict[str, Core]:
    """One core for each process, each in a reliable link of its own if asked for."""
    cores = {process: core_of(name, process, names, **options) for process in names}
    return {process: ReliableLink(core) for process, core in cores.items()} if link else cores


def world_of(
    name: str,
    names: Sequence[str],
    seed: int,
    *,
    bad: float = 0.0,
    link: bool = False,
    mirror: bool = False,
    **options: Any,
) -> World:
    """A world of them; its links are FIFO if the protocol needs that and has no reliable link."""
    fifo = protocols.describe(name).fifo_links and not link
    cores = cores_of(name, names, link, **options)
    return World(cores, seed, loss=bad, duplicate=bad, fifo=fifo, mirror=mirror)


def habits(name: str) -> dict[str, bool]:
    """The arguments for `World.run_random` that suit a protocol."""
    casts = protocols.describe(name).casts
    return {"multicast": "multicast" in casts, "broadcast": "unicast" not in casts}
