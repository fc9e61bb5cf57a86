"""Overlays at the start: who has a link to whom."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import ScenarioError
from beforehand.simulator.overlays.layouts import OverlayLayout, build_layout, spray_views
from beforehand.simulator.overlays.peer_sampling import exchange
from beforehand.simulator.world.random_streams import Stream

OVERLAYS = ("ring", "complete", "random", "random:4", "tree", "tree:1", "tree:5", "spray")


def names(count: int) -> list[str]:
    """p0, p1, ..."""
    return [f"p{index}" for index in range(count)]


def reached(layout: OverlayLayout) -> set[int]:
    """The processes that can be reached from the first one."""
    seen, todo = {0}, [0]
    while todo:
        for peer in layout.links[todo.pop()]:
            if peer not in seen:
                seen.add(peer)
                todo.append(peer)
    return seen


@pytest.mark.parametrize("overlay", OVERLAYS)
@given(count=st.integers(2, 60), seed=st.integers(0, 1000))
def test_every_overlay_connects_everybody_both_ways(overlay: str, count: int, seed: int) -> None:
    """No link to oneself, none twice, each with its way back, and each pair chosen once."""
    layout = build_layout(overlay, names(count), seed)
    assert len(layout.links) == count and reached(layout) == set(range(count))
    for index, links in enumerate(layout.links):
        assert index not in links and len(set(links)) == len(links)
        assert all(index in layout.links[peer] for peer in links)
    pairs = [frozenset((index, peer)) for index, view in enumerate(layout.views) for peer in view]
    assert len(set(pairs)) == len(pairs) == sum(map(len, layout.links)) // 2


def test_degrees_are_as_named() -> None:
    """Two on a ring, all others if complete, about what was asked for at random, few in a tree."""
    assert {len(peers) for peers in build_layout("ring", names(9), 1).links} == {2}
    assert {len(peers) for peers in build_layout("complete", names(9), 1).links} == {8}
    degrees = [len(peers) for peers in build_layout("random:8", names(400), 1).links]
    assert 7 < sum(degrees) / 400 <= 8 and max(degrees) < 20 and min(degrees) >= 4
    tree = build_layout("tree:3", names(13), 1)
    assert tree.parents[12] == tree.parents[10] == 3 and 0 not in tree.parents
    assert [len(peers) for peers in tree.links] == [3, 4, 4, 4, *[1] * 9]


@pytest.mark.parametrize("count", [100, 1000, 5000])
def test_views_of_spray_are_logarithmic(count: int) -> None:
    """About ln(n) chosen, without knowing n; after mixing no process has many more."""
    views = spray_views(count, Stream(f"views of {count}"))
    mean = sum(map(len, views)) / count
    assert log(count) - 1 < mean < log(count) + 1
    assert max(map(len, views)) < 4 * mean


@given(count=st.integers(3, 40), seed=st.integers(0, 10**6), rounds=st.integers(1, 30))
def test_exchanges_keep_the_number_of_choices(count: int, seed: int, rounds: int) -> None:
    """Choices only change hands: no process chooses itself, or one that has chosen it."""
    stream = Stream(f"exchanges {seed}")
    views = [dict.fromkeys(view, 0) for view in build_layout("spray", names(count), seed).views]
    before = sum(map(len, views))
    moved = 0
    for turn in range(rounds):
        for giver, taker, peer in exchange(views, turn % count, stream, lambda one, other: True):
            del views[giver][peer]
            assert peer not in views[taker] and peer != taker
            views[taker][peer] = 0
            moved += 1
    assert sum(map(len, views)) == before
    for index, view in enumerate(views):
        assert index not in view
        assert all(index not in views[peer] for peer in view)
    # Of three or four processes, all may know each other: then there is nothing to exchange.
    assert moved or count < 8 or rounds < 8


def test_half_of_a_view_is_given() -> None:
    """By both sides, rounded up, and only what may be given; the choice itself is turned around."""
    views: list[dict[int, int]] = [{} for _ in range(12)]
    views[0] = dict.fromkeys([1, 2, 3, 4], 0)
    views[1] = dict.fromkeys([5, 6, 7, 8, 9], 0)
    moves = exchange(views, 0, Stream("halves"), lambda one, other: other != 9)
    given = [peer for giver, taker, peer in moves if (giver, taker) == (0, 1)]
    taken = [peer for giver, taker, peer in moves if (giver, taker) == (1, 0)]
    assert set(given) <= {2, 3, 4} and len(given) == 2, "half of the three that are left"
    assert set(taken) <= {5, 6, 7, 8} and len(taken) == 3
    assert 1 not in views[0] and 0 in views[1]


def test_given_links_and_trees() -> None:
    """As written, in one direction where so written."""
    layout = build_layout("links:p0>p1, p1>p2,p0>p1", names(3), 1)
    assert layout.links == [[1], [2], []] and not layout.views
    tree = build_layout("tree:p1=p0,p2=p1", names(3), 1)
    assert tree.parents == {1: 0, 2: 1} and tree.links == [[1], [0, 2], [1]]


@pytest.mark.parametrize(
    ("overlay", "problem"),
    [
        ("star", "there is no overlay 'star'"),
        ("ring:3", "there is no overlay 'ring:3'"),
        ("random:x", "random: DEGREE is 'x'"),
        ("random:1", "random: DEGREE is '1'"),
        ("tree:0", "tree: ARITY is '0'"),
        ("tree:2,3", "is not understood"),
        ("tree:p1=p0,p9=p1", "there is no process 'p9'"),
        ("tree:p1=p0,p1=p2", "p1 has two parents"),
        ("tree:p1=p0,p2", "'p2' is not understood"),
        ("links", "there is no overlay 'links'"),
        ("links:p0-p1", "'p0-p1' is not understood"),
        ("links:p0>p0", "a link from a process to itself"),
        ("links:p0>x", "there is no process 'x'"),
        ("spray:0s", "PERIOD is 0"),
        ("spray:soon", "spray: PERIOD"),
        ("spray:1s,2s,3s", "there is no overlay"),
    ],
)
def test_an_unknown_overlay_is_rejected(overlay: str, problem: str) -> None:
    """With what is wrong, and the forms that there are."""
    with pytest.raises(ScenarioError, match=problem):
        build_layout(overlay, names(3), 1)


def test_an_overlay_too_large_is_refused() -> None:
    """Before it is made."""
    with pytest.raises(ScenarioError, match="choose a sparser one"):
        build_layout("complete", names(6000), 1)
