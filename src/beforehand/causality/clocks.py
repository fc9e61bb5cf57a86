"""Vector clocks over causal-sends: how many sends of each process are in the past of an event.

A vector clock maps each process to a count, zero by default. Here the counts are of *causal-sends* only,
and the sends of one process are totally ordered, so the clock of a message m, itself included, decides
happens-before by a single look-up:

    alice#k is m or happened before m   exactly when   V(m)[alice] >= k

Clocks are immutable values, so copies of whatever holds them can share them.
"""

from __future__ import annotations

from collections.abc import ItemsView, Mapping

from beforehand.errors import LocalProtocolError


class VectorClock:
    """An immutable map from process to count, zero for every process not in it."""

    __slots__ = ("_counts",)

    _counts: dict[str, int]  # never a zero: equal clocks then have equal dicts

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        counts = {} if counts is None else counts
        for process, count in counts.items():
            if count < 0:
                raise LocalProtocolError(
                    f"the count of {process!r} is {count}, but a vector clock counts causal-sends; "
                    "give zero or more"
                )
        self._counts = {process: count for process, count in counts.items() if count}

    @staticmethod
    def _of(counts: dict[str, int]) -> VectorClock:
        """Wrap a new dict without zeros: the hot path, no checks and no second copy."""
        clock = VectorClock()
        clock._counts = counts
        return clock

    def get(self, process: str) -> int:
        """The count of `process`."""
        return self._counts.get(process, 0)

    def items(self) -> ItemsView[str, int]:
        """The processes with a count above zero, and their counts."""
        return self._counts.items()

    def __len__(self) -> int:
        return len(self._counts)

    def advance(self, process: str) -> VectorClock:
        """This clock with the count of `process` incremented."""
        return VectorClock._of({**self._counts, process: self.get(process) + 1})

    def merge(self, other: VectorClock) -> VectorClock:
        """The least upper bound: the larger count of each process."""
        mine = self._counts
        newer = {
            process: count
            for process, count in other._counts.items()
            if count > mine.get(process, 0)
        }
        # Often nothing is newer, and immutable values can be shared.
        return VectorClock._of({**mine, **newer}) if newer else self

    def __le__(self, other: VectorClock) -> bool:
        return all(count <= other.get(process) for process, count in self._counts.items())

    def __lt__(self, other: VectorClock) -> bool:
        return self._counts != other._counts and self <= other

    def concurrent(self, other: VectorClock) -> bool:
        """Whether neither clock is at most the other."""
        return not self <= other and not other <= self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VectorClock):
            return NotImplemented
        return self._counts == other._counts

    def __hash__(self) -> int:
        return hash(frozenset(self._counts.items()))

    def __repr__(self) -> str:
        return f"VectorClock({dict(sorted(self._counts.items()))})"
