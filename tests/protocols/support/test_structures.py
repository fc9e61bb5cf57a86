"""The sliding structures against plain models, and the work that they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.protocols.support.structures import SlidingArray, SlidingMap


@given(st.lists(st.booleans(), max_size=300), st.integers(0, 5))
def test_a_sliding_array_is_a_queue_with_positions(steps: list[bool], start: int) -> None:
    """Adds and removes in any order agree with a list of (position, element)."""
    array: SlidingArray[str] = SlidingArray(start)
    model: list[tuple[int, str]] = []
    added = start
    for add in steps:
        if add or not model:
            assert array.add(f"e{added}") == added
            model.append((added, f"e{added}"))
            added += 1
        else:
            assert array.remove() == model.pop(0)[1]
        assert len(array) == len(model)
        assert array.next == added
        assert array.first == (model[0][0] if model else added)
        assert array.elements() == [element for _, element in model]
        for position, element in model:
            assert array[position] == element
    if model:
        assert array.peek() == model[0][1] and array.last() == model[-1][1]
        array[model[0][0]] = "new"
        assert array.peek() == "new"


def test_positions_outside_the_window_are_refused() -> None:
    """Neither what was removed nor what was never added can be reached."""
    array: SlidingArray[str] = SlidingArray()
    for position in range(3):
        array.add(f"e{position}")
    array.remove()
    for position in (-1, 0, 3):
        with pytest.raises(IndexError):
            array[position]
        with pytest.raises(IndexError):
            array[position] = "x"
    empty: SlidingArray[str] = SlidingArray()
    for call in (empty.remove, empty.peek, empty.last):
        with pytest.raises(IndexError):
            call()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=200))
def test_a_sliding_map_slides_over_its_holes(steps: list[tuple[bool, int]]) -> None:
    """Removal is by element, in any order; `first` is always the oldest one that is left."""
    sliding: SlidingMap[int] = SlidingMap()
    model: dict[int, int] = {}
    added = 0
    for add, element in steps:
        if add and element not in model:
            assert sliding.add(element) == added
            model[element] = added
            added += 1
        elif element in model:
            position = model.pop(element)
            assert sliding.remove(element) == position
        assert sliding.next == added and len(sliding) == len(model)
        assert sliding.first == min(model.values(), default=added)
        assert sliding.elements() == sorted(model, key=model.__getitem__)
    for position in range(int(sliding.first), added):
        element_there = sliding[position]
        assert element_there == next((e for e, p in model.items() if p == position), None)
    for element in range(31):
        assert sliding.index(element) == model.get(element, -1)


def test_a_sliding_map_holds_each_element_once() -> None:
    """Adding what is there and removing what is not are errors, and change nothing."""
    sliding: SlidingMap[str] = SlidingMap()
    sliding.add("a")
    with pytest.raises(KeyError):
        sliding.add("a")
    with pytest.raises(KeyError):
        sliding.remove("b")
    assert (sliding.first, sliding.next, len(sliding)) == (0, 1, 1)


def test_a_copy_of_a_sliding_map_keeps_its_positions() -> None:
    """Holes and positions stay, elements are replaced by their renewals."""
    sliding: SlidingMap[str] = SlidingMap()
    for element in "abcd":
        sliding.add(element)
    sliding.remove("a")
    sliding.remove("c")
    twin: SlidingMap[str] = SlidingMap()
    sliding.copy_into(twin, {"b": "B", "d": "D"})
    assert (twin.first, twin.next, twin.elements()) == (1, 4, ["B", "D"])
    assert twin.remove("B") == 1
    assert twin.first == 3 and sliding.first == 1, "the original is untouched"


@pytest.mark.parametrize("window", [1, 10, 1_000])
def test_memory_follows_the_window(window: int) -> None:
    """After any history, the ring is at most a few times the largest recent window."""
    array: SlidingArray[int] = SlidingArray()
    for number in range(20_000):
        array.add(number)
        if len(array) > window:
            array.remove()
    assert array.slots() <= 4 * max(window, 2)
    while len(array) > 1:
        array.remove()
    assert array.slots() <= 4
