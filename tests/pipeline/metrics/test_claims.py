"""The claims of Almeida's Table 1 are about protocols that exist."""

from __future__ import annotations

from beforehand import protocols
from beforehand.pipeline.metrics.claims import CLAIMS


def test_each_protocol_once_and_as_the_registry_has_it() -> None:
    """What is claimed of the network agrees with what the protocols say of themselves."""
    names = [claim.protocol for claim in CLAIMS]
    assert len(set(names)) == len(names)
    for claim in CLAIMS:
        known = protocols.describe(claim.protocol)
        assert (claim.failures == "reliable") == (known.network == "reliable")
        assert claim.message_space == known.metadata
