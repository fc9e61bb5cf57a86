"""How each state of a breadth-first search was first reached: its predecessor and the event."""

from bisect import bisect_right

from beforehand._kernel import Ints


class Predecessors:
    """The predecessor of each state; states are numbered in the order of their discovery."""

    def __init__(self) -> None:
        self._firsts: list[int] = []  # the number of the first state of each chunk
        self._chunks: list[tuple[Ints, Ints]] = []
        self.size = 0
        self.bytes = 0

    def add(self, parents: Ints, events: Ints) -> None:
        """Append states: for each the number of its predecessor, and the event that led from there."""
        self._firsts.append(self.size)
        self._chunks.append((parents, events))
        self.size += len(parents)
        self.bytes += parents.nbytes + events.nbytes

    def events_to(self, state: int) -> list[int]:
        """The codes of all events on the way from the initial state to this one."""
        codes: list[int] = []
        while state:
            chunk = bisect_right(self._firsts, state) - 1
            parents, events = self._chunks[chunk]
            offset = state - self._firsts[chunk]
            codes.append(int(events[offset]))
            state = int(parents[offset])
        return codes[::-1]
