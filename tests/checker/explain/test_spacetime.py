"""Space-time diagrams: their exact text, and that nothing is omitted."""

from __future__ import annotations

from textwrap import dedent

import pytest

from beforehand import protocols
from beforehand.causality.history import Delivery
from beforehand.checker.explain.run_events import run_events
from beforehand.checker.explain.spacetime import spacetime
from beforehand.checker.program import OpenStep
from beforehand.checker.setting import FaultBudget, Setting, setting
from beforehand.checker.world import CheckedWorld, replay
from tests.checker.runs import random_run, written_run

SEEDS = range(4)
FAULTY = FaultBudget(loss=1, duplicate=1, tick=1)


def drawn(explored: Setting, text: str, width: int = 80) -> str:
    """The diagram of a run given as text."""
    return "\n".join(spacetime(explored, written_run(explored, text), width)) + "\n"


def test_the_diagram_of_a_violation() -> None:
    """Sends, holds, releases, arrivals and deliveries in their columns, and a mark at the wrong one."""
    unsafe = setting("cykas-unsafe", sends=[2, 2, 1])
    text = "a>b a>c b>a b>c c<a c>b c<b b<c2 b<a"
    assert drawn(unsafe, text) == dedent(
        """\
           a                        b                        c
        1  sends a#1 to b           |                        |
        2  sends a#2 to c, eager    |                        |
        3  |                        sends b#1 to a           |
        4  |                        sends b#2 to c, eager    |
        5  |                        |                        a#2 arrives
           |                        |                        delivers a#2
           |                        |                        (ack a#2 to a)
        6  |                        |                        sends c#1 to b
           |                        |                        holds c#1 until
           |                        |                          you-can-tell of a
        7  |                        |                        b#2 arrives
           |                        |                        delivers b#2
           |                        |                        (ack b#2 to b)
           |                        |                        releases c#1 to b
        8  |                        c#1 arrives              |
           |                        delivers c#1             |
           |                        (ack c#1 to c)           |
        9  |                        a#1 arrives              |
           |                        !! delivers a#1          |
        """
    )


def test_faults_and_timers_are_drawn() -> None:
    """A frame that is lost, one that comes twice, and the timers that repair it, all in one step."""
    lossy = setting("mattern", sends=[1, 0], faults=FAULTY)
    assert drawn(lossy, "a>b b<a! ~ b<a= a<b b<a") == dedent(
        """\
           a                                   b
        1  sends a#1 to b                      |
        2  |                                   a#1 from a is lost
        3  (timer)                             |
           releases a#1 to b again             |
           |                                   (timer)
        4  |                                   a#1 arrives, and another copy will
           |                                   delivers a#1
           |                                   (ack a#1 to a)
        5  (ack a#1 from b)                    |
        6  |                                   a#1 arrives again
           |                                   (ack a#1 to a)
        """
    )


def test_links_and_relays_are_drawn() -> None:
    """The relay of a message is named where the message arrives, and opened links are shown."""
    star = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")]
    added = setting("link-memory", sends=[1, 0, 0], links=star, opens=[("b", OpenStep("c"))])
    assert drawn(added, "a>* c<a b+c b<a c<b c<b") == dedent(
        """\
           a                        b                        c
        1  sends a#1 to everybody   |                        |
           delivers a#1             |                        |
        2  |                        |                        a#1 arrives
           |                        |                        passes a#1 on to a
           |                        |                        delivers a#1
        3  |                        opens a link to c        |
           |                        (linked to c)            |
        4  |                        a#1 arrives              |
           |                        passes a#1 on to a       |
           |                        passes a#1 on to c       |
           |                        delivers a#1             |
        5  |                        |                        (linked from b)
        6  |                        |                        a#1 arrives from b
           |                        |                          again
           |                        |                        passes a#1 on to a
           |                        |                          again
           |                        |                        !! delivers a#1
        """
    )


def test_permits_are_drawn_in_narrow_columns_too() -> None:
    """A flagged message, its receiver that waits for the permit, and lines that wrap."""
    hybrid = setting("hybrid", sends=[2, 1, 0])
    text = drawn(hybrid, "a>c a>b b<a b>c a<b c<a a<c b<a c<b", width=60)
    assert max(map(len, text.splitlines())) <= 60
    for line in (
        "2  sends a#2 to b,    |                  |",
        "     needs permit     |                  |",
        "   |                  holds b#1 until    |",
        "   |                    permit of a      |",
        "   (permit a#2 to b)  |                  |",
        "8  |                  (permit a#2 from   |",
        "   |                    a)               |",
        "   |                  releases b#1 to c  |",
    ):
        assert line in text.splitlines(), line


@pytest.mark.parametrize("name", protocols.names())
def test_every_event_of_random_runs_is_in_its_column(name: str) -> None:
    """Lines stay within their width, each step has its number, and each delivery is in its column."""
    opens = [("a", OpenStep("c"))] if protocols.describe(name).overlay == "links" else []
    explored = setting(name, processes=4, messages=1, faults=FAULTY, opens=opens)
    for seed in SEEDS:
        run = random_run(explored, seed)
        head, *lines = spacetime(explored, run)
        assert all(len(line) <= 80 for line in lines), seed
        numbers = [line.split()[0] for line in lines if line[:3].strip()]
        steps_with_events = {event.step for event in run_events(explored, run)}
        assert numbers == [str(step) for step in sorted(steps_with_events)], seed
        world, _ = replay(explored, run)
        for process in explored.processes:
            start = head.index(process)
            cells = [line[start:].split("  ")[0] for line in lines]
            shown = [cell.split()[-1] for cell in cells if "delivers" in cell]
            assert shown == delivered(world, process), f"{process}, seed {seed}"


def delivered(world: CheckedWorld, process: str) -> list[str]:
    """What a process delivered, according to the oracle; the last delivery may be a violation."""
    deliveries = [
        event.message
        for event in world.oracle.history.events(process)
        if isinstance(event, Delivery)
    ]
    twice = [
        violation.message
        for violation in world.oracle.violations
        if violation.kind == "duplicate" and violation.process == process
    ]
    return [str(message) for message in deliveries + twice]
