"""Limits for late packets: raised by spurious losses, bounded, and lowered again."""

from beforehand.runtime.link.reordering import (
    FEWEST_PACKETS,
    MAX_PACKETS,
    MAX_REMEMBERED,
    PERIOD,
    Loss,
    Reordering,
)


def test_spurious_losses_raise_the_limits() -> None:
    """Packets that come 20 numbers late are soon no longer taken for lost."""
    reordering = Reordering()
    assert (reordering.packets, reordering.slack) == (FEWEST_PACKETS, 0)
    reordering.adapt(20, -5, 1000)
    assert reordering.packets == 12  # half the way
    for _ in range(10):
        reordering.adapt(20, 0, 1000)
    assert (reordering.packets, reordering.slack) == (21, 0)


def test_slow_packets_get_more_time() -> None:
    """Packets that need 100 ns more than allowed soon have them."""
    reordering = Reordering()
    reordering.adapt(1, 100, 1000)
    assert (reordering.packets, reordering.slack) == (FEWEST_PACKETS, 50)
    for _ in range(10):
        reordering.adapt(1, 100 - reordering.slack, 1000)
    assert reordering.slack == 100


def test_limits_are_bounded() -> None:
    """No mistake makes the limits so high that true losses are found too late."""
    reordering = Reordering()
    for _ in range(100):
        reordering.adapt(10**6, 10**6, 1000)
    assert (reordering.packets, reordering.slack) == (MAX_PACKETS, 1000)


def test_limits_come_down() -> None:
    """Without reordering the limits slowly return to where they started."""
    reordering = Reordering()
    for _ in range(100):
        reordering.adapt(50, 800, 800)
    reordering.passed(PERIOD - 1)
    assert reordering.packets == 51
    reordering.passed(1)  # the period of the mistakes themselves
    assert (reordering.packets, reordering.slack) == (51, 800)
    reordering.passed(PERIOD)
    assert (reordering.packets, reordering.slack) == (45, 700)
    for _ in range(60):
        reordering.passed(PERIOD)
    assert (reordering.packets, reordering.slack) == (FEWEST_PACKETS, 0)


def test_limits_stay_where_they_are_needed() -> None:
    """Packets that come late but in time keep the limit from falling below what they need."""
    reordering = Reordering()
    for _ in range(100):
        reordering.adapt(50, 0, 0)
    for _ in range(100):
        reordering.came_late(10)
        reordering.passed(PERIOD)
    assert reordering.packets == 11


def test_spurious_losses_are_reported() -> None:
    """Acknowledged losses are reported as spurious, once; old ones are forgotten."""
    reordering = Reordering()
    for number in (2, 5, 6, 11, 15):
        reordering.remember(Loss(number, 0, number * 10, 1))
    spurious = reordering.spurious([(16, 20), (11, 13), (3, 5)], 25)
    assert [loss.number for loss in spurious] == [5, 11]
    assert [loss.number for loss in reordering.losses] == [6, 15]  # 2 was found at 20
    assert reordering.spurious([(16, 20), (11, 13), (3, 5)], 25) == []


def test_memory_is_bounded() -> None:
    """Of very many losses the newest are remembered."""
    reordering = Reordering()
    for number in range(1000):
        reordering.remember(Loss(number, 0, 0, 1))
    assert [loss.number for loss in reordering.losses] == list(range(1000 - MAX_REMEMBERED, 1000))
