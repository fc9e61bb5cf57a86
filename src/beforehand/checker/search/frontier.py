"""The worlds that have yet to be looked at, in blocks; in which order they come out is the search.

First in, first out is breadth-first: runs are explored in the order of their length, so the first
problem found is at the end of a shortest run. Last in, first out is depth-first: few wait at a time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from beforehand._kernel import Ints

BLOCK = 1 << 15  # rows that are looked at together: enough to keep all workers busy


@dataclass(frozen=True)
class Block:
    """Rows at one depth; breadth-first, they are the states number `first` and following."""

    rows: Ints
    depth: int
    first: int


class Frontier:
    """Blocks that wait."""

    def __init__(self, depth_first: bool = False) -> None:
        self.depth_first = depth_first
        self._blocks: deque[Block] = deque()
        self.waiting = 0
        self.bytes = 0

    def put(self, rows: Ints, depth: int, first: int) -> None:
        """More rows."""
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            if len(part) < len(rows):
                part = part.copy()  # or else it would keep all of them in memory
            self._blocks.append(Block(part, depth, first + start))
            self.waiting += len(part)
            self.bytes += part.nbytes

    def take(self) -> Block | None:
        """The next rows to look at, several blocks of one depth in one; None if there are none."""
        if not self._blocks:
            return None
        taken = [self._pop()]
        count = len(taken[0].rows)
        while (following := self._peek()) is not None and following.depth == taken[0].depth:
            count += len(following.rows)
            if count > BLOCK:
                break
            taken.append(self._pop())
        # Blocks wait in the order of the numbers of their states, which joined ones go on with.
        joined = taken[::-1] if self.depth_first else taken
        rows = (
            joined[0].rows if len(joined) == 1 else np.concatenate([each.rows for each in joined])
        )
        self.waiting -= len(rows)
        self.bytes -= rows.nbytes
        return Block(rows, joined[0].depth, joined[0].first)

    def _peek(self) -> Block | None:
        return self._blocks[-1 if self.depth_first else 0] if self._blocks else None

    def _pop(self) -> Block:
        return self._blocks.pop() if self.depth_first else self._blocks.popleft()

    def widen(self, width: int) -> None:
        """Make all rows as wide as this."""
        self._blocks = deque(
            Block(widened(block.rows, width), block.depth, block.first) for block in self._blocks
        )
        self.bytes = sum(block.rows.nbytes for block in self._blocks)


def widened(rows: Ints, width: int) -> Ints:
    """The same rows with room for more frames."""
    room: Ints = np.zeros((len(rows), width), rows.dtype)
    room[:, : rows.shape[1]] = rows
    return room
