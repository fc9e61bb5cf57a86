"""Pacing: a window is spread over the round trip instead of going out in one burst.

Every byte sent must be paid for with time, `smoothed / (gain * window)` of it. All that is kept is
the time at which everything sent so far will be paid for. It may lie in the past, by no more than
the burst that is allowed: timers of event loops are coarse, so a sender that wakes up late must be
able to catch up.

On a path with a round trip of a millisecond the allowed burst is more than a window, and pacing
never holds anything back.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.runtime.link.rtt import MILLISECOND

LONGEST_BURST: Final = 2 * MILLISECOND  # of the rate: twice what timers are coarse by
SMALLEST_BURST: Final = 16  # datagrams: less makes system calls expensive
LONGEST_PAST: Final = (
    2**62
)  # before everything that a clock shows, yet differences fit into 64 bits

# The rate is a little more than a window per round trip, so that pacing is not what limits it, and
# twice as much in slow start, in which the window doubles within the round trip.
STEADY_QUARTERS: Final = 5
STARTING_QUARTERS: Final = 8


class Pacer:
    """When the next bytes to one peer may go out."""

    _datagram: i64
    _paid_at: i64  # the time at which everything sent so far is paid for

    # The current rate: `_bytes` in `_time` nanoseconds.
    _bytes: i64
    _time: i64
    _credit: i64  # nanoseconds of the rate that may go out at once

    def __init__(self, datagram: i64) -> None:
        self._datagram = datagram
        self._paid_at = -LONGEST_PAST
        self._bytes = datagram
        self._time = 1
        self._credit = LONGEST_BURST

    def set_rate(self, window: i64, smoothed: i64, starting: bool) -> None:
        """Follow the congestion window and the round trip."""
        self._bytes = window * (STARTING_QUARTERS if starting else STEADY_QUARTERS)
        self._time = smoothed << 2
        smallest = SMALLEST_BURST * self._datagram * self._time // self._bytes
        self._credit = smallest if smallest > LONGEST_BURST else LONGEST_BURST

    def sent(self, size: i64, now: i64) -> None:
        """Some bytes went out, allowed or not."""
        earliest = now - self._credit
        if self._paid_at < earliest:
            self._paid_at = earliest
        self._paid_at += size * self._time // self._bytes + 1

    def allowed(self, now: i64) -> i64:
        """How many bytes may go out now; 0 or less for none."""
        saved = now - self._paid_at
        if saved > self._credit:
            saved = self._credit
        if saved <= 0:
            return 0
        return saved * self._bytes // self._time

    def when(self, now: i64) -> i64:
        """The time at which a datagram may go out; 0 if it may now."""
        at = self._paid_at + self._datagram * self._time // self._bytes + 1
        return at if at > now else 0
