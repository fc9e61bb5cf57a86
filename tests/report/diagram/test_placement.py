"""Names in a picture find a place where they cover nothing."""

from __future__ import annotations

import pytest

from beforehand.report.diagram.placement import Box, Placement, Point

BOX = Box(0, 0, 10, 4)


@pytest.mark.parametrize(
    ("start", "end", "crosses"),
    [
        (Point(-5, 2), Point(15, 2), True),
        (Point(5, -5), Point(5, 15), True),
        (Point(2, 1), Point(3, 2), True),  # inside
        (Point(-5, -5), Point(15, 15), True),
        (Point(-5, 5), Point(15, 5), False),
        (Point(11, -5), Point(11, 15), False),
        (Point(-5, 2), Point(-1, 2), False),  # ends before
        (Point(8, -6), Point(20, 6), False),  # passes the corner
    ],
)
def test_a_segment_crosses_a_box_if_a_part_is_inside(
    start: Point, end: Point, crosses: bool
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
    placement.add_arrow(Point(-5, 12), Point(15, 12))
    placement.add_shape(Box(4, 21, 6, 23))
    assert placement.place([crossed, marked, free]) == free
    assert placement.place([free, crossed]) == crossed
