"""The programs of a cluster: their scripts, how a process acts in one, and what users saw."""

from __future__ import annotations

import asyncio

import pytest

from beforehand import Node
from beforehand.errors import BeforehandError
from beforehand.runtime.cluster.plan import RANDOM, ClusterPlan
from beforehand.runtime.cluster.programs import PROGRAMS
from beforehand.runtime.cluster.programs.actor import Actor, LogEntry
from beforehand.runtime.cluster.programs.incident import (
    Incident,
    incidents,
    message_ids,
    screen,
)
from beforehand.runtime.cluster.programs.script import Line, index_of, payload_of
from beforehand.runtime.transports.memory import MemoryNetwork
from tests.runtime.nodes import run

# A question, its answer, and what carol must not see in the wrong order.
SCRIPT = (
    Line("alice", ("bob", "carol"), "Pizza?"),
    Line("bob", ("alice", "carol"), "Pizza!", after=0, needs=0),
)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("nodes", [3, 4, 10])
def test_every_line_can_be_sent(program: str, nodes: int) -> None:
    """Its cause comes first and reaches its sender, and what a receiver needs is among its causes."""
    plan = ClusterPlan(nodes=nodes, messages=60, program=program)
    script = plan.script
    assert 57 <= len(script) <= 60 and len(plan.names) == len(set(plan.names)) == nodes
    assert sum(map(plan.share, plan.names)) == len(script)
    for index, line in enumerate(script):
        assert line.sender in plan.names and set(line.to) < set(plan.names)
        if line.after is not None:
            cause = script[line.after]
            assert line.after < index and line.sender in (cause.sender, *cause.to)
        if line.needs is not None:
            seen_by = {script[line.needs].sender, *script[line.needs].to}
            assert seen_by >= set(line.to), "somebody would wait for what it never gets"
    assert any(line.needs is not None for line in script)


def test_a_line_survives_the_wire() -> None:
    """A receiver recognises it, whatever its text."""
    line = Line("alice", ("bob",), "1 of 2: “yes”")
    assert index_of(payload_of(17, line)) == 17


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"program": "opera"}, "there is no program 'opera'; choose random, chat or shop"),
        ({"program": "chat", "nodes": 2}, "nodes is 2; give a number from 3 to 64"),
        ({"program": "shop", "messages": 10**6}, "messages is 1000000; give a number"),
        ({"program": "shop", "kill": 1}, "the program shop needs all of its processes"),
        ({"program": "chat", "protocol": "vector"}, "vector cannot send to several receivers"),
    ],
)
def test_impossible_programs_are_refused(wrong: dict[str, object], problem: str) -> None:
    """With what would be possible."""
    with pytest.raises(BeforehandError, match=problem):
        ClusterPlan(**wrong)  # type: ignore[arg-type]
    assert ClusterPlan(program=RANDOM).script == ()


def test_actors_perform_a_script() -> None:
    """Each line is sent once, after its cause, and logged by its sender and by its receivers."""

    async def main() -> None:
        network = MemoryNetwork()
        names = ("alice", "bob", "carol")
        nodes = {
            name: Node(
                name,
                peers={other: other for other in names if other != name},
                transport=network.transport(name),
            )
            for name in names
        }
        async with nodes["alice"], nodes["bob"], nodes["carol"]:
            actors = {name: Actor(node, SCRIPT) for name, node in nodes.items()}
            await asyncio.gather(*(actor.perform() for actor in actors.values()))
        logs = {name: actor.log for name, actor in actors.items()}
        assert [(entry.line, entry.sent) for entry in logs["alice"]] == [(0, True), (1, False)]
        assert [(entry.line, entry.sent) for entry in logs["bob"]] == [(0, False), (1, True)]
        assert [entry.line for entry in logs["carol"]] == [0, 1]  # it is a causal protocol
        assert actors["bob"].reactions == 1 and actors["alice"].reactions == 0
        assert incidents(SCRIPT, logs) == []
        assert list(map(str, message_ids(logs, (0, 1)))) == ["alice#1", "bob#1"]

    run(main())


def test_an_incident_is_what_a_user_saw_too_early() -> None:
    """And the first one by time, not by process; own lines are no surprise to their sender."""
    logs = {
        "alice": [LogEntry(0, 1, True, 10), LogEntry(1, 1, False, 40)],
        "bob": [LogEntry(0, 1, False, 20), LogEntry(1, 1, True, 25)],
        "carol": [LogEntry(1, 1, False, 30), LogEntry(0, 1, False, 50)],
        "dave": [LogEntry(1, 1, False, 28)],
    }
    first, second = incidents(SCRIPT, logs)
    assert first == Incident("dave", (0, 1), 28)
    assert second == Incident("carol", (0, 1), 30) and (second.early, second.late) == (1, 0)
    shown = [(line.sender, line.text, line.time_ns) for line in screen(SCRIPT, logs, second)]
    assert shown == [("bob", "Pizza!", 30), ("alice", "Pizza?", 50)]


def test_the_chain_of_an_incident_has_every_step() -> None:
    """A shop charges because of an order, which follows the payment that the bank misses."""
    script = PROGRAMS["shop"].script(["customer", "shop", "bank"], 3)
    [incident] = incidents(script, {"bank": [LogEntry(2, 1, False, 5), LogEntry(0, 1, False, 6)]})
    assert incident.chain == (0, 1, 2)
    sentence = PROGRAMS["shop"].explain("bank", script[2], script[0])
    assert sentence == (
        "the bank got the shop's “charge 10 for order 1” before the customer's “I pay 10 for order "
        "1”, so it refused an order that was paid."
    )
