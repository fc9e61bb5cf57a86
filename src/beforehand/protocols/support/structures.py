"""Sliding array and sliding map (Almeida's hybrid-buffering paper, section 5.3).

Both hold a window of positions that slides upwards: positions are assigned in order by `add`,
counted by `next`, and released from the low end, counted by `first`. Every operation takes amortised
constant time, and the memory follows the size of the window, not the length of the history.

Most windows are tiny, and there are many of them: two for each peer. So a window of one element is
just that element. A larger one lives in a ring whose length is a power of two, so that a position
becomes a slot by one bit mask; the ring doubles when full, halves when three quarters are empty, and is
given up when the window is empty.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from mypy_extensions import i64

E = TypeVar("E")

SMALLEST_RING: Final = 4
NO_RING: Final[list[Any]] = []  # shared by all windows without one, and never changed


class SlidingArray(Generic[E]):
    """A queue whose elements can also be reached by position."""

    first: i64  # position of the oldest element, or `next` when empty
    next: i64  # position that the next element will get
    _ring: list[E | None]

    def __init__(self, first: i64 = 0) -> None:
        self._sole: E | None = None  # the element of a window without a ring, if it is not empty
        self._mask: i64 = -1  # -1: there is no ring
        self.first = first
        self.next = first
        self._ring = NO_RING

    def __len__(self) -> int:
        return int(self.next - self.first)

    def add(self, element: E) -> i64:
        """Append; returns the element's position."""
        position = self.next
        self.next = position + 1
        if self._mask < 0:
            if position == self.first:
                self._sole = element
                return position
            self._ring = [None] * SMALLEST_RING
            self._mask = SMALLEST_RING - 1
            self._ring[self.first & self._mask] = self._sole
            self._sole = None
        elif position - self.first > self._mask:
            self._resize((self._mask + 1) * 2)
        self._ring[position & self._mask] = element
        return position

    def remove(self) -> E:
        """Give up the oldest element and return it."""
        position = self.first
        if position == self.next:
            raise IndexError("remove from an empty window")
        self.first = position + 1
        if self._mask < 0:
            element = self._sole
            self._sole = None
            return element  # type: ignore[return-value]  # the window was not empty
        slot = position & self._mask
        element = self._ring[slot]
        self._ring[slot] = None
        size = self._mask + 1
        if self.first == self.next:
            self._ring = NO_RING
            self._mask = -1
        elif size > SMALLEST_RING and (self.next - self.first) * 4 <= size:
            self._resize(size // 2)
        return element  # type: ignore[return-value]  # inside the window every slot holds an E

    def peek(self) -> E:
        """The oldest element."""
        return self[self.first]

    def last(self) -> E:
        """The newest element."""
        return self[self.next - 1]

    def __getitem__(self, position: i64) -> E:
        if position < self.first or position >= self.next:
            raise IndexError(f"position {position} is outside [{self.first}, {self.next})")
        if self._mask < 0:
            return self._sole  # type: ignore[return-value]
        return self._ring[position & self._mask]  # type: ignore[return-value]

    def __setitem__(self, position: i64, element: E) -> None:
        if position < self.first or position >= self.next:
            raise IndexError(f"position {position} is outside [{self.first}, {self.next})")
        if self._mask < 0:
            self._sole = element
        else:
            self._ring[position & self._mask] = element

    def slots(self) -> int:
        """How many elements fit before the ring must grow."""
        return len(self._ring)

    def _resize(self, size: i64) -> None:
        ring: list[E | None] = [None] * int(size)
        mask = size - 1
        position = self.first
        while position < self.next:
            ring[position & mask] = self._ring[position & self._mask]
            position += 1
        self._ring = ring
        self._mask = mask

    def elements(self) -> list[E]:
        """The elements from the oldest to the newest."""
        elements: list[E] = []
        position = self.first
        while position < self.next:
            elements.append(self[position])
            position += 1
        return elements


class SlidingMap(Generic[E]):
    """A set whose elements have positions; what is removed leaves a hole.

    `first` is the position of the oldest element still there. The paper keeps one bit for each
    position, and the elements only in its *indexable* sliding map; here it is always the element
    itself or None, which takes the same slot of a Python list. A dictionary finds the position of an
    element.
    """

    _window: SlidingArray[E | None]
    _positions: dict[E, int]  # in the order of the positions, as dictionaries keep it

    def __init__(self) -> None:
        self._window = SlidingArray()
        self._positions = {}

    @property
    def first(self) -> i64:
        """Position of the oldest element, or `next` when empty."""
        return self._window.first

    @property
    def next(self) -> i64:
        """Position that the next element will get."""
        return self._window.next

    def __len__(self) -> int:
        return len(self._positions)

    def add(self, element: E) -> i64:
        """Append a new element; returns its position."""
        if element in self._positions:
            raise KeyError(f"{element!r} is already there")
        position = self._window.add(element)
        self._positions[element] = int(position)
        return position

    def remove(self, element: E) -> i64:
        """Remove an element wherever it is; returns the position that it had."""
        position = self._positions[element]
        del self._positions[element]
        window = self._window
        window[position] = None
        while window.first < window.next and window.peek() is None:
            window.remove()
        return position

    def elements(self) -> list[E]:
        """The elements from the oldest to the newest."""
        return list(self._positions)

    def copy_into(self, twin: SlidingMap[E], renewed: dict[E, E]) -> None:
        """Make an empty map the twin of this one, with each element replaced by its renewal."""
        twin._window = SlidingArray(self._window.first)
        for element in self._window.elements():
            twin._window.add(None if element is None else renewed[element])
        for element, position in self._positions.items():
            twin._positions[renewed[element]] = position

    def index(self, element: E) -> i64:
        """The position of an element; -1 if it is not there."""
        return self._positions.get(element, -1)

    def __getitem__(self, position: i64) -> E | None:
        """The element at a position of the window, or None where one was removed."""
        return self._window[position]
