"""Which catalogues of mutants there are, and which tests guard what each of them breaks."""

from __future__ import annotations

from typing import NamedTuple

from tests.mutants import clocks, hybrid, overlay, tree
from tests.mutants.mutant import Mutant


class Family(NamedTuple):
    """Mutants of protocols that belong together."""

    name: str
    title: str
    source: str  # the module with the list
    mutants: list[Mutant]
    guards: list[str]
    select: str = ""  # of what is in the guards, the tests with this in their names


FAMILIES = [
    Family(
        "hybrid",
        "Hybrid buffering: `hybrid` and `hybrid-sps`",
        "hybrid.py",
        hybrid.MUTANTS,
        hybrid.GUARDS,
        hybrid.SELECT,
    ),
    Family("clocks", "Clocks: `vector` and `newtop`", "clocks.py", clocks.MUTANTS, clocks.GUARDS),
    Family("tree", "The tree: `tree`", "tree.py", tree.MUTANTS, tree.GUARDS),
    Family(
        "overlay",
        "Overlays: `link-memory`, `preventive` and `prc`",
        "overlay.py",
        overlay.MUTANTS,
        overlay.GUARDS,
    ),
]
