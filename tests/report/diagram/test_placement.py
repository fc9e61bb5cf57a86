"""Names in a picture find a place where they cover nothing."""

from __future__ import annotations

import pytest

from beforehand.report.diagram.placement import Box, Placement, Position

BOX = Box(0, 0, 10, 4)


@pytest.mark.parametrize(
    ("start", "end", "crosses"),
    [
        (Position(-5, 2), Position(15, 2), True),
        (Position(5, -5), Position(5, 15), True),
        (Position(2, 1), Position(3, 2), True),  # inside
        (Position(-5, -5), Position(15, 15), True),
        (Position(-5, 5), Position(15, 5), False),
        (Position(11, -5), Position(11, 15), False),
        (Position(-5, 2), Position(-1, 2), False),  # ends before
        (Position(8, -6), Position(20, 6), False),  # passes the corner
    ],
)
def test_a_segment_crosses_a_box_if_a_part_is_inside(
    start: Position, end: Position, crosses: bool
) -> None:
    """In both directions."""
    assert BOX.is_crossed_by(start, end) is crosses
    assert BOX.is_crossed_by(end, start) is crosses


def test_the_first_free_place_is_taken_once() -> None:
    """Then the next name goes elsewhere."""
    placement = Placement()
    other = Box(0, 10, 10, 14)
    assert placement.place([BOX, other]) == BOX
    assert placement.place([BOX, other]) == other


def test_arrows_and_marks_are_avoided_but_names_more_so() -> None:
    """An arrow may be crossed where only another name's place is left."""
    placement = Placement()
    crossed, marked, free = Box(0, 10, 10, 14), Box(0, 20, 10, 24), Box(0, 30, 10, 34)
    placement.add_arrow(Position(-5, 12), Position(15, 12))
    placement.add_shape(Box(4, 21, 6, 23))
    assert placement.place([crossed, marked, free]) == free
    assert placement.place([free, crossed]) == crossed
