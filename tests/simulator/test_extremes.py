"""Times near the end of time: the same in every build, or refused with an error."""

from __future__ import annotations

from contextlib import suppress

from beforehand.errors import ScenarioError
from beforehand.simulator import Scenario, run


def test_patience_grows_with_the_tick() -> None:
    """A thousand ticks of four months are beyond 64 bits; the run is not given up for that."""
    result = run(Scenario(processes=4, messages=10, seed=2, loss=0.5, tick="3000h"))
    assert (result.outcome, result.metrics.delivered) == ("complete", 40)


def test_the_tick_of_a_network_that_is_slow_beyond_measure() -> None:
    """The greatest deviation makes a time-out of centuries: it is refused, or it works."""
    with suppress(ScenarioError):
        result = run(
            Scenario(processes=4, messages=10, loss=0.2, delay="lognormal:5ms,10", until="1h")
        )
        assert result.outcome == "cut short"
