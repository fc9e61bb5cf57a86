"""Each slip of the printed overlay algorithms, reintroduced into a copy of the cores, breaks its small run.

The real cores pass the same runs in `tests/papers/test_prc_slips.py`.
"""

from __future__ import annotations

import pytest

from beforehand._build import is_compiled
from tests.mutants.broken import broken
from tests.mutants.mutant import Mutant
from tests.mutants.overlay import SLIPS
from tests.mutants.overlay_slips import RUNS
from tests.support.overlay_runs import outcome

pytestmark = pytest.mark.skipif(
    is_compiled(), reason="a broken copy cannot extend compiled classes"
)


@pytest.mark.parametrize("slip", SLIPS, ids=[slip.name for slip in SLIPS])
def test_the_slip_shows(slip: Mutant) -> None:
    """With the problem that is listed for the run, and no other."""
    run = RUNS[slip.name]
    problem = outcome(broken(run.protocol, slip), run.steps, run.links, run.protocol == "prc")
    assert problem.startswith(f"{run.problem}:"), f"{slip.name}: {problem or 'nothing is wrong'}"


def test_a_copy_without_a_mistake_is_as_good_as_the_real_core() -> None:
    """What the runs show is the slip, and not the copying."""
    nothing = Mutant("nothing", "REFUSED", "REFUSED: Final = 0", "REFUSED: Final = 0")
    for name, run in RUNS.items():
        make = broken(run.protocol, nothing)
        assert not outcome(make, run.steps, run.links, run.protocol == "prc"), name
