"""Which packet numbers have come: for acknowledgements, and so that none is taken twice.

Numbers that have come are kept as ranges. The newest range grows at its end while packets come in
order, which is the case to be fast in, so it has two fields of its own; the older ranges are in two
sorted lists, found by bisection. Below `floor` nothing is known any more: such a packet may be one
that came before, so it is treated as one.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError

# Each range is a hole in what came: with more holes the oldest are not worth their memory, because
# the peer has long sent their content again in other packets.
MOST_RANGES: Final = 256


class Received:
    """The packet numbers that have come from one peer."""

    largest: i64  # the newest number, -1 at first; it ends the newest range
    floor: i64  # numbers below count as having come
    _first: i64  # of the newest range, which is empty when this is more than `largest`
    _firsts: list[int]  # the older ranges, ascending, with holes between them
    _lasts: list[int]
    _limit: i64

    def __init__(self, limit: int = MOST_RANGES) -> None:
        if limit < 1:
            raise LocalProtocolError(f"{limit} ranges cannot be kept: at least 1 is needed")
        self.largest = -1
        self.floor = 0
        self._first = 0
        self._firsts = []
        self._lasts = []
        self._limit = limit

    def add(self, number: i64) -> bool:
        """Whether the packet is new; one that came before, or may have, must be ignored."""
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
        found: list[tuple[int, int]] = []
        if most < 1 or self._first > self.largest:
            return found
        found.append((int(self._first), int(self.largest)))
        index: i64 = len(self._firsts) - 1
        while index >= 0 and len(found) < most:
            found.append((self._firsts[index], self._lasts[index]))
            index -= 1
        return found

    def forget_below(self, number: i64) -> None:
        """The peer needs no acknowledgement of older packets: from now on they count as come."""
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
        """Begin a new newest range, after a hole."""
        if self._first <= self.largest:
            self._firsts.append(int(self._first))
            self._lasts.append(int(self.largest))
            self._keep_limit()
        self._first = number

    def _fill(self, number: i64) -> bool:
        """Add a number from before the newest range, and not just before it."""
        place: int = number
        index = up_to(self._firsts, number)  # the range that may hold it is the one before
        if index > 0 and self._lasts[index - 1] >= number:
            return False
        joins_left = index > 0 and self._lasts[index - 1] == number - 1
        joins_right = index < len(self._firsts) and self._firsts[index] == number + 1
        if joins_left and joins_right:
            del self._firsts[index]
            del self._lasts[index - 1]
        elif joins_left:
            self._lasts[index - 1] = place
        elif joins_right:
            self._firsts[index] = place
        else:
            self._firsts.insert(index, place)
            self._lasts.insert(index, place)
            self._keep_limit()
        return True

    def _keep_limit(self) -> None:
        """Give up the oldest range when there is one too many."""
        if len(self._firsts) >= self._limit:
            self.floor = self._lasts[0] + 1
            del self._firsts[0]
            del self._lasts[0]


def up_to(numbers: list[int], number: i64) -> i64:
    """How many of the ascending numbers are this one or less (bisect, but compiled)."""
    low: i64 = 0
    high: i64 = len(numbers)
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low
