"""The congestion window: how many bytes may be on their way to one peer (NewReno, as in RFC 9002).

It starts with some datagrams and grows by what is acknowledged (slow start). The first loss halves it;
from then on it grows by a datagram per window acknowledged. All losses of packets that were sent before
the window last shrank are news of the same congestion, so it shrinks at most once per round trip.

It does not grow when the application leaves it unused: nothing was learned about the path then.

A loss can be a mistake: the packet was only late. The losses since the window last shrank are
counted; when the last of them turns out to be a mistake, the window is as it would be without, and
the time at which it shrank is forgotten too. One true loss among them and it stays as it is.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

INITIAL_DATAGRAMS: Final = 32  # some 45 kB: what most buffers on a path hold
MINIMUM_DATAGRAMS: Final = 4  # enough for losses to show in the acknowledgements of what follows
UNUSED_DATAGRAMS: Final = 2  # a window with no more than that left counts as used
MAX_WINDOW: Final = 2**30  # bytes; more than any buffer, and products with times fit into 64 bits


class Congestion:
    """The window of one path."""

    window: i64
    threshold: i64  # below it the window is in slow start
    shrunk_at: i64  # packets sent up to that time count neither for growth nor for another loss
    spell: i64  # how often it has shrunk: names the losses that belong together
    _datagram: i64
    _acknowledged: i64  # bytes, towards the next datagram of growth
    _suspects: i64  # losses of this spell that may be mistakes; 0: it can no longer be undone
    _window_before: i64
    _threshold_before: i64
    _shrunk_before: i64

    def __init__(self, datagram: i64) -> None:
        self.window = INITIAL_DATAGRAMS * datagram
        self.threshold = MAX_WINDOW
        self.shrunk_at = -1
        self.spell = 0
        self._datagram = datagram
        self._acknowledged = 0
        self._suspects = 0
        self._window_before = 0
        self._threshold_before = 0
        self._shrunk_before = 0

    def starting(self) -> bool:
        """Is it in slow start?"""
        return self.window < self.threshold

    def used(self, peak: i64) -> bool:
        """Whether the window was made use of when up to `peak` bytes were on their way."""
        if self.starting():
            return peak * 2 >= self.window  # it doubles within the round trip that is looked at
        return peak + UNUSED_DATAGRAMS * self._datagram >= self.window

    def grow(self, size: i64) -> None:
        """That many bytes, sent after the window last shrank, were acknowledged."""
        if self.starting():
            self.window += size
        else:
            self._acknowledged += size
            while self._acknowledged >= self.window:
                self._acknowledged -= self.window
                self.window += self._datagram
        if self.window > MAX_WINDOW:
            self.window = MAX_WINDOW

    def lost(self, count: i64, sent_at: i64, now: i64) -> None:
        """Some packets were lost, of which the newest was sent at a time."""
        if sent_at <= self.shrunk_at:
            if self._suspects > 0:
                self._suspects += count
            return
        self._window_before = self.window
        self._threshold_before = self.threshold
        self._shrunk_before = self.shrunk_at
        self._suspects = count
        self.spell += 1
        self.shrunk_at = now
        self._acknowledged = 0
        self.window = max(self.window >> 1, MINIMUM_DATAGRAMS * self._datagram)
        self.threshold = self.window

    def mistaken(self, spell: i64) -> None:
        """A loss of that spell was none; when no other of the spell is left, undo its effect."""
        if spell != self.spell or self._suspects == 0:
            return
        self._suspects -= 1
        if self._suspects == 0:
            self.window = max(self.window, self._window_before)
            self.threshold = self._threshold_before
            self.shrunk_at = self._shrunk_before

    def collapse(self) -> None:
        """Nothing got through for long: start again with the smallest window."""
        self.window = MINIMUM_DATAGRAMS * self._datagram
        self._acknowledged = 0
        self._suspects = 0
