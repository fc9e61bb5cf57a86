"""How long a packet and its acknowledgement take, and what waiting times follow from that.

The estimates of RFC 6298 with the sharper samples of RFC 9002: a packet number is never used twice,
so every sample is unambiguous, and the peer says how long it sat on the acknowledgement. That is
believed up to `MAX_ACK_DELAY`, and never so far that the sample falls below the shortest one seen.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

MILLISECOND: Final = 1_000_000  # nanoseconds

INITIAL_RTT: Final = 100 * MILLISECOND  # before the first sample: most networks are faster
GRANULARITY: Final = MILLISECOND  # timers of event loops are not finer than that
MAX_ACK_DELAY: Final = 10 * MILLISECOND  # peers acknowledge sooner, unless they are very busy
MAX_RTT: Final = 60_000 * MILLISECOND  # longer is no network, but a machine that was asleep


class Rtt:
    """The round trips to one peer, in nanoseconds."""

    smoothed: i64
    variation: i64
    latest: i64  # 0 before the first sample, like `minimum`
    minimum: i64

    def __init__(self) -> None:
        self.smoothed = INITIAL_RTT
        self.variation = INITIAL_RTT // 2
        self.latest = 0
        self.minimum = 0

    def sample(self, elapsed: i64, delay: i64) -> None:
        """A packet was acknowledged after some time, of which the peer waited `delay`."""
        if elapsed < 1:
            elapsed = 1  # a clock may stand still, but no estimate is ever zero
        elif elapsed > MAX_RTT:
            elapsed = MAX_RTT
        if self.latest == 0:
            self.latest = self.minimum = self.smoothed = elapsed
            self.variation = elapsed >> 1
            return
        self.latest = elapsed
        if elapsed < self.minimum:
            self.minimum = elapsed
        if delay > MAX_ACK_DELAY:
            delay = MAX_ACK_DELAY
        if elapsed - delay >= self.minimum:
            elapsed -= delay
        error = self.smoothed - elapsed
        if error < 0:
            error = -error
        self.variation += (error - self.variation) >> 2
        self.smoothed += (elapsed - self.smoothed) >> 3

    def timeout(self) -> i64:
        """How long to wait for an acknowledgement before asking for one."""
        spread = self.variation << 2
        if spread < GRANULARITY:
            spread = GRANULARITY
        return self.smoothed + spread + MAX_ACK_DELAY

    def patience(self) -> i64:
        """How long a packet may take, when newer ones have arrived, on a path that does not reorder."""
        longest = self.smoothed if self.smoothed > self.latest else self.latest
        wait = longest + (longest >> 3)
        return wait if wait > GRANULARITY else GRANULARITY

    def most_slack(self) -> i64:
        """How much more patience makes sense: then the probe timeout is near."""
        return self.smoothed if self.smoothed > MAX_ACK_DELAY else MAX_ACK_DELAY
