"""The fingerprints of the visited states, in one table per worker.

A fingerprint has 64 bits. Among n states, n^2 / 2^65 collisions are expected, in which the second
state is mistaken for visited: 0.0003 in a hundred million states.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.packed.hash_tables import add_new, copy_fingerprints

INITIAL_CAPACITY = 1 << 16  # slots per worker; a power of two
_MOST_FILLED = 0.6  # of the slots: beyond, probing takes long


class _Pool(Protocol):
    def map(self, work: Callable[[int], None], workers: range, /) -> Iterable[None]: ...


class Visited:
    """A set of fingerprints."""

    def __init__(self, workers: int) -> None:
        self.table: Ints = np.zeros((workers, INITIAL_CAPACITY), np.uint64)
        self._counts = [0] * workers

    @property
    def count(self) -> int:
        """The number of visited states."""
        return sum(self._counts)

    @property
    def bytes(self) -> int:
        """The memory that the tables take."""
        return self.table.nbytes

    def reserve(self, count: int, pool: _Pool) -> None:
        """Grow the tables until each can take that many more fingerprints."""
        workers, capacity = self.table.shape
        while max(self._counts) + count > _MOST_FILLED * capacity:
            capacity *= 2
        if capacity > self.table.shape[1]:
            larger: Ints = np.zeros((workers, capacity), np.uint64)

            def copy(worker: int) -> None:
                copy_fingerprints(self.table[worker], larger[worker])

            list(pool.map(copy, range(workers)))
            self.table = larger

    def add(self, worker: int, fingerprints: Ints) -> Ints:
        """Add the fingerprints that a worker owns; returns the indices of the new ones."""
        new: Ints = np.empty(len(fingerprints), np.int64)
        count = int(add_new(fingerprints, worker, len(self.table), self.table[worker], new))
        self._counts[worker] += count
        return new[:count]
