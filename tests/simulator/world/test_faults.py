"""Losses and duplicates at the given rates, and partitions to the nanosecond."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.simulator.world.faults import FaultPlan, Partition
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream

START, END = 1_000, 2_000


def process(index: int) -> Process:
    """A process that does nothing."""
    name = f"p{index}"
    return Process(index, name, protocols.create("raw", name))


def faults(
    *partitions: Partition, loss: float = 0.0, duplicate: float = 0.0, seed: str = "faults"
) -> FaultPlan:
    """Some faults."""
    return FaultPlan(loss, duplicate, list(partitions), Stream(seed))


@pytest.mark.parametrize(
    ("time", "parted"), [(0, False), (999, False), (1_000, True), (1_999, True), (2_000, False)]
)
def test_a_partition_begins_at_its_start_and_is_over_at_its_end(time: int, parted: bool) -> None:
    """The start belongs to it, the end does not; it works in both directions."""
    partition = Partition(START, END, {0, 1})
    assert partition.separates(process(0), process(2), time) is parted
    assert partition.separates(process(2), process(0), time) is parted


def test_a_partition_leaves_links_within_a_side_alone() -> None:
    """Those in the group reach each other, and so do the others."""
    partition = Partition(START, END, {0, 1})
    for one, other in ((0, 1), (1, 0), (2, 3), (3, 2), (0, 0), (2, 2)):
        assert not partition.separates(process(one), process(other), 1_500)


@pytest.mark.parametrize(
    ("left", "arrives", "cut"),
    [
        (900, 999, False),  # there before it begins
        (900, 1_000, True),  # it begins at the very arrival
        (999, 1_500, True),
        (1_000, 2_500, True),  # it begins at the very leaving
        (1_500, 1_600, True),
        (1_999, 2_000, True),  # left before it was over
        (2_000, 2_000, False),
        (2_000, 3_000, False),
        (999, 2_000, False),  # in the air for all of it
    ],
)
def test_a_frame_is_cut_at_departure_or_arrival(left: int, arrives: int, cut: bool) -> None:
    """A partition that stands when a frame leaves or when it would arrive takes it."""
    cutting = faults(Partition(START, END, {0}))
    assert cutting.cuts(process(0), process(1), left, arrives) is cut
    assert cutting.cuts(process(1), process(0), left, arrives) is cut
    assert not cutting.cuts(process(1), process(2), left, arrives)


def test_any_of_several_partitions_cuts() -> None:
    """They may overlap, and each has its own sides."""
    cutting = faults(Partition(START, END, {0}), Partition(1_500, 5_000, {2}))
    assert cutting.cuts(process(0), process(1), 1_100, 1_200)
    assert not cutting.cuts(process(1), process(2), 1_100, 1_200)
    assert cutting.cuts(process(1), process(2), 1_100, 1_500)
    assert cutting.cuts(process(0), process(2), 3_000, 3_001)
    assert not cutting.cuts(process(0), process(1), 3_000, 3_001)


def test_the_last_heal() -> None:
    """The latest end, in whatever order they were given; 0 without any."""
    assert faults().last_heal() == 0
    assert faults(Partition(START, END, {0})).last_heal() == END
    first, last = Partition(0, 9_000, {0}), Partition(START, END, {1})
    assert faults(first, last).last_heal() == faults(last, first).last_heal() == 9_000


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5, 0.95])
def test_rates(rate: float) -> None:
    """So many are lost, and so many come twice, to four deviations; one does not decide the other."""
    count = 20_000
    failing = faults(loss=rate, duplicate=rate)
    lost = doubled = both = 0
    for _ in range(count):
        loses, duplicates = failing.loses(), failing.duplicates()
        lost += loses
        doubled += duplicates
        both += loses and duplicates
    for observed, share in ((lost, rate), (doubled, rate), (both, rate * rate)):
        assert abs(observed - count * share) < 4 * (count * share * (1 - share)) ** 0.5


def test_without_faults_nothing_is_lost_or_doubled() -> None:
    """And nothing is drawn: other choices from the stream stay what they were."""
    stream, twin = Stream("twin"), Stream("twin")
    perfect = FaultPlan(0.0, 0.0, [], stream)
    assert not any(perfect.loses() or perfect.duplicates() for _ in range(100))
    assert not perfect.cuts(process(0), process(1), 0, 10)
    assert stream.uniform() == twin.uniform()


def test_a_rate_of_1_always_applies() -> None:
    """A rate of 1 leaves nothing out."""
    certain = faults(loss=1.0, duplicate=1.0)
    assert all(certain.loses() and certain.duplicates() for _ in range(100))
