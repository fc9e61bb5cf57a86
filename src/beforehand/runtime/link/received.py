"""Received packet numbers: what to acknowledge, and protection against replays.

Received numbers are kept as ranges. While packets arrive in order the newest range grows at its end;
that is the fast path, so this range has two fields of its own. The older ranges are in two sorted
lists, searched by bisection. Below `floor` nothing is remembered: such a packet may be a replay, so
it is treated as one.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError

# Between ranges are gaps. The oldest gaps are not worth their memory: the peer has long retransmitted
# their content in other packets.
MAX_RANGES: Final = 256


class Received:
    """The packet numbers received from one peer."""

    def __init__(self, limit: int = MAX_RANGES) -> None:
        self.largest: i64 = -1  # the newest number, -1 for none; the end of the newest range
        self.floor: i64 = 0  # lower numbers count as received
        self._first: i64 = 0  # start of the newest range, which is empty if this exceeds `largest`
        if limit < 1:
            raise LocalProtocolError(f"limit must be at least 1 range, not {limit}")
        self._firsts: list[int] = []  # the older ranges, ascending, with gaps between them
        self._lasts: list[int] = []
        self._limit: i64 = limit

    def add(self, number: i64) -> bool:
        """Record a packet number; False if it was, or may have been, received before."""
        if number < self.floor:
            return False
        largest = self.largest
        if number > largest:
            if number != largest + 1:
                self._begin(number)
            self.largest = number
            return True
        if number >= self._first:
            return False
        if number == self._first - 1:
            self._first = number
            if self._lasts and self._lasts[-1] == number - 1:
                self._lasts.pop()
                self._first = self._firsts.pop()
            return True
        return self._fill(number)

    def ranges(self, most: int) -> list[tuple[int, int]]:
        """The newest ranges, each as its first and last number, the newest range first."""
        ranges: list[tuple[int, int]] = []
        if most < 1 or self._first > self.largest:
            return ranges
        ranges.append((int(self._first), int(self.largest)))
        index: i64 = len(self._firsts) - 1
        while index >= 0 and len(ranges) < most:
            ranges.append((self._firsts[index], self._lasts[index]))
            index -= 1
        return ranges

    def forget_below(self, number: i64) -> None:
        """Forget older packets, which need no acknowledgement any more: they count as received."""
        if number <= self.floor:
            return
        self.floor = number
        gone = up_to(self._lasts, number - 1)
        if gone > 0:
            del self._firsts[:gone]
            del self._lasts[:gone]
        if self._firsts and self._firsts[0] < number:
            self._firsts[0] = int(number)
        if self._first < number:
            self._first = number

    def _begin(self, number: i64) -> None:
        """Start a new newest range, after a gap."""
        if self._first <= self.largest:
            self._firsts.append(int(self._first))
            self._lasts.append(int(self.largest))
            self._keep_limit()
        self._first = number

    def _fill(self, number: i64) -> bool:
        """Add a number below the newest range and not adjacent to it."""
        boxed: int = number
        index = up_to(self._firsts, number)  # the preceding range may contain it
        if index > 0 and self._lasts[index - 1] >= number:
            return False
        joins_left = index > 0 and self._lasts[index - 1] == number - 1
        joins_right = index < len(self._firsts) and self._firsts[index] == number + 1
        if joins_left and joins_right:
            del self._firsts[index]
            del self._lasts[index - 1]
        elif joins_left:
            self._lasts[index - 1] = boxed
        elif joins_right:
            self._firsts[index] = boxed
        else:
            self._firsts.insert(index, boxed)
            self._lasts.insert(index, boxed)
            self._keep_limit()
        return True

    def _keep_limit(self) -> None:
        """Discard the oldest range if there are too many."""
        if len(self._firsts) >= self._limit:
            self.floor = self._lasts[0] + 1
            del self._firsts[0]
            del self._lasts[0]


def up_to(numbers: list[int], number: i64) -> i64:
    """How many of the ascending numbers are at most `number` (`bisect_right`, but compiled)."""
    low: i64 = 0
    high: i64 = len(numbers)
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low
