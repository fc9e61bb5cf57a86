"""Circles are found, all of them and nothing else."""

from __future__ import annotations

import random

import pytest

from beforehand.pipeline.ingest.resolve.cycles import find_cycles


@pytest.mark.parametrize("seed", range(50))
def test_against_reachability(seed: int) -> None:
    """A node is in a cycle if it reaches itself; two are in one if they reach each other."""
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
    assert {frozenset(each) for each in find_cycles(causes)} == expected, f"seed {seed}"


def test_long_chains_are_no_problem() -> None:
    """Nothing recurses: neither a chain of 100,000 nor a cycle of as many."""
    chain = {i: [i - 1] for i in range(1, 100_000)}
    assert find_cycles(chain) == []
    [found] = find_cycles({**chain, 0: [99_999]})
    assert len(found) == 100_000
