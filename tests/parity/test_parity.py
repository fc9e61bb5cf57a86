"""The simulator and the runtime agree: one script, the same faults, the same deliveries."""

from __future__ import annotations

import pytest

from beforehand import MessageId
from tests.parity.script import PROCESSES, write_script
from tests.parity.worlds import Played, play_on_loopback, play_simulated

SEEDS = (1, 2, 3, 4)


def respects(order: list[MessageId], before: set[tuple[MessageId, MessageId]]) -> bool:
    """Whether no message comes after one that it happened before."""
    return not any(
        (late, early) in before for index, late in enumerate(order) for early in order[:index]
    )


@pytest.mark.parametrize("protocol", ["hybrid-sps", "hybrid", "rst"])
def test_a_script_gives_the_same_deliveries_up_to_concurrency(protocol: str) -> None:
    """The same messages at each process, in orders that respect one and the same happens-before."""
    scripts = {seed: write_script(seed) for seed in SEEDS}
    simulated = [play_simulated(script, protocol, seed) for seed, script in scripts.items()]
    real = play_on_loopback(scripts, protocol)
    for seed, worlds in zip(SEEDS, zip(simulated, real, strict=True), strict=True):
        before = worlds[0].happens_before()
        assert worlds[1].happens_before() == before, f"seed {seed}"
        for name in PROCESSES:
            orders = [world.orders.get(name, []) for world in worlds]
            assert sorted(orders[0]) == sorted(orders[1]), f"seed {seed}, {name}"
            assert all(respects(order, before) for order in orders), f"seed {seed}, {name}"
        for world in worlds:
            assert world.oracle.violations == () and world.oracle.undelivered() == []
    assert_interesting(simulated)
    assert_interesting(real)
    assert any(
        one.orders[name] != other.orders[name]
        for one, other in zip(simulated, real, strict=True)
        for name in one.orders
    ), "if all orders are equal, nothing was up to concurrency"


def assert_interesting(runs: list[Played]) -> None:
    """Datagrams were lost, duplicated and overtaken, and messages had to wait for others."""
    assert sum(run.lost for run in runs) > 0
    assert sum(run.doubled for run in runs) > 0
    assert sum(run.reordered for run in runs) > 0
    assert sum(run.held for run in runs) > 0


def test_nodes_that_keep_only_the_order_of_each_sender_are_caught() -> None:
    """The control: with `fifo` the same scripts and faults break the order that others keep."""
    real = play_on_loopback({seed: write_script(seed) for seed in SEEDS}, "fifo")
    assert sum(len(world.oracle.violations) for world in real) > 0
    assert not all(
        respects(order, world.happens_before()) for world in real for order in world.orders.values()
    )


def test_the_order_of_a_script_is_what_it_says() -> None:
    """Happens-before, as it was in the runs, is what the sends of the script name, and what follows."""
    for seed in SEEDS:
        script = write_script(seed)
        numbers: dict[str, MessageId] = {}
        past: dict[str, frozenset[str]] = {}
        for send in script.sends:
            number = sum(earlier.sender == send.sender for earlier in numbers.values()) + 1
            numbers[send.id] = MessageId(send.sender, number)
            past[send.id] = frozenset(send.after).union(*(past[name] for name in send.after))
        named = {(numbers[early], numbers[late]) for late in past for early in past[late]}
        assert play_simulated(script, "hybrid-sps", seed).happens_before() == named
        everything = len(script.sends) * (len(script.sends) - 1) // 2
        assert len(script.sends) < len(named) < everything  # neither free nor a single line
