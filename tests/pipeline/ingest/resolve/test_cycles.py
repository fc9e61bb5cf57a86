"""Exactly the cycles of a graph are found."""

from __future__ import annotations

import random

import pytest

from beforehand.pipeline.ingest.resolve.cycles import find_cycles


@pytest.mark.parametrize("seed", range(50))
def test_cycles_match_reachability(seed: int) -> None:
    """A node is in a cycle if it reaches itself; two share one if they reach each other."""
    rng = random.Random(seed)
    size = rng.randint(1, 12)
    causes = {i: [rng.randrange(size + 2) for _ in range(rng.randint(0, 2))] for i in range(size)}
    reach = {i: set(causes[i]) for i in causes}
    for _ in causes:
        for i in causes:
            reach[i] |= {far for near in reach[i] if near in reach for far in reach[near]}
    expected = {
        frozenset(j for j in causes if j in reach[i] and i in reach[j])
        for i in causes
        if i in reach[i]
    }
    assert {frozenset(cycle) for cycle in find_cycles(causes)} == expected, f"seed {seed}"


def test_long_chains_do_not_overflow_the_stack() -> None:
    """Neither a chain of 100,000 nodes nor a cycle of as many causes recursion."""
    chain = {i: [i - 1] for i in range(1, 100_000)}
    assert find_cycles(chain) == []
    [cycle] = find_cycles({**chain, 0: [99_999]})
    assert len(cycle) == 100_000
