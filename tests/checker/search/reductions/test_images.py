"""Images of states and frames under renamings, as they are learnt."""

from __future__ import annotations

import pytest

from beforehand.checker.search.reductions.images import Images, NotSymmetric

SWAP = [(0, 1), (1, 0)]
TURNS = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_an_orbit_gives_the_images_of_all_its_members() -> None:
    """Of three that are turned into each other, each has the two others as its images."""
    images = Images(TURNS)
    one, two, three = (images.add() for _ in range(3))
    images.learn([one, two, three])
    assert images.rows == [[one, two, three], [two, three, one], [three, one, two]]


def test_the_same_again_is_fine() -> None:
    """Most steps lead to what was known before."""
    images = Images(SWAP)
    left, right = images.add(), images.add()
    images.learn([left, right])
    images.learn([right, left])
    assert images.rows == [[left, right], [right, left]]


def test_another_image_is_a_contradiction() -> None:
    """Two ways to one state, and their mirrored ways to different ones: names matter."""
    images = Images(SWAP)
    left, right, other = images.add(), images.add(), images.add()
    images.learn([left, right])
    with pytest.raises(NotSymmetric):
        images.learn([left, other])


def test_alone_each_is_its_own_image() -> None:
    """Without symmetry there is nothing to find out."""
    images = Images([(0, 1)])
    assert [images.add(), images.add()] == [0, 1]
    assert images.rows == [[0], [1]]
