"""Pacing: spread a window over the round trip instead of sending it in one burst.

Every byte sent costs time, `smoothed / (gain * window)` of it. The only state is the time at which
everything sent so far is paid for. It may lie in the past by at most the burst that is allowed:
event-loop timers are coarse, so a sender that wakes up late must be able to catch up.

On a path with a round trip of a millisecond the allowed burst exceeds a window, and pacing never
delays anything.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.runtime.link.rtt import MILLISECOND

LONGEST_BURST: Final = 2 * MILLISECOND  # at the current rate: twice the granularity of timers
SMALLEST_BURST: Final = 16  # datagrams: smaller bursts waste system calls
DISTANT_PAST: Final = -(2**62)  # before any clock reading, yet differences fit into 64 bits

# The rate is slightly above a window per round trip, so that pacing is not the bottleneck, and twice
# that in slow start, where the window doubles within the round trip.
STEADY_QUARTERS: Final = 5
STARTING_QUARTERS: Final = 8


class Pacer:
    """When the next bytes to one peer may be sent."""

    def __init__(self, datagram: i64) -> None:
        self._paid_at: i64 = DISTANT_PAST  # the time at which everything sent so far is paid for
        self._time: i64 = 1  # the current rate is `_bytes` in this many nanoseconds
        self._credit: i64 = LONGEST_BURST  # nanoseconds of the rate that may be sent at once
        self._datagram = datagram
        self._bytes = datagram

    def set_rate(self, window: i64, smoothed: i64, starting: bool) -> None:
        """Follow the congestion window and the round trip."""
        self._bytes = window * (STARTING_QUARTERS if starting else STEADY_QUARTERS)
        self._time = smoothed << 2
        smallest = SMALLEST_BURST * self._datagram * self._time // self._bytes
        self._credit = smallest if smallest > LONGEST_BURST else LONGEST_BURST

    def sent(self, size: i64, now: i64) -> None:
        """Account for bytes that were sent, allowed or not."""
        earliest = now - self._credit
        if self._paid_at < earliest:
            self._paid_at = earliest
        self._paid_at += size * self._time // self._bytes + 1

    def allowed(self, now: i64) -> i64:
        """How many bytes may be sent now; 0 or less for none."""
        saved = now - self._paid_at
        if saved > self._credit:
            saved = self._credit
        if saved <= 0:
            return 0
        return saved * self._bytes // self._time

    def when(self, now: i64) -> i64:
        """When a datagram may be sent; 0 for now."""
        at = self._paid_at + self._datagram * self._time // self._bytes + 1
        return at if at > now else 0
