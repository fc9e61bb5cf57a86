"""The fingerprints of the states that were visited, a part for each worker.

A fingerprint has 64 bits. That two among n states have the same one, so that the second is taken for
visited, is expected n^2 / 2^65 times: 0.0003 times in a hundred million states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.packed.hashing import copy_prints
from beforehand.checker.packed.loops import keep

_ROOM = 1 << 16  # for each worker, at first; a power of two
_FULLEST = 0.6  # of a table: beyond, looking for a place takes long


class _Pool(Protocol):
    def map(self, work: Callable[[int], None], workers: range, /) -> Iterable[None]: ...


class Visited:
    """A set of fingerprints."""

    def __init__(self, workers: int) -> None:
        self.table: Ints = np.zeros((workers, _ROOM), np.uint64)
        self._counts = [0] * workers

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(self._counts)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return self.table.nbytes

    def make_room(self, count: int, pool: _Pool) -> None:
        """See to it that each worker can remember so many more."""
        workers, room = self.table.shape
        while max(self._counts) + count > _FULLEST * room:
            room *= 2
        if room > self.table.shape[1]:
            larger: Ints = np.zeros((workers, room), np.uint64)
            list(pool.map(lambda each: copy_prints(self.table[each], larger[each]), range(workers)))
            self.table = larger

    def keep(self, worker: int, prints: Ints) -> Ints:
        """Add those that belong to a worker; where the new ones are."""
        new: Ints = np.empty(len(prints), np.int64)
        size = int(keep(prints, worker, len(self.table), self.table[worker], new))
        self._counts[worker] += size
        return new[:size]
