"""How many states there are in small bounds: numbers that only change when something has changed.

They are the same whether the cores are compiled or not. The full numbers are those of the plain
exploration (`reference.py`), too; the reduced ones show what the reductions are worth.
"""

from __future__ import annotations

import pytest

from beforehand.checker.explore import check
from beforehand.checker.setting import FaultBudget, Setting, setting

LINE = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
FAULTS = FaultBudget(loss=1, duplicate=1)

# protocol -> states, transitions and depth in full; states with reductions, and renamings used
FREE = {  # two messages of one process and one of each of the two others, to anybody
    "hybrid": (3059, 9272, 13, 946, 2),
    "hybrid-sps": (3227, 9836, 13, 1016, 2),
    "mattern": (1323, 3934, 12, 348, 2),
    "cykas": (2177, 6556, 12, 622, 2),
    "rst": (1404, 3230, 8, 200, 2),
    "ks": (1779, 3632, 8, 200, 2),
    "newtop": (3307, 8974, 17, 178, 1),
    "vector": (3349, 11617, 12, 97, 2),
    "tree": (427, 1350, 8, 183, 2),
}
ONE_EACH = {  # one message of each of three processes, to anybody: not enough to break anything
    "cykas-unsafe": (343, 882, 9, 36, 6),
    "fifo": (343, 882, 9, 36, 6),
    "raw": (64, 192, 6, 13, 6),
}
ON_A_LINE = {  # one message of two of three processes in a line, to everybody
    "link-memory": (83, 165, 10, 39, 1),
    "preventive": (83, 165, 10, 39, 1),
    "prc": (83, 165, 10, 39, 1),
}
WITH_FAULTS = {  # one message of each of two processes, a loss and a duplicate
    "hybrid": (133, 292, 9, 39, 2),
    "hybrid-sps": (133, 292, 9, 39, 2),
    "mattern": (133, 292, 9, 39, 2),
    "cykas": (3207, 11028, 12, 901, 2),
    "ks": (299, 632, 9, 78, 2),
    "newtop": (491, 1016, 12, 266, 1),
}
PINNED = [
    *((setting(name, sends=[2, 1, 1]), counts) for name, counts in FREE.items()),
    *((setting(name, sends=[1, 1, 1]), counts) for name, counts in ONE_EACH.items()),
    *((setting(name, sends=[1, 1, 0], links=LINE), counts) for name, counts in ON_A_LINE.items()),
    *((setting(name, sends=[1, 1], faults=FAULTS), counts) for name, counts in WITH_FAULTS.items()),
]


@pytest.mark.parametrize(("chosen", "counts"), PINNED, ids=lambda pin: getattr(pin, "protocol", ""))
def test_counts(chosen: Setting, counts: tuple[int, ...]) -> None:
    """The pinned counts, by one worker in full and by two with reductions."""
    full = check(chosen, reduce=False, symmetry=False, workers=1)
    less = check(chosen, workers=2)
    assert (full.outcome, less.outcome) == ("correct", "correct")
    actual = (full.states, full.transitions, full.depth, less.states, less.symmetries)
    assert actual == counts
