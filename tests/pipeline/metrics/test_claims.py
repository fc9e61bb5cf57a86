"""The claims of Almeida's Table 1 refer to protocols that exist."""

from __future__ import annotations

from beforehand import protocols
from beforehand.pipeline.metrics.claims import CLAIMS


def test_claims_name_each_protocol_once_and_agree_with_the_registry() -> None:
    """The claimed network and metadata agree with each protocol's own description."""
    names = [claim.protocol for claim in CLAIMS]
    assert len(set(names)) == len(names)
    for claim in CLAIMS:
        description = protocols.describe(claim.protocol)
        assert (claim.failures == "reliable") == (description.network == "reliable")
        assert claim.message_space == description.metadata
