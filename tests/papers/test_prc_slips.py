"""The smallest runs on which the printed Algorithm 2 of `prc`, or a careless reading of it, fails.

Here the real cores get through them. `tests/mutants/test_overlay_slips.py` makes each slip in a copy of
the cores, where the same run shows it. The steps are explained in `tests/support/overlay_runs.py`.
"""

from __future__ import annotations

import pytest

from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import Routed
from tests.mutants.overlay_slips import ALPHA, B_BETA, BETA, MADE, PI, RHO, RUNS
from tests.support.overlay import OverlayWorld, maker
from tests.support.overlay_runs import SQUARE, STAR, outcome, play, world_for

PRC = maker("prc")


@pytest.mark.parametrize("name", RUNS)
def test_the_run_of_each_slip_ends_well(name: str) -> None:
    """Everything is delivered once, in causal order, and no entry remains."""
    run = RUNS[name]
    assert not outcome(maker(run.protocol), run.steps, run.links, run.protocol == "prc")


def test_the_steps_of_a_handshake() -> None:
    """The names that the runs use for them are right: after them the link is safe."""
    world = world_for(PRC)
    for steps, safe in [("1+2/0", 0), (ALPHA, 0), (BETA, 0), (PI, 0), (RHO, 1), (B_BETA, 1)]:
        play(world, steps)
        assert len(world.safe) == safe
    assert world.safe == [("1", "2")] and not world.flight
    assert world.cores["1"].links.out["2"] == world.cores["2"].links.incoming["1"] == 1


class Overtaking(OverlayWorld):
    """Control information has its own queue on each link, and never waits behind data."""

    def arrive(self, sender: str, receiver: str) -> bool:
        """The next control information if there is any, else the next frame."""
        frames = self.flight.get((sender, receiver))
        if frames is not None:
            ahead: Frame | None = next(
                (frame for frame in frames if isinstance(frame, Routed)), None
            )
            if ahead is not None:
                frames.remove(ahead)
                frames.appendleft(ahead)
        return super().arrive(sender, receiver)


def test_control_must_not_overtake_data_on_a_hop() -> None:
    """Then pi claims that 2 has everything that 1 had, which is false: the effect arrives first."""
    steps = f"1+2/0 {ALPHA} 1! {BETA} {PI} {RHO} 1! {B_BETA} 1>2"
    assert not outcome(PRC, steps)
    world = Overtaking(PRC, "012", STAR)
    play(world, steps)
    assert world.delivered["2"] == [("1", 2)]
    world.settle()
    assert str(world.violations[0]).startswith("causal: ")


def test_make_before_break() -> None:
    """A process that closes its last safe link before the new one is safe cuts itself off for good."""
    cut = world_for(PRC)
    play(cut, f"1+2/0 1-0 {ALPHA} 2>0 0>1 1!")
    cut.settle()
    assert cut.problem().startswith("undelivered: ") and not cut.safe
    assert not cut.violations  # late forever, but nothing is out of order
    assert not outcome(PRC, f"{MADE} 1-0 1!")


def test_agreement_is_among_those_who_stay() -> None:
    """A process may deliver its own message, crash, and be the only one: agreement is not uniform."""
    lost = world_for(PRC, SQUARE)
    play(lost, "1! 1x")
    lost.flight.clear()  # it had put the copies aside, but not sent them
    lost.settle()
    assert [len(lost.delivered[name]) for name in "0123"] == [0, 1, 0, 0]
    assert not lost.problem() and not lost.entries()
    complete = world_for(PRC, SQUARE)
    play(complete, "1! 1x 1>0")
    del complete.flight["1", "3"]
    complete.settle()
    assert [len(complete.delivered[name]) for name in "0123"] == [1, 1, 1, 1]
    assert not complete.problem() and not complete.entries()
