"""Open hash tables of 64-bit numbers: from local steps to outcomes, and of visited fingerprints."""

from typing import Final

import numpy as np

from beforehand._kernel import Int, Ints, compiled, inlined

NO_STEP: Final[Int] = np.uint64(2**64 - 1)  # no (state, event) is that large
_GOLDEN: Final[Int] = np.uint64(0x9E3779B97F4A7C15)
_ONE: Final[Int] = np.uint64(1)
_SHIFT: Final[Int] = np.uint64(32)


@inlined
def find_step(keys: Ints, values: Ints, key: Int) -> Int:
    """The outcome of a local step; -1 if it has not been run yet."""
    last = np.uint64(len(keys) - 1)
    slot = (key * _GOLDEN >> _SHIFT) & last
    while keys[slot] != NO_STEP and keys[slot] != key:
        slot = (slot + _ONE) & last
    return np.int64(values[slot]) if keys[slot] == key else np.int64(-1)


@inlined
def _insert(keys: Ints, values: Ints, key: Int, outcome: Int) -> None:
    """Insert the outcome of a local step; the table must have a free slot."""
    last = np.uint64(len(keys) - 1)
    slot = (key * _GOLDEN >> _SHIFT) & last
    while keys[slot] != NO_STEP:
        slot = (slot + _ONE) & last
    keys[slot] = key
    values[slot] = outcome


@compiled
def insert_steps(keys: Ints, values: Ints, steps: Ints, first: Int) -> None:
    """Insert the outcomes of local steps, which are numbered from `first` on."""
    for index in range(len(steps)):
        _insert(keys, values, steps[index], first + index)


@compiled
def copy_steps(keys: Ints, values: Ints, new_keys: Ints, new_values: Ints) -> None:
    """Move to a larger table."""
    for slot in range(len(keys)):
        if keys[slot] != NO_STEP:
            _insert(new_keys, new_values, keys[slot], values[slot])


@inlined
def _slot_of(table: Ints, fingerprint: Int) -> Int:
    """The slot of a fingerprint, which is never 0; a free one if the table does not have it."""
    last = np.uint64(len(table) - 1)
    slot = fingerprint & last
    while table[slot] != 0 and table[slot] != fingerprint:
        slot = (slot + _ONE) & last
    return slot


@inlined
def has_fingerprint(table: Ints, fingerprint: Int) -> bool:
    """Whether a fingerprint is in a table."""
    return bool(table[_slot_of(table, fingerprint)] != 0)


@inlined
def _add_fingerprint(table: Ints, fingerprint: Int) -> bool:
    """Add a fingerprint to a table with free slots; False if it was there already."""
    slot = _slot_of(table, fingerprint)
    new = table[slot] == 0
    table[slot] = fingerprint
    return bool(new)


@compiled
def copy_fingerprints(table: Ints, larger: Ints) -> None:
    """Move to a larger table."""
    for fingerprint in table:
        if fingerprint != 0:
            _add_fingerprint(larger, fingerprint)


@inlined
def owner(fingerprint: Int, workers: Int) -> Int:
    """The worker whose table holds a fingerprint."""
    return np.int64((fingerprint >> np.uint64(48)) % np.uint64(workers))


@compiled
def add_new(fingerprints: Ints, worker: Int, workers: Int, table: Ints, new: Ints) -> Int:
    """Add the fingerprints that a worker owns; returns how many were new, their indices in `new`."""
    count = 0
    for index in range(len(fingerprints)):
        fingerprint = fingerprints[index]
        if owner(fingerprint, workers) == worker and _add_fingerprint(table, fingerprint):
            new[count] = index
            count += 1
    return count
