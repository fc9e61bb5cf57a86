"""Every protocol of the registry runs in nodes, on a network that loses, doubles and reorders."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from beforehand import MessageId, Node, protocols
from beforehand.causality.oracle import Oracle
from beforehand.runtime import driver as turns
from beforehand.runtime.transports import Faulty, MemoryNetwork

NAMES = ("ada", "ben", "cyd")
TREE = {"ben": "ada", "cyd": "ben"}
LINKS = [("ada", "ben"), ("ben", "ada"), ("ben", "cyd"), ("cyd", "ben")]
MESSAGES = 25  # of each process
SEED = 7


@dataclass
class Run:
    """What the applications saw."""

    oracle: Oracle = field(default_factory=Oracle)
    reactions: int = 0  # sends by a process that had delivered something
    lost: int = 0
    doubled: int = 0
    held_back: int = 0


def plan(protocol: str, name: str) -> list[tuple[str, ...] | None]:
    """The receivers of a process's messages in turn, within the limits of its protocol."""
    casts = protocols.describe(protocol).casts
    rng = random.Random(f"{SEED} {name}")
    others = [other for other in NAMES if other != name]
    kinds: list[tuple[str, ...] | None] = []
    if "unicast" in casts:
        kinds += [(other,) for other in others]
    if "multicast" in casts:
        kinds += [tuple(others), NAMES]
    if "broadcast" in casts:
        kinds.append(None)
    return [rng.choice(kinds) for _ in range(MESSAGES)]


async def live(node: Node, protocol: str, run: Run) -> None:
    """Send as planned and take all that must come, at once."""
    plans = [to for name in NAMES for to in plan(protocol, name)]
    to_come = sum(to is None or node.name in to for to in plans)
    taken = 0
    rng = random.Random(f"{SEED} pauses of {node.name}")

    async def speak() -> None:
        for to in plan(protocol, node.name):
            await node.send(to, node.name.encode())
            run.oracle.send(node.name, NAMES if to is None else to)
            run.reactions += taken > 0
            await asyncio.sleep(0.004 * rng.random())

    speaking = asyncio.create_task(speak())
    for _ in range(to_come):
        message = await node.receive()
        assert message.payload == message.sender.encode()
        run.oracle.deliver(node.name, MessageId(message.sender, message.number))
        taken += 1
    await speaking


async def run_nodes(protocol: str) -> Run:
    """Three nodes in one loop, each behind a transport that is worse than the network."""
    run = Run()
    network = MemoryNetwork(SEED)
    transports = [Faulty(network.transport(name), seed=SEED + at) for at, name in enumerate(NAMES)]
    nodes = [
        Node(
            name,
            peers={other: other for other in NAMES if other != name},
            protocol=protocol,
            processes=NAMES,
            tree=TREE,
            links=LINKS,
            transport=transport,
        )
        for name, transport in zip(NAMES, transports, strict=True)
    ]
    try:
        for node in nodes:
            await node.start()
        await asyncio.gather(*(live(node, protocol, run) for node in nodes))
    finally:
        await asyncio.gather(*(node.close(0) for node in nodes))
    for transport in transports:
        run.lost += transport.lost
        run.doubled += transport.doubled
        run.held_back += transport.held_back
    return run


@pytest.mark.parametrize("protocol", protocols.names())
def test_it_runs_in_nodes(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything arrives once, and in causal order if the protocol promises it; else not."""
    monkeypatch.setattr(turns, "TICK", 0.02)  # those with a timer would take seconds
    run = asyncio.run(asyncio.wait_for(run_nodes(protocol), 20))
    kinds = {violation.kind for violation in run.oracle.violations}
    assert not kinds & {"duplicate", "invented"}, run.oracle.violations
    assert run.oracle.undelivered() == []
    if protocols.describe(protocol).causal:
        assert run.oracle.violations == (), run.oracle.violations[0]
    elif protocol != "cykas-unsafe":  # whose mistakes are rare
        assert kinds == {"causal"}
    assert run.oracle.sends == MESSAGES * len(NAMES)
    assert run.reactions > 0 and run.lost > 0 and run.doubled > 0 and run.held_back > 0
