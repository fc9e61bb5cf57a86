"""Vector clocks are immutable values in a lattice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.causality import VectorClock
from beforehand.errors import LocalProtocolError

clocks = st.builds(VectorClock, st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)))
deterministic = settings(derandomize=True, max_examples=300, deadline=None)


def test_a_process_that_is_not_named_counts_zero() -> None:
    """Zero is the default, and naming it changes nothing, the hash included."""
    clock = VectorClock({"a": 2, "b": 0})
    assert (clock.get("a"), clock.get("b"), clock.get("z")) == (2, 0, 0)
    assert clock == VectorClock({"a": 2})
    assert hash(clock) == hash(VectorClock({"a": 2}))
    assert len(clock) == 1
    assert dict(clock.items()) == {"a": 2}


def test_advance_makes_a_new_clock() -> None:
    """One more of a process, known or not, and the old clock stays as it was."""
    old = VectorClock({"a": 1})
    assert old.advance("a") == VectorClock({"a": 2})
    assert old.advance("b") == VectorClock({"a": 1, "b": 1})
    assert old == VectorClock({"a": 1})


def test_a_clock_does_not_follow_the_dict_it_was_made_from() -> None:
    """The caller's dict may change afterwards."""
    counts = {"a": 1}
    clock = VectorClock(counts)
    counts["a"] = 5
    assert clock.get("a") == 1


def test_a_negative_count_is_refused() -> None:
    """Causal-sends cannot be counted below zero."""
    with pytest.raises(LocalProtocolError, match="zero or more"):
        VectorClock({"a": -1})


def test_repr_is_sorted_and_can_be_evaluated() -> None:
    """Equal clocks print the same, whatever the order in which they were built."""
    clock = VectorClock().advance("b").advance("a")
    assert repr(clock) == "VectorClock({'a': 1, 'b': 1})"
    assert eval(repr(clock)) == clock


def test_a_clock_is_not_a_number_nor_a_dict() -> None:
    """Only clocks compare equal to clocks."""
    assert VectorClock() != 0
    assert VectorClock({"a": 1}) != {"a": 1}


@deterministic
@given(clocks, clocks)
def test_order_is_by_every_count(one: VectorClock, two: VectorClock) -> None:
    """All comparisons agree with the definition, count by count."""
    below = all(one.get(p) <= two.get(p) for p in "abcd")
    above = all(one.get(p) >= two.get(p) for p in "abcd")
    assert (one <= two, one >= two) == (below, above)
    assert (one == two) == (below and above)
    assert (one < two, one > two) == (below and not above, above and not below)
    assert one.concurrent(two) == (not below and not above)
    assert one != two or hash(one) == hash(two)


@deterministic
@given(clocks, clocks, clocks)
def test_merge_is_the_least_upper_bound(
    one: VectorClock, two: VectorClock, three: VectorClock
) -> None:
    """A merge takes the larger count of each process, and leaves its operands alone."""
    texts = repr(one), repr(two)
    merged = one.merge(two)
    assert [merged.get(p) for p in "abcd"] == [max(one.get(p), two.get(p)) for p in "abcd"]
    assert merged == two.merge(one)
    assert merged.merge(three) == one.merge(two.merge(three))
    assert (repr(one), repr(two)) == texts


@deterministic
@given(clocks, st.sampled_from("abcd"))
def test_advance_is_strictly_later(clock: VectorClock, process: str) -> None:
    """An advanced clock is after the clock that it was advanced from."""
    assert clock < clock.advance(process)
