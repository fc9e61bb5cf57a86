"""What the loops find and say, and the room that they need on the way."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from beforehand._kernel import Int, Ints
from beforehand.checker.packed.fingerprints import SUMS

# What happens to a frame, or that all timers go off; with the event, it makes an entry of the trail.
ARRIVE: Final[Int] = np.int64(0)
DUPLICATE: Final[Int] = np.int64(1)
LOSE: Final[Int] = np.int64(2)
TIMERS: Final[Int] = np.int64(3)

# Not as plain constants: for each of those, numba would compile a function again.
NONE: Final[Int] = np.int64(-1)
ZERO: Final[Int] = np.int64(0)
ANY_STEP: Final[Int] = np.int64(0)  # successors are wanted
SILENT_STEPS: Final[Int] = np.int64(1)  # only where silent steps lead

# Where `expand` leaves what it has to say.
DONE, FOUND, MISSING, RETRY, TRANSITIONS, SEEN = range(6)
PROBLEM, WHERE, EVENT, OVERFULL, SAID = range(6, 11)

# Why OVERFULL: more frames in flight than a row holds; more worlds on the way than there is room for; no
# more room for what is found, so that it has to be taken away first.
FRAMES_LEFT_OVER: Final = 1
TOO_MANY_WAYS: Final = 2
TAKE_AWAY: Final = 3

NO_PROBLEM: Final = 0
BROKEN: Final = 1  # the event at WHERE breaks a promise, or a core fails
BAD_END: Final = 2  # the run to WHERE has ended, and something is missing

# Bits of SEEN, above those of local steps.
REORDERING: Final = 16
LOSS: Final = 32
DUPLICATION: Final = 64
TICK: Final = 128

MOST_EVENTS: Final = 256  # of one process in one world
MOST_SILENT: Final = 512  # worlds reached by silent steps of one process, or at an end, at a time

# What there is to do: the event, its outcome (-1: none), the index of its frame (-1: none), its kind.
EVENT_OF, OUTCOME, INDEX, KIND, _COLUMNS = range(5)


class Found(NamedTuple):
    """Where a worker leaves what it finds; the lists have room at their ends."""

    rows: Ints  # new worlds, ...
    prints: Ints  # ... their fingerprints, ...
    parents: Ints  # ... the rows that they come from, ...
    events: Ints  # ... and what happened there last
    missing: Ints  # local steps that have to be run first
    retry: Ints  # rows that need them
    said: Ints  # counts and more, by DONE, FOUND, ...


class Room(NamedTuple):
    """Room for worlds that are passed on the way."""

    rows: Ints
    sums: Ints
    prints: Ints
    todo: Ints
    ends: Ints  # twice


def make_room(width: int, group: int) -> Room:
    """Room for one worker."""
    return Room(
        np.zeros((MOST_SILENT + 1, width), np.uint32),
        np.zeros((MOST_SILENT + 2, SUMS, group), np.uint64),
        np.zeros(MOST_SILENT + 1, np.uint64),
        np.zeros((MOST_EVENTS, _COLUMNS), np.int64),
        np.zeros((2, MOST_SILENT, width), np.uint32),
    )
