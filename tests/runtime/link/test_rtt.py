"""Round trips: estimates against their definition, and the waiting times that follow."""

import random

from beforehand.runtime.link.rtt import (
    GRANULARITY,
    INITIAL_RTT,
    MAX_ACK_DELAY,
    MAX_RTT,
    MILLISECOND,
    Rtt,
)


def test_before_the_first_sample() -> None:
    """Without a sample a round trip is assumed, and waiting times are long."""
    rtt = Rtt()
    assert (rtt.smoothed, rtt.latest, rtt.minimum) == (INITIAL_RTT, 0, 0)
    assert rtt.timeout() == 3 * INITIAL_RTT + MAX_ACK_DELAY


def test_first_sample_replaces_the_assumption() -> None:
    """The first sample is the estimate, with half of it as variation, whatever the peer's delay."""
    rtt = Rtt()
    rtt.sample(20 * MILLISECOND, 5 * MILLISECOND)
    assert rtt.smoothed == rtt.latest == rtt.minimum == 20 * MILLISECOND
    assert rtt.variation == 10 * MILLISECOND


def test_the_delay_of_the_peer_is_taken_off() -> None:
    """A delay that the peer reports does not count as round-trip time."""
    rtt = Rtt()
    rtt.sample(20 * MILLISECOND, 0)
    for _ in range(100):
        rtt.sample(28 * MILLISECOND, 8 * MILLISECOND)
    assert rtt.latest == 28 * MILLISECOND
    assert rtt.smoothed - 20 * MILLISECOND < 100
    assert rtt.variation < 100


def test_a_reported_delay_is_limited() -> None:
    """A delay beyond the limit counts as the limit; one that beats the shortest sample, not at all."""
    rtt = Rtt()
    rtt.sample(20 * MILLISECOND, 0)
    rtt.sample(60 * MILLISECOND, 40 * MILLISECOND)  # 50 ms remain
    assert rtt.smoothed == 20 * MILLISECOND + 30 * MILLISECOND // 8
    before = rtt.smoothed
    rtt.sample(21 * MILLISECOND, 9 * MILLISECOND)
    assert rtt.smoothed == before + (21 * MILLISECOND - before >> 3)


def test_smoothing_follows_the_definition() -> None:
    """Many samples give what the formulas of RFC 6298 give in fractions."""
    rng = random.Random(3)
    rtt = Rtt()
    smoothed = variation = 0.0
    for count in range(500):
        elapsed = rng.randrange(MILLISECOND, 50 * MILLISECOND)
        rtt.sample(elapsed, 0)
        if count == 0:
            smoothed, variation = elapsed, elapsed / 2
        else:
            variation = 0.75 * variation + 0.25 * abs(smoothed - elapsed)
            smoothed = 0.875 * smoothed + 0.125 * elapsed
        assert abs(int(rtt.smoothed) - smoothed) < 10
        assert abs(int(rtt.variation) - variation) < 10


def test_waiting_times() -> None:
    """The probe timeout and the patience with late packets, and that timers are coarse."""
    rtt = Rtt()
    rtt.sample(40 * MILLISECOND, 0)
    assert rtt.timeout() == 120 * MILLISECOND + MAX_ACK_DELAY
    assert rtt.patience() == 45 * MILLISECOND
    assert rtt.most_slack() == 40 * MILLISECOND
    rtt.sample(80 * MILLISECOND, 0)
    assert rtt.patience() == 90 * MILLISECOND  # the latest is more than the smoothed one
    fast = Rtt()
    for _ in range(100):
        fast.sample(50_000, 0)
    assert fast.patience() == GRANULARITY
    assert fast.most_slack() == MAX_ACK_DELAY
    assert fast.timeout() == 50_000 + GRANULARITY + MAX_ACK_DELAY


def test_impossible_samples() -> None:
    """A clock that stands still and a machine that slept give estimates that can be used."""
    rtt = Rtt()
    rtt.sample(0, 0)
    assert rtt.smoothed == 1
    asleep = Rtt()
    asleep.sample(10**16, 0)
    assert asleep.smoothed == MAX_RTT
