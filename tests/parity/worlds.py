"""Two worlds that play a script, the simulator and nodes on loopback, and report it in the same form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from beforehand import MessageId, Node
from beforehand.causality.oracle import Oracle
from beforehand.runtime.transports import Faulty, UdpTransport
from beforehand.simulator import Program, Scenario, run
from beforehand.simulator.program import Send
from beforehand.trace import Columns, Recorder, Sink

LOSS, DUPLICATE = 0.1, 0.1
COUNTED = ("send", "release", "receive", "deliver", "hold")
REORDER = 0.3  # of datagrams; in the simulator jitter does it
TIMEOUT = 30.0  # seconds for nodes to play a script, far more than they need


@dataclass
class Played:
    """What a world has done: who sent and delivered what, in a possible order."""

    oracle: Oracle = field(default_factory=Oracle)
    orders: dict[str, list[MessageId]] = field(default_factory=dict)  # deliveries of each process
    lost: int = 0
    doubled: int = 0
    reordered: int = 0
    held: int = 0
    _known: dict[str, set[MessageId]] = field(default_factory=dict)
    _past: dict[MessageId, frozenset[MessageId]] = field(default_factory=dict)

    def sends(self, process: str, to: tuple[str, ...]) -> None:
        """A process causal-sends its next message."""
        message = self.oracle.send(process, to)
        known = self._known.setdefault(process, set())
        self._past[message] = frozenset(known)
        known.add(message)

    def delivers(self, process: str, message: MessageId) -> None:
        """A process delivers a message."""
        self.oracle.deliver(process, message)
        self.orders.setdefault(process, []).append(message)
        self._known.setdefault(process, set()).update(self._past[message], [message])

    def happens_before(self) -> set[tuple[MessageId, MessageId]]:
        """All pairs of messages of which the one happened before the other."""
        return {(early, late) for late, past in self._past.items() for early in past}


# ---- the simulator ----


class Collected(Sink):
    """A sink that keeps the events of a run."""

    def __init__(self) -> None:
        self.groups: list[Columns] = []

    def write(self, columns: Columns) -> None:
        self.groups.append(columns)

    def close(self) -> None:
        return

    def rows(self, *kinds: str) -> Iterator[tuple[str, str, str | None, int, tuple[str, ...]]]:
        """Events of these kinds: process, kind, sender, number, receivers."""
        for group in self.groups:
            rows = zip(group.process, group.kind, group.sender, group.mid, group.to, strict=True)
            for process, kind, sender, mid, to in rows:
                if kind in kinds:
                    yield process, kind, sender, mid or 0, to or ()


def play_simulated(script: Program, protocol: str, seed: int) -> Played:
    """Let the simulator play a script; every frame has its own delay, so they overtake each other."""
    events = Collected()
    scenario = Scenario(
        protocol=protocol,
        workload="replay",
        program=script,
        loss=LOSS,
        duplicate=DUPLICATE,
        jitter="uniform:0ms,20ms",
        seed=seed,
    )
    with Recorder("parity", events) as recorder:
        result = run(scenario, audit=True, recorder=recorder)
    assert result.clean and result.outcome == "complete"
    played = Played(lost=result.metrics.frames_lost, doubled=result.metrics.frames_doubled)
    released: dict[tuple[str | None, int, str], int] = {}  # copy -> its place in the order of all
    latest = dict.fromkeys(script.processes, 0)  # the last one released of those that have arrived
    for process, kind, sender, number, to in events.rows(*COUNTED):
        if kind == "send":
            played.sends(process, to)
        elif kind == "deliver":
            assert sender is not None
            played.delivers(process, MessageId(sender, number))
        elif kind == "hold":
            played.held += 1
        elif kind == "release":
            released.setdefault((sender, number, to[0]), len(released))
        else:
            position = released[sender, number, process]
            played.reordered += position < latest[process]
            latest[process] = max(position, latest[process])
    return played


# ---- nodes ----


def play_on_loopback(scripts: dict[int, Program], protocol: str) -> list[Played]:
    """Let nodes play scripts over UDP that loses, duplicates and reorders, by seed.

    Each script has nodes of its own. All are played at once, since most of the time is waiting.
    """

    async def play_all() -> list[Played]:
        plays = (_play(script, protocol, seed) for seed, script in scripts.items())
        return await asyncio.gather(*plays)

    return asyncio.run(asyncio.wait_for(play_all(), TIMEOUT))


async def _play(script: Program, protocol: str, seed: int) -> Played:
    played = Played()
    nodes: dict[str, Node] = {}
    transports = []
    watching = asyncio.create_task(_watch(nodes, played))
    try:
        for position, name in enumerate(script.processes):
            transport = Faulty(
                UdpTransport(),
                loss=LOSS,
                duplicate=DUPLICATE,
                reorder=REORDER,
                seed=100 * seed + position,
            )
            others = [other for other in script.processes if other != name]
            peers = {other: nodes[other].address if other in nodes else "" for other in others}
            node = Node(name, transport=transport, peers=peers, protocol=protocol)
            nodes[name] = await node.start()
            transports.append(transport)
        await asyncio.gather(*(_act(node, script, played) for node in nodes.values()))
    finally:
        watching.cancel()
        await asyncio.gather(*(node.close(0) for node in nodes.values()))
    for transport in transports:
        played.lost += transport.lost
        played.doubled += transport.doubled
        played.reordered += transport.held_back
    return played


async def _watch(nodes: dict[str, Node], played: Played) -> None:
    """Count what waits in the nodes, sender or receiver, every now and then."""
    while True:
        played.held += sum(len(node.held()) for node in nodes.values())
        await asyncio.sleep(0.002)  # a datagram that is held back or lost makes others wait longer


async def _act(node: Node, script: Program, played: Played) -> None:
    """Play one process: send what may be sent, then take the next message."""
    own_sends = [send for send in script.sends if send.sender == node.name]
    to_come = sum(node.name in send.to for send in script.sends)
    happened: set[str] = set()  # sends of this process, and deliveries here
    while own_sends or to_come:
        while own_sends and happened.issuperset(own_sends[0].after):
            await _send(node, own_sends[0], played)
            happened.add(own_sends.pop(0).id)
        if to_come:
            message = await node.receive()
            played.delivers(node.name, message.id)
            happened.add(message.payload.decode())
            to_come -= 1


async def _send(node: Node, send: Send, played: Played) -> None:
    await node.send(send.to, send.id.encode())
    played.sends(node.name, send.to)  # before anybody else has a turn
