"""Hypothesis drives every core through generated schedules, and shrinks its findings."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from beforehand import protocols
from beforehand.protocols.registry import Capabilities
from tests.support.groups import world_of
from tests.support.network import World

PROCESSES = "abcdef"


class Schedules(RuleBasedStateMachine):
    """Causal-sends, arrivals in any order and, where allowed, losses, duplicates and ticks."""

    protocol: ClassVar[str]
    lossy: ClassVar[bool]  # what the network does
    wrapped: ClassVar[bool]  # inside a ReliableLink
    judged: ClassVar[bool]  # the first violation ends the run
    most: ClassVar[int]  # processes
    seen: ClassVar[Counter[str]]

    world: World
    capabilities: Capabilities

    @initialize(size=st.integers(2, 6))
    def start(self, size: int) -> None:
        names = PROCESSES[: min(size, self.most)]
        self.world = world_of(self.protocol, list(names), seed=0, link=self.wrapped)
        self.capabilities = protocols.describe(self.protocol)

    @rule(sender=st.integers(0, 5), receivers=st.integers(1, 63), count=st.sampled_from([1, 1, 3]))
    def causal_send(self, sender: int, receivers: int, count: int) -> None:
        names = list(self.world.cores)
        process = names[sender % len(names)]
        if "unicast" not in self.capabilities.casts:
            self.world.send(process, None, count=count)
            return
        to = [name for bit, name in enumerate(names) if receivers >> bit & 1] or [names[0]]
        if "multicast" not in self.capabilities.casts:
            to = to[:1]
        self.world.send(process, to, count=count)

    @precondition(lambda self: "unicast" in self.capabilities.casts)
    @rule(sender=st.integers(0, 5), rotation=st.integers(0, 5))
    def send_to_everybody_in_turn(self, sender: int, rotation: int) -> None:
        names = list(self.world.cores)
        process = names[sender % len(names)]
        others = [name for name in names if name != process]
        turn = rotation % len(others)
        for name in others[turn:] + others[:turn]:
            self.world.send(process, name)

    @precondition(lambda self: self.world.flight)
    @rule(link=st.integers(0, 100), index=st.integers(0, 100))
    def arrive(self, link: int, index: int) -> None:
        self.world.arrive(*self.pick(link, index))

    @precondition(lambda self: self.lossy and self.world.flight)
    @rule(link=st.integers(0, 100), index=st.integers(0, 100))
    def lose(self, link: int, index: int) -> None:
        self.world.take(*self.pick(link, index))
        self.world.lost += 1

    @precondition(lambda self: self.lossy and self.world.flight)
    @rule(link=st.integers(0, 100), index=st.integers(0, 100))
    def duplicate(self, link: int, index: int) -> None:
        self.world.arrive(*self.pick(link, index), keep=True)
        self.world.duplicated += 1

    @precondition(lambda self: self.lossy or self.capabilities.timer)
    @rule(process=st.integers(0, 5))
    def tick(self, process: int) -> None:
        names = list(self.world.cores)
        self.world.tick(names[process % len(names)])

    def pick(self, link: int, index: int) -> tuple[tuple[str, str], int]:
        links = sorted(self.world.flight)
        chosen = links[link % len(links)]
        return chosen, 0 if self.world.fifo else index % len(self.world.flight[chosen])

    @invariant()
    def nothing_out_of_order(self) -> None:
        if self.judged and hasattr(self, "world"):
            assert not self.world.violations, self.world.violations[0]

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.run_until_quiet(tick=self.lossy or self.capabilities.timer)
        world = self.world
        self.seen.update(
            sent=world.sent,
            held=world.held_seen,
            lost=world.lost,
            duplicated=world.duplicated,
            reordered=world.reordered,
            violations=len(world.violations),
            **world.kinds,
        )
        if self.judged:
            world.assert_causal_and_complete()
            left = [held for core in world.cores.values() for held in core.held()]
            assert not left, f"still held when all is quiet: {left[0]}"


def explore(
    protocol: str,
    *,
    lossy: bool,
    wrapped: bool = False,
    judged: bool = True,
    most: int = 6,
    examples: int = 80,
    steps: int = 50,
) -> Counter[str]:
    """Let Hypothesis explore; returns what was seen on the way."""
    seen: Counter[str] = Counter()
    members = {
        "protocol": protocol,
        "lossy": lossy,
        "wrapped": wrapped,
        "judged": judged,
        "most": most,
        "seen": seen,
    }
    machine = type(f"Schedules_{protocol}", (Schedules,), members)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True
        ),
    )
    return seen


def assert_seen(seen: Counter[str], *events: str) -> None:
    """A safety test in which nothing happened proves nothing."""
    for event in events:
        assert seen[event], f"never happened: {event}; seen: {dict(seen)}"


@pytest.mark.parametrize("protocol", ["hybrid", "hybrid-sps"])
def test_hybrids_on_a_network_that_loses_duplicates_and_reorders(protocol: str) -> None:
    """The hybrids stay causal and complete whatever the network does, by themselves."""
    seen = explore(protocol, lossy=True)
    assert_seen(seen, "held", "lost", "duplicated", "reordered", "HybridPermit", "HybridAck")


@pytest.mark.parametrize("protocol", ["hybrid", "hybrid-sps"])
def test_hybrids_need_no_timer_where_nothing_is_lost(protocol: str) -> None:
    """On a reliable network, even one that reorders, everything arrives without a single tick."""
    seen = explore(protocol, lossy=False)
    assert_seen(seen, "held", "reordered", "HybridPermit", "HybridAck")


def test_mattern_on_a_network_that_loses_duplicates_and_reorders() -> None:
    """One unacknowledged message at a time needs nothing of the network."""
    assert_seen(explore("mattern", lossy=True), "held", "lost", "duplicated", "reordered")


@pytest.mark.parametrize("protocol", ["cykas", "rst", "ks", "newtop", "vector"])
@pytest.mark.parametrize("lossy", [False, True])
def test_the_others_on_a_reliable_network_or_inside_a_reliable_link(
    protocol: str, lossy: bool
) -> None:
    """Protocols that assume a reliable network are causal on one, and in a ReliableLink on any."""
    seen = explore(protocol, lossy=lossy, wrapped=lossy)
    assert_seen(seen, "held", *(("lost", "duplicated") if lossy else ()))
    if lossy or not protocols.describe(protocol).fifo_links:
        assert_seen(seen, "reordered")


@pytest.mark.parametrize("protocol", ["fifo", "raw"])
def test_the_controls_are_caught(protocol: str) -> None:
    """The same schedules do find violations where causal order is not enforced."""
    assert_seen(explore(protocol, lossy=False, judged=False), "violations", "reordered")


def test_the_refuted_variant_of_cykas_is_caught() -> None:
    """Cykas, section 2.3: its violation is rare, so fewer processes and more, shorter schedules."""
    seen = explore("cykas-unsafe", lossy=False, judged=False, most=3, examples=1_000, steps=10)
    assert_seen(seen, "violations", "held", "CykasYouCanTell")
