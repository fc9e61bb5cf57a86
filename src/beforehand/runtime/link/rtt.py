"""Round-trip time estimation, and the timeouts derived from it.

The estimators of RFC 6298 with the samples of RFC 9002: packet numbers are never reused, so every
sample is unambiguous, and the peer reports how long it delayed the acknowledgement. That delay is
trusted up to `MAX_ACK_DELAY`, and never so far that the sample falls below the minimum.
"""

from typing import Final

from mypy_extensions import i64

MILLISECOND: Final = 1_000_000  # nanoseconds

INITIAL_RTT: Final = 100 * MILLISECOND  # before the first sample; most networks are faster
INITIAL_VARIATION: Final = INITIAL_RTT // 2
GRANULARITY: Final = MILLISECOND  # of event-loop timers
MAX_ACK_DELAY: Final = 10 * MILLISECOND  # peers acknowledge sooner unless overloaded
MAX_RTT: Final = 60_000 * MILLISECOND  # longer means a suspended machine, not a network


class Rtt:
    """Round-trip times to one peer, in nanoseconds."""

    def __init__(self) -> None:
        self.smoothed: i64 = INITIAL_RTT
        self.variation: i64 = INITIAL_VARIATION
        self.latest: i64 = 0  # 0 before the first sample, like `minimum`
        self.minimum: i64 = 0

    def sample(self, elapsed: i64, delay: i64) -> None:
        """A packet was acknowledged after `elapsed`, of which the peer waited `delay`."""
        if elapsed < 1:
            elapsed = 1  # clocks may stand still, but an estimate of zero would disable timers
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
        """The probe timeout: how long to wait for an acknowledgement before probing."""
        spread = self.variation << 2
        if spread < GRANULARITY:
            spread = GRANULARITY
        return self.smoothed + spread + MAX_ACK_DELAY

    def patience(self) -> i64:
        """The time threshold for loss: how much later than newer packets one may arrive."""
        longest = self.smoothed if self.smoothed > self.latest else self.latest
        wait = longest + (longest >> 3)
        return wait if wait > GRANULARITY else GRANULARITY

    def most_slack(self) -> i64:
        """The most that reordering may add to `patience`: beyond, the probe timeout is near."""
        return self.smoothed if self.smoothed > MAX_ACK_DELAY else MAX_ACK_DELAY
