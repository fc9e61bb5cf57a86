"""The arrays that a worker reads and fills while it expands worlds, and the codes in them."""

from typing import Final, NamedTuple

import numpy as np

from beforehand._kernel import Int, Ints
from beforehand.checker.packed.tables import SearchConstants, StepTables

# What happens to a frame, or that all timers go off. An event code is 4 * event + one of these.
ARRIVE: Final[Int] = np.int64(0)
DUPLICATE: Final[Int] = np.int64(1)
LOSE: Final[Int] = np.int64(2)
TIMERS: Final[Int] = np.int64(3)

# Typed, because for each plain constant among its arguments numba would compile a function again.
NONE: Final[Int] = np.int64(-1)
ZERO: Final[Int] = np.int64(0)
ANY_STEP: Final[Int] = np.int64(0)  # collect successors
SILENT_STEPS: Final[Int] = np.int64(1)  # only follow silent steps

# The entries of `Expansion.status`: counts, the coverage bits, the first problem, and overflow.
ROWS_DONE, SUCCESSORS, MISSING, RETRIES, TRANSITIONS, COVERAGE = range(6)
PROBLEM, PROBLEM_ROW, PROBLEM_EVENT, OVERFLOW, STATUS_SIZE = range(6, 11)

# Why OVERFLOW: more frames in flight than fit into a row; more worlds on the way than fit into the
# scratch buffers; or the expansion is full and has to be emptied first.
TOO_MANY_FRAMES: Final = 1
TOO_MANY_BRANCHES: Final = 2
EXPANSION_FULL: Final = 3

NO_PROBLEM: Final = 0
BAD_STEP: Final = 1  # PROBLEM_EVENT at PROBLEM_ROW breaks a guarantee, or a core fails
BAD_END: Final = 2  # the run to PROBLEM_ROW has ended, and something is missing

# Coverage bits, above those of local steps.
REORDERING: Final = 16
LOSS: Final = 32
DUPLICATION: Final = 64
TICK: Final = 128

MOST_EVENTS: Final = 256  # enabled at one process of one world
MOST_SILENT: Final = 512  # worlds reached by silent steps of one process, or ends of runs

# The columns of `Scratch.enabled`: the event, its outcome (-1: none), its frame's index (-1: none), and
# what happens to the frame.
EVENT, OUTCOME, FRAME_INDEX, FRAME_FATE, _ENABLED_WIDTH = range(5)

# Partial sums of a fingerprint, kept apart because most steps change few of them.
STATE_SUM: Final = 0
FRAME_SUM: Final = 1
CLOCK_SUM: Final = 2
SUMS: Final = 3


class Expansion(NamedTuple):
    """What a worker has found; `status` has the number of valid entries in the other arrays."""

    rows: Ints  # successors, ...
    fingerprints: Ints  # ... their fingerprints, ...
    parents: Ints  # ... the rows that they come from, ...
    events: Ints  # ... and the codes of the last event
    missing: Ints  # keys of local steps that have to be run first
    retry: Ints  # rows that need them
    status: Ints


class Scratch(NamedTuple):
    """Buffers for the intermediate worlds of one worker; the last row is the one being built."""

    rows: Ints
    sums: Ints
    fingerprints: Ints
    enabled: Ints
    ends: Ints  # two buffers of worlds in which runs end


class Workspace(NamedTuple):
    """Everything that one worker reads and writes while it expands a block."""

    constants: SearchConstants
    steps: StepTables
    visited: Ints
    scratch: Scratch
    expansion: Expansion


def make_expansion(successors: int, rows: int, width: int) -> Expansion:
    """Space for that many successors of that many rows."""
    return Expansion(
        rows=np.zeros((successors, width), np.uint32),
        fingerprints=np.zeros(successors, np.uint64),
        parents=np.zeros(successors, np.int64),
        events=np.zeros(successors, np.uint32),
        missing=np.zeros(successors, np.uint64),
        retry=np.zeros(rows, np.int64),
        status=np.zeros(STATUS_SIZE, np.int64),
    )


def make_scratch(width: int, renamings: int) -> Scratch:
    """The scratch buffers of one worker."""
    return Scratch(
        rows=np.zeros((MOST_SILENT + 1, width), np.uint32),
        sums=np.zeros((MOST_SILENT + 2, SUMS, renamings), np.uint64),
        fingerprints=np.zeros(MOST_SILENT + 1, np.uint64),
        enabled=np.zeros((MOST_EVENTS, _ENABLED_WIDTH), np.int64),
        ends=np.zeros((2, MOST_SILENT, width), np.uint32),
    )
