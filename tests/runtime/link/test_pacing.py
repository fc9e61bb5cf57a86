"""Pacing: never more than the rate allows, nearly as much, and nothing held back on short paths."""

import random

import pytest

from beforehand.runtime.link.congestion import MAX_WINDOW
from beforehand.runtime.link.pacing import LONGEST_BURST, Pacer
from beforehand.runtime.link.rtt import MAX_RTT, MILLISECOND

D = 1400


@pytest.mark.parametrize(
    ("window", "smoothed", "starting", "wakes"),
    [
        (100 * D, 50 * MILLISECOND, False, 1 * MILLISECOND),  # a usual path
        (100 * D, 50 * MILLISECOND, True, 1 * MILLISECOND),
        (4 * D, 300 * MILLISECOND, False, 10_000),  # less than a byte per wake-up
        (1_000 * D, 20 * MILLISECOND, False, 1 * MILLISECOND),  # many datagrams per wake-up
    ],
)
def test_over_a_long_time(window: int, smoothed: int, starting: bool, wakes: int) -> None:
    """A sender that sends all it may, when it happens to wake up, keeps the rate."""
    rng = random.Random(window)
    pacer = Pacer(D)
    pacer.set_rate(window, smoothed, starting)
    rate = (2 if starting else 1.25) * window / smoothed
    burst = max(16 * D, rate * LONGEST_BURST)
    start = now = 10**12
    sent = held_back = 0
    for _ in range(3000):
        while pacer.allowed(now) > 0:
            pacer.sent(D, now)
            sent += D
        held_back += pacer.when(now) > 0
        assert sent <= rate * (now - start) + burst + D
        now += rng.randrange(2 * wakes)
    assert held_back == 3000
    assert sent >= 0.99 * rate * (now - start) - D


def test_when_there_is_room() -> None:
    """`when` returns the first time at which a datagram may be sent."""
    pacer = Pacer(D)
    pacer.set_rate(32 * D, 100 * MILLISECOND, False)
    now = 10**12
    assert pacer.when(now) == 0 and pacer.allowed(now) >= 15 * D
    while pacer.allowed(now) >= D:
        pacer.sent(D, now)
    when = pacer.when(now)
    assert now < when < now + 3 * MILLISECOND
    assert pacer.allowed(when) >= D > pacer.allowed(when - 2)
    assert pacer.when(when) == 0


def test_a_burst_and_no_more() -> None:
    """After any silence only a burst may go at once."""
    pacer = Pacer(D)
    pacer.set_rate(32 * D, 100 * MILLISECOND, False)
    pacer.sent(D, 5)
    assert pacer.allowed(10**15) <= 16 * D


def test_short_paths_are_not_held_back() -> None:
    """With round trips of loopback a whole window may always go at once."""
    for smoothed in (10_000, 100_000, 2 * MILLISECOND):
        for window in (4 * D, 32 * D, 5_000 * D):
            pacer = Pacer(D)
            pacer.set_rate(window, smoothed, False)
            now = 10**12
            for _ in range(20):
                assert pacer.allowed(now) >= window
                pacer.sent(window, now)
                now += smoothed


def test_extreme_rates_fit() -> None:
    """The largest and smallest rates that can be set give sensible numbers."""
    for window, smoothed in ((MAX_WINDOW, 1), (MAX_WINDOW, MAX_RTT), (4 * 65_000, MAX_RTT)):
        pacer = Pacer(65_000)
        pacer.set_rate(window, smoothed, True)
        now = 10**15
        assert pacer.allowed(now) >= 15 * 65_000
        pacer.sent(65_000, now)
        assert 0 < pacer.allowed(now + 1) < 2**62
