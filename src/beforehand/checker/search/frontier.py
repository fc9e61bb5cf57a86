"""The worlds yet to be expanded, in blocks. The order in which they come out decides the search.

First in, first out is breadth-first: runs are explored in the order of their length, so the first
problem found is at the end of a shortest run. Last in, first out is depth-first: few worlds wait at a
time.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from beforehand._kernel import Ints

BLOCK = 1 << 15  # rows that are expanded together: enough to keep all workers busy


@dataclass(frozen=True)
class RowBlock:
    """Rows at one depth; in breadth-first order, the states numbered from `first` on."""

    rows: Ints
    depth: int
    first: int


class Frontier:
    """A queue or a stack of blocks."""

    def __init__(self, depth_first: bool = False) -> None:
        self.depth_first = depth_first
        self._blocks: deque[RowBlock] = deque()
        self.waiting = 0
        self.bytes = 0

    def put(self, rows: Ints, depth: int, first: int) -> None:
        """Append rows."""
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            if len(part) < len(rows):
                part = part.copy()  # a view would keep all rows in memory
            self._blocks.append(RowBlock(part, depth, first + start))
            self.waiting += len(part)
            self.bytes += part.nbytes

    def take(self) -> RowBlock | None:
        """The next rows to expand, small blocks of one depth merged into one; None if there are none."""
        if not self._blocks:
            return None
        taken = [self._pop()]
        count = len(taken[0].rows)
        while (following := self._peek()) is not None and following.depth == taken[0].depth:
            count += len(following.rows)
            if count > BLOCK:
                break
            taken.append(self._pop())
        # Blocks are stored in the order of their state numbers, which merging has to preserve.
        merged = taken[::-1] if self.depth_first else taken
        rows = merged[0].rows
        if len(merged) > 1:
            rows = np.concatenate([block.rows for block in merged])
        self.waiting -= len(rows)
        self.bytes -= rows.nbytes
        return RowBlock(rows, merged[0].depth, merged[0].first)

    def _peek(self) -> RowBlock | None:
        return self._blocks[-1 if self.depth_first else 0] if self._blocks else None

    def _pop(self) -> RowBlock:
        return self._blocks.pop() if self.depth_first else self._blocks.popleft()

    def widen(self, width: int) -> None:
        """Widen all rows to `width` columns."""
        self._blocks = deque(
            RowBlock(widened(block.rows, width), block.depth, block.first) for block in self._blocks
        )
        self.bytes = sum(block.rows.nbytes for block in self._blocks)


def widened(rows: Ints, width: int) -> Ints:
    """The same rows with columns for more frames."""
    wider: Ints = np.zeros((len(rows), width), rows.dtype)
    wider[:, : rows.shape[1]] = rows
    return wider
