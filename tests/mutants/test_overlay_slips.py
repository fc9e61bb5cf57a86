"""Each slip of the printed overlay algorithms, made in a copy of the cores, breaks its small run.

That the real cores get through the same runs is in `tests/papers/test_prc_slips.py`.
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
    """In the way that is told beside the run, and not by some other accident."""
    run = RUNS[slip.name]
    found = outcome(broken(run.protocol, slip), run.steps, run.links, run.protocol == "prc")
    assert found.startswith(f"{run.problem}:"), f"{slip.name}: {found or 'nothing is wrong'}"


def test_a_copy_without_a_mistake_is_as_good_as_the_real_core() -> None:
    """What the runs show is the slip, and not the copying."""
    nothing = Mutant("nothing", "REFUSED", "REFUSED: Final = 0", "REFUSED: Final = 0")
    for name, run in RUNS.items():
        make = broken(run.protocol, nothing)
        assert not outcome(make, run.steps, run.links, run.protocol == "prc"), name
