"""How each state of a breadth-first search was first reached: from which one, and by what."""

from __future__ import annotations

from bisect import bisect_right

from beforehand._kernel import Ints


class Trail:
    """States by their number, in the order in which they were found."""

    def __init__(self) -> None:
        self._firsts: list[int] = []  # the number of the first state of each part
        self._parts: list[tuple[Ints, Ints]] = []
        self.size = 0
        self.bytes = 0

    def add(self, parents: Ints, events: Ints) -> None:
        """The next states: the number of the state before each, and what happened there."""
        self._firsts.append(self.size)
        self._parts.append((parents, events))
        self.size += len(parents)
        self.bytes += parents.nbytes + events.nbytes

    def back(self, state: int) -> list[int]:
        """What happened on the way to a state from the first of all."""
        codes: list[int] = []
        while state:
            part = bisect_right(self._firsts, state) - 1
            parents, events = self._parts[part]
            place = state - self._firsts[part]
            codes.append(int(events[place]))
            state = int(parents[place])
        return codes[::-1]
