"""Estimates of the size of an exploration, compared with finished explorations."""

from __future__ import annotations

import pytest

from beforehand.checker.explore import check
from beforehand.checker.program import every_program, shortened, written_program
from beforehand.checker.search.estimate import BYTES_PER_STATE, estimate
from beforehand.checker.setting import Setting, setting


@pytest.mark.parametrize(
    "explored",
    [
        setting("mattern", messages=2),
        setting("cykas", messages=2),
        setting("cykas", sends=[4, 0, 1]),
        setting("hybrid", sends=[3, 3]),
    ],
    ids=["mattern 2,2,2", "cykas 2,2,2", "cykas 4,0,1", "hybrid 3,3"],
)
def test_guesses_are_right_to_a_factor_of_ten(explored: Setting) -> None:
    """Even and uneven bounds, with renamings and without."""
    guess = estimate(explored, seconds=60.0)  # however slow the machine is
    assert guess is not None
    states = check(explored).states
    assert states / 10 < guess.states < states * 10
    assert guess.bytes == guess.states * BYTES_PER_STATE and guess.seconds > 0


def test_no_symmetry_means_more_states() -> None:
    """An estimate is for the requested search."""
    explored = setting("mattern", messages=2)
    alike, apart = estimate(explored), estimate(explored, symmetry=False)
    assert alike is not None and apart is not None
    assert apart.states > 2 * alike.states


def test_the_largest_bounds_are_guessed_too() -> None:
    """Sixty messages: more states than atoms, but a number."""
    guess = estimate(setting("hybrid", processes=4, messages=15), seconds=0.5)
    assert guess is not None and guess.states > 1e30


def test_no_estimate_where_there_is_nothing_to_extrapolate() -> None:
    """A single message is too small, and a violation in a smaller bound ends the search early."""
    assert estimate(setting("hybrid", sends=[1, 0])) is None
    assert estimate(setting("raw", sends=[3, 3])) is None


def test_a_shorter_program_is_the_same_one_with_fewer_sends() -> None:
    """Of all programs of a size those of a smaller one; of a written one its beginning, with links."""
    free = every_program({"a": 3, "b": 2}, ["unicast"])
    assert shortened(free, {"a": 1, "b": 2}) == every_program({"a": 1, "b": 2}, ["unicast"])
    written = written_program("a>b a+b a>b b>a", ["a", "b"])
    assert shortened(written, {"a": 1, "b": 0}) == written_program("a>b a+b", ["a", "b"])
