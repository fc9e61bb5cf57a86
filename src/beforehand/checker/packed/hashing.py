"""Open hash tables of 64-bit numbers: from local steps to outcomes, and of visited states."""

from __future__ import annotations

from typing import Final

import numpy as np

from beforehand._kernel import Int, Ints, compiled, inlined

NO_STEP: Final[Int] = np.uint64(2**64 - 1)  # no (state, event) is that large
_GOLDEN: Final[Int] = np.uint64(0x9E3779B97F4A7C15)
_ONE: Final[Int] = np.uint64(1)
_SHIFT: Final[Int] = np.uint64(32)


@inlined
def find_step(keys: Ints, values: Ints, key: Int) -> Int:
    """The outcome of a step; -1 if it has not been run yet."""
    last = np.uint64(len(keys) - 1)
    place = (key * _GOLDEN >> _SHIFT) & last
    while keys[place] != NO_STEP and keys[place] != key:
        place = (place + _ONE) & last
    return np.int64(values[place]) if keys[place] == key else np.int64(-1)


@inlined
def _insert(keys: Ints, values: Ints, key: Int, outcome: Int) -> None:
    """Remember the outcome of a step; there must be room."""
    last = np.uint64(len(keys) - 1)
    place = (key * _GOLDEN >> _SHIFT) & last
    while keys[place] != NO_STEP:
        place = (place + _ONE) & last
    keys[place] = key
    values[place] = outcome


@compiled
def insert_steps(keys: Ints, values: Ints, steps: Ints, first: Int) -> None:
    """Remember the outcomes of steps, which are numbered from `first` on."""
    for place in range(len(steps)):
        _insert(keys, values, steps[place], first + place)


@compiled
def copy_steps(keys: Ints, values: Ints, new_keys: Ints, new_values: Ints) -> None:
    """Move to a larger table."""
    for place in range(len(keys)):
        if keys[place] != NO_STEP:
            _insert(new_keys, new_values, keys[place], values[place])


@inlined
def has_print(table: Ints, fingerprint: Int) -> bool:
    """Whether a fingerprint, which is never 0, is in a table."""
    last = np.uint64(len(table) - 1)
    place = fingerprint & last
    while table[place] != 0 and table[place] != fingerprint:
        place = (place + _ONE) & last
    return bool(table[place] != 0)


@inlined
def add_print(table: Ints, fingerprint: Int) -> bool:
    """Put a fingerprint into a table with room; False if it was there."""
    last = np.uint64(len(table) - 1)
    place = fingerprint & last
    while table[place] != 0 and table[place] != fingerprint:
        place = (place + _ONE) & last
    new = table[place] == 0
    table[place] = fingerprint
    return bool(new)


@compiled
def copy_prints(table: Ints, larger: Ints) -> None:
    """Move to a larger table."""
    for fingerprint in table:
        if fingerprint != 0:
            add_print(larger, fingerprint)
