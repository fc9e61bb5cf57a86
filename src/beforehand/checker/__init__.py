"""Bounded model checking: every interleaving of the real cores, up to a bound.

    from beforehand.checker import check, setting
    verdict = check(setting("cykas-unsafe", processes=3, messages=2))

In reading order:

- `program.py` and `setting.py`: what to explore. `actions.py`: what can happen.
- `world.py`: the specification. One state of the system, its enabled actions, and their effect.
- `explore.py`: `check`, which explores a setting and judges it (`verdict.py`).
- `search/`: the search; `packed/`: the same worlds as rows of integers, for speed.
- `explain/`: counterexamples as diagrams, known figures, coverage.

The walk of one state: `search/search.py` takes its row from the frontier, `packed/successors.py` expands
it with the outcomes that `packed/local_steps.py` got from the real cores, and `search/visited.py` keeps
the successors that are new. A problem found on the way is replayed in `world.py` and explained.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from beforehand.checker.actions import Action, Run
from beforehand.checker.program import CheckProgram, CloseStep, OpenStep, SendStep
from beforehand.checker.setting import FaultBudget, Setting, setting
from beforehand.checker.verdict import CheckProblem, Counterexample, SearchProgress, Verdict
from beforehand.checker.world import CheckedWorld, replay

if TYPE_CHECKING:
    from beforehand.checker.explore import check
    from beforehand.checker.search.estimate import Estimate, estimate

__all__ = [
    "Action",
    "CheckProblem",
    "CheckProgram",
    "CheckedWorld",
    "CloseStep",
    "Counterexample",
    "Estimate",
    "FaultBudget",
    "OpenStep",
    "Run",
    "SearchProgress",
    "SendStep",
    "Setting",
    "Verdict",
    "check",
    "estimate",
    "replay",
    "setting",
]

# These need numba, which is an optional dependency and slow to import.
_LAZY = {
    "check": "beforehand.checker.explore",
    "Estimate": "beforehand.checker.search.estimate",
    "estimate": "beforehand.checker.search.estimate",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
