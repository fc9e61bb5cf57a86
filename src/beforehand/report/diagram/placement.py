"""Where to write a name: where it covers no other name, no mark and no arrow, if there is such a place.

Candidates are tried in order of preference. The first one without overlaps wins, or else the one with
the fewest; another name weighs most, since two names on top of each other cannot be read.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

OVER_NAME: Final = 10  # times as bad as to cover an arrow or a mark


class Position(NamedTuple):
    """A point of a picture, in pixels; y grows downwards."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Whether they have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def is_crossed_by(self, start: Position, end: Position) -> bool:
        """Whether a segment has a point inside: it is clipped by one pair of edges after the other."""
        low, high = 0.0, 1.0
        for near, far, origin, distance in (
            (self.left, self.right, start.x, end.x - start.x),
            (self.top, self.bottom, start.y, end.y - start.y),
        ):
            if distance == 0:
                if not near < origin < far:
                    return False
                continue
            enter, leave = sorted(((near - origin) / distance, (far - origin) / distance))
            low, high = max(low, enter), min(high, leave)
        return low < high


class Placement:
    """What a picture contains already."""

    def __init__(self) -> None:
        self._names: list[Box] = []
        self._shapes: list[Box] = []
        self._arrows: list[tuple[Position, Position]] = []

    def add_shape(self, box: Box) -> None:
        """Keep names away from a mark or a bar."""
        self._shapes.append(box)

    def add_arrow(self, start: Position, end: Position) -> None:
        """Keep names away from an arrow."""
        self._arrows.append((start, end))

    def place(self, candidates: Sequence[Box]) -> Box:
        """Choose one of these places for a name, and reserve it."""
        best = min(candidates, key=self._overlaps)
        self._names.append(best)
        return best

    def _overlaps(self, box: Box) -> int:
        return (
            OVER_NAME * _count(box.overlaps(name) for name in self._names)
            + _count(box.overlaps(shape) for shape in self._shapes)
            + _count(box.is_crossed_by(*arrow) for arrow in self._arrows)
        )


def _count(conditions: Iterable[bool]) -> int:
    return sum(conditions)
