"""Uplinks and travel times, worked out by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand import protocols
from beforehand.simulator.specs import delay as read_delay
from beforehand.simulator.world.distributions import Constant, Distribution, Uniform
from beforehand.simulator.world.network import Delay, EqualDelay, Network
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream

MS = 10**6
SECOND = 10**9


def process(index: int) -> Process:
    """A process that does nothing."""
    name = f"p{index}"
    return Process(index, name, protocols.create("raw", name))


def network(
    delay: Delay | None = None,
    jitter: Distribution | None = None,
    bandwidth: int = 0,
    header: int = 0,
    fifo: bool = False,
) -> Network:
    """A network; what is not given, it does not have."""
    return Network(
        delay or EqualDelay(Constant(0)),
        jitter or Constant(0),
        bandwidth,
        header,
        fifo,
        Stream("network"),
    )


def test_without_a_limit_frames_leave_at_once() -> None:
    """Whatever their size, and however many."""
    unlimited, sender = network(header=28), process(0)
    assert [unlimited.leaves(sender, size, 7) for size in (0, 1, 10**9)] == [7, 7, 7]
    assert sender.uplink_free_at == 0


def test_an_uplink_by_hand() -> None:
    """At 1,000 bytes per second each byte takes a millisecond, those of the header too."""
    slow, sender = network(bandwidth=1_000, header=28), process(0)
    assert slow.leaves(sender, 72, 0) == 100 * MS
    assert slow.leaves(sender, 22, 0) == 150 * MS, "back to back: it starts when the first is out"
    assert slow.leaves(sender, 0, 149 * MS) == 178 * MS, "the header alone, still behind the second"
    assert slow.leaves(sender, 72, 178 * MS) == 278 * MS, "at the very moment at which it is free"
    assert slow.leaves(sender, 72, 500 * MS) == 600 * MS, "after a gap nothing is left to wait for"
    assert sender.uplink_free_at == 600 * MS


def test_each_process_has_an_uplink_of_its_own() -> None:
    """A burst of one does not delay another."""
    slow, one, other = network(bandwidth=1_000), process(0), process(1)
    for number in range(1, 6):
        assert slow.leaves(one, 1_000, 0) == number * SECOND
    assert slow.leaves(other, 1, 0) == MS


@pytest.mark.parametrize(
    ("size", "bandwidth", "took"),
    [
        (1, 3, 333_333_334),  # a third of a second, and a little
        (2, 3, 666_666_667),
        (3, 3, SECOND),
        (1, 10**9, 1),
        (1, 10**9 + 1, 1),  # less than a nanosecond is one
        (1, 10**12, 1),
        (1_001, 10**12, 2),
        (0, 5, 0),
        (10**9, 1, 10**18),  # a second for each of a billion bytes
    ],
)
def test_the_time_on_the_uplink_is_rounded_up(size: int, bandwidth: int, took: int) -> None:
    """No frame is free."""
    assert network(bandwidth=bandwidth).leaves(process(0), size, 0) == took


frames = st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 3 * MS)), max_size=30)


@given(frames, st.integers(1, 10**10), st.integers(0, 100))
def test_an_uplink_against_the_formula(
    handed: list[tuple[int, int]], bandwidth: int, header: int
) -> None:
    """Each frame starts when it is there and the one before is out, and takes bytes by bandwidth."""
    limited, sender = network(bandwidth=bandwidth, header=header), process(0)
    now, free = 0, 0
    for size, pause in handed:
        now += pause
        free = max(now, free) - (-(size + header) * SECOND // bandwidth)
        assert limited.leaves(sender, size, now) == free


def test_the_travel_time_is_counted_from_leaving() -> None:
    """Delay and jitter are added to the moment at which the last byte was out."""
    steady = network(EqualDelay(Constant(5 * MS)), Constant(2 * MS))
    assert steady.arrives(process(0), process(1), 30 * MS) == 37 * MS
    assert network().arrives(process(0), process(1), 30 * MS) == 30 * MS


def test_the_delay_goes_by_both_ends_and_by_the_time_of_leaving() -> None:
    """The right indices and the right moment are handed to the delay."""
    sites = network(read_delay("matrix:1ms,2ms;3ms,4ms", 2))
    assert sites.arrives(process(0), process(1), 0) == 2 * MS
    assert sites.arrives(process(1), process(0), 0) == 3 * MS
    growing = network(read_delay("schedule:0s=0s,10s=10s", 2))
    assert growing.arrives(process(0), process(1), 4 * SECOND) == 8 * SECOND


def test_jitter_is_drawn_anew_for_each_frame() -> None:
    """Between its bounds, and not always the same."""
    shaky = network(EqualDelay(Constant(5 * MS)), Uniform(1 * MS, 3 * MS))
    arrivals = [shaky.arrives(process(0), process(1), 0) for _ in range(100)]
    assert all(6 * MS <= arrival <= 8 * MS for arrival in arrivals)
    assert len(set(arrivals)) > 90


def arrivals_of_a_burst(fifo: bool) -> list[int]:
    """When 200 frames arrive that left one after the other, a nanosecond apart."""
    shaky = network(EqualDelay(Constant(5 * MS)), Uniform(0, 10 * MS), fifo=fifo)
    sender, receiver = process(0), process(1)
    return [int(shaky.arrives(sender, receiver, left)) for left in range(200)]


def test_fifo_links_keep_the_order() -> None:
    """No frame overtakes: one that would because of its jitter arrives with its predecessor."""
    fifo, free = arrivals_of_a_burst(True), arrivals_of_a_burst(False)
    assert fifo == sorted(fifo)
    assert fifo == [max(free[: position + 1]) for position in range(200)]


def test_links_without_fifo_reorder_frames() -> None:
    """The same frames overtake each other."""
    free = arrivals_of_a_burst(False)
    assert free != sorted(free)
    assert sum(later < earlier for earlier, later in pairwise(free)) > 50


def test_order_is_kept_on_each_link_by_itself() -> None:
    """A slow frame holds up what follows on its link, and neither the way back nor other links."""
    links = network(jitter=Uniform(0, 100 * MS), fifo=True)
    one, two, three = process(0), process(1), process(2)
    slowest = max(links.arrives(one, two, 0) for _ in range(50))
    assert [links.arrives(one, two, 0) for _ in range(3)] == [slowest] * 3
    for sender, receiver in ((two, one), (one, three), (three, two)):
        assert links.arrives(sender, receiver, 0) < slowest
