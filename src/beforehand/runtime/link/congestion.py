"""The congestion window: how many bytes may be in flight to one peer (NewReno, as in RFC 9002).

In slow start the window grows by what is acknowledged. The first loss halves it; from then on it grows
by a datagram per window acknowledged. Losses of packets sent before the last reduction belong to the
same congestion event, so the window shrinks at most once per round trip.

It does not grow while the application leaves it unused: nothing was learned about the path.

A loss may be spurious: the packet was only late. The losses of a congestion event are counted; if all
of them turn out to be spurious, the reduction is undone. A single true loss makes it permanent.
"""

from typing import Final

from mypy_extensions import i64

INITIAL_DATAGRAMS: Final = 32  # about 45 kB: what most buffers on a path hold
MINIMUM_DATAGRAMS: Final = 4  # enough for later acknowledgements to reveal a loss
UNUSED_DATAGRAMS: Final = 2  # a window with no more than this left counts as used
MAX_WINDOW: Final = 2**30  # bytes; more than any buffer, and products with times fit into 64 bits


class Congestion:
    """The window of one path."""

    def __init__(self, datagram: i64) -> None:
        self.threshold: i64 = MAX_WINDOW  # below it the window is in slow start
        # Packets sent up to then count neither for growth nor for a reduction.
        self.shrunk_at: i64 = -1
        self.event: i64 = 0  # number of the current congestion event
        self._acknowledged: i64 = 0  # bytes, towards the next datagram of growth
        self._suspects: i64 = 0  # losses of this event that may be spurious; 0: it cannot be undone
        self._window_before: i64 = 0
        self._threshold_before: i64 = 0
        self._shrunk_before: i64 = 0
        self.window = INITIAL_DATAGRAMS * datagram
        self._datagram = datagram

    def in_slow_start(self) -> bool:
        """Whether the window is in slow start."""
        return self.window < self.threshold

    def used(self, peak: i64) -> bool:
        """Whether the window was used, given that up to `peak` bytes were in flight."""
        if self.in_slow_start():
            return peak * 2 >= self.window  # it doubles within a round trip
        return peak + UNUSED_DATAGRAMS * self._datagram >= self.window

    def grow(self, size: i64) -> None:
        """Grow for acknowledged bytes that were sent after the last reduction."""
        if self.in_slow_start():
            self.window += size
        else:
            self._acknowledged += size
            while self._acknowledged >= self.window:
                self._acknowledged -= self.window
                self.window += self._datagram
        if self.window > MAX_WINDOW:
            self.window = MAX_WINDOW

    def lost(self, count: i64, sent_at: i64, now: i64) -> None:
        """React to `count` lost packets, the newest of them sent at `sent_at`."""
        if sent_at <= self.shrunk_at:
            if self._suspects > 0:
                self._suspects += count
            return
        self._window_before = self.window
        self._threshold_before = self.threshold
        self._shrunk_before = self.shrunk_at
        self._suspects = count
        self.event += 1
        self.shrunk_at = now
        self._acknowledged = 0
        self.window = max(self.window >> 1, MINIMUM_DATAGRAMS * self._datagram)
        self.threshold = self.window

    def undo_loss(self, event: i64) -> None:
        """A loss of that congestion event was spurious; undo the reduction if all of them were."""
        if event != self.event or self._suspects == 0:
            return
        self._suspects -= 1
        if self._suspects == 0:
            self.window = max(self.window, self._window_before)
            self.threshold = self._threshold_before
            self.shrunk_at = self._shrunk_before

    def collapse(self) -> None:
        """Persistent congestion: restart with the minimum window."""
        self.window = MINIMUM_DATAGRAMS * self._datagram
        self._acknowledged = 0
        self._suspects = 0
