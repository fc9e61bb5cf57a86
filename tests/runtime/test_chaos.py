"""Everything at once: cuts, drops, crashes and restarts while messages flow, and causal order holds."""

import pytest

from beforehand.runtime.identity import introductions
from tests.runtime.chaos import Chaos
from tests.runtime.nodes import run

MS = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 10, 29])
def test_causal_order_survives_chaos(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No violation, no exception, no message of an old incarnation, and all are connected in the end."""
    monkeypatch.setattr(introductions, "LIFE_SIGN", 100 * MS)
    monkeypatch.setattr(introductions, "CROSSING", 150 * MS)
    monkeypatch.setattr(introductions, "FIRST_RETRY", 20 * MS)
    monkeypatch.setattr(introductions, "SLOWEST_RETRY", 60 * MS)
    monkeypatch.setattr(introductions, "ANSWER_LIFETIME", 300 * MS)
    chaos = Chaos(seed)
    run(chaos.run(8.0), 60)
    assert chaos.violations == [], f"seed {seed}"
    assert chaos.delivered > 500 and chaos.restarts and chaos.cuts
