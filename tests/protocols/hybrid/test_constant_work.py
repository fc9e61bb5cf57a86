"""The hybrids do amortised constant work per message: shown by counting executed lines.

Almeida claims O(1) amortised per message, independent of the number of processes (Table 1). Here
the number of processes, and of messages in flight, grows a hundredfold; the lines per message do not.
"""

from __future__ import annotations

import pytest

from beforehand.protocols.clocks.ks import Ks
from beforehand.protocols.clocks.newtop import Newtop, NewtopMessage
from beforehand.protocols.clocks.rst import Rst
from beforehand.protocols.clocks.vector import Vector
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.sps import HybridSps
from tests.support.work import COUNTABLE, counted_lines

pytestmark = pytest.mark.skipif(not COUNTABLE, reason="compiled cores execute no lines to count")

VARIANTS = [Hybrid, HybridSps]
FLAT = 1.15  # the largest growth, from the smallest size to a hundred times it, that counts as none
SIZES = (10, 100, 1_000)


def assert_flat(work: list[float], growing: str) -> None:
    """Neither size does noticeably more per message than the smallest one."""
    assert max(work) <= FLAT * work[0], f"lines per message as sizes grow, {growing}: {work}"


def pump(cores: dict[str, Core], process: str, effects: list[Effect]) -> None:
    """Carry out everything at once, depth first."""
    todo = [(process, effect) for effect in effects]
    while todo:
        source, effect = todo.pop()
        if isinstance(effect, Transmit):
            todo += [(effect.to, e) for e in cores[effect.to].receive(source, effect.frame)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("group", [1, 3])
def test_work_does_not_depend_on_the_number_of_processes(
    variant: type[HybridCore], group: int
) -> None:
    """A dozen peers each, 20 to 2,000 processes: the same lines for each message."""
    work = []
    for size in (20, 200, 2_000):
        names = [f"p{number}" for number in range(size)]
        cores: dict[str, Core] = {name: variant(name) for name in names}
        messages = 0
        with counted_lines() as lines:
            for number, name in enumerate(names[:200]):
                for step in range(1, 11):
                    to = [names[(number + step + k) % size] for k in range(group)]
                    pump(cores, name, cores[name].send(to, b"x"))
                    messages += 1
        work.append(lines.count / messages)
    assert_flat(work, f"{variant.__name__}, groups of {group}")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("newest_first", [False, True])
def test_work_does_not_depend_on_the_number_of_messages_in_flight(
    variant: type[HybridCore], newest_first: bool
) -> None:
    """Messages to ever changing receivers, all open at once, acknowledged in either order."""
    work = []
    for size in SIZES:
        core = variant("a")
        receivers = [f"p{number % 7}" for number in range(size)]
        with counted_lines() as lines:
            for receiver in receivers:
                core.send(receiver, b"x")
            assert len(core.runs) == size, "nothing may merge: all are open at once"
            acks = list(enumerate(receivers, start=1))
            for mid, receiver in reversed(acks) if newest_first else acks:
                core.receive(receiver, HybridAck(mid))
        assert len(core.runs) == 0
        work.append(lines.count / size)
    assert_flat(work, f"{variant.__name__}, newest first: {newest_first}")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("newest_first", [False, True])
def test_work_does_not_depend_on_the_number_of_permits_missing(
    variant: type[HybridCore], newest_first: bool
) -> None:
    """A message between every two secrets of several senders, released as the permits come."""
    work = []
    for size in SIZES:
        core = variant("a")
        senders = [f"s{number % 5}" for number in range(size)]
        released = 0
        with counted_lines() as lines:
            for mid, sender in enumerate(senders, start=1):
                core.receive(sender, HybridMessage(mid, max(mid - 5, 0), True, (b"x",)))
                released += len(core.send("x", b"x")) + len(core.send(sender, b"x"))
            assert len(core.missing) == size
            permits = list(enumerate(senders, start=1))
            for mid, sender in reversed(permits) if newest_first else permits:
                released += len(core.receive(sender, HybridPermit(mid)))
        assert not core.held() and released == 2 * size
        work.append(lines.count / size)
    assert_flat(work, f"{variant.__name__}, newest first: {newest_first}")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_costs_per_run(variant: type[HybridCore]) -> None:
    """A batch of a hundred takes about as many lines as a single message, deliveries aside."""
    work = []
    for count in (1, 100):
        a, b = variant("a"), variant("b")
        with counted_lines() as lines:
            (sent,) = a.send_many("b", [b"x"] * count)
            assert isinstance(sent, Transmit)
        send_lines = lines.count
        *_, ack = b.receive("a", sent.frame)
        assert isinstance(ack, Transmit)
        with counted_lines() as lines:
            a.receive("b", ack.frame)
        work.append(send_lines + lines.count)
    assert work[1] <= work[0] + 3 * 100, work  # three lines a message check that it is bytes


@pytest.mark.parametrize("kind", [Rst, Ks])
def test_waiting_at_the_receiver_is_not_rescanned(kind: type[Rst] | type[Ks]) -> None:
    """`rst` and `ks`: messages that come in reverse order cost the same each, however many wait."""
    work = []
    for size in SIZES[:2]:
        a, b = kind("a", ["a", "b"]), kind("b", ["a", "b"])
        sent = [effect for _ in range(size) for effect in a.send("b", b"x")]
        with counted_lines() as lines:
            for transmit in reversed(sent):
                assert isinstance(transmit, Transmit)
                b.receive("a", transmit.frame)
        assert not b.held()
        work.append(lines.count / size)
    assert work[1] <= FLAT * work[0], work


def test_waiting_broadcasts_are_not_rescanned() -> None:
    """The same for `vector`."""
    work = []
    for size in SIZES[:2]:
        a, b = Vector("a", ["a", "b"]), Vector("b", ["a", "b"])
        sent = [effect for _ in range(size) for effect in a.send(None, b"x")]
        with counted_lines() as lines:
            for effect in reversed(sent):
                if isinstance(effect, Transmit):
                    b.receive("a", effect.frame)
        assert not b.held() and b.clock == [size, 0]
        work.append(lines.count / size)
    assert work[1] <= FLAT * work[0], work


def test_newtop_does_not_look_at_the_whole_group_at_each_arrival() -> None:
    """Whichever peer was the last to catch up: the lines stay the same."""
    work = []
    for size in SIZES:
        names = [f"p{index:04}" for index in range(size)]
        core = Newtop(names[0], names)
        with counted_lines() as lines:
            for clock in range(1, 4):
                for name in names[1:]:
                    core.receive(name, NewtopMessage(clock, clock, b"x"))
        assert not core.held()
        work.append(lines.count / size)
    assert_flat(work, "newtop")


def test_the_count_does_see_work_that_grows() -> None:
    """Matrix clocks, counted alike, do grow with the number of processes."""
    work = []
    for size in SIZES[:2]:
        names = [f"p{number}" for number in range(size)]
        a, b = Rst("p0", names), Rst("p1", names)
        with counted_lines() as lines:
            for _ in range(10):
                (sent,) = a.send("p1", b"x")
                assert isinstance(sent, Transmit)
                b.receive("p0", sent.frame)
        work.append(lines.count)
    assert work[1] > 3 * work[0], work
