"""What no correct peer could send to a hybrid core: refused or ignored, and never half used."""

from __future__ import annotations

import pytest

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.effects import Deliver
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.checks import MAX_ID
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.sps import HybridSps

both = pytest.mark.parametrize("variant", [Hybrid, HybridSps])


def delivered(core: HybridCore, frame: Frame) -> list[bytes]:
    """The payloads that a frame from b brings to the application."""
    return [e.payload for e in core.receive("b", frame) if isinstance(e, Deliver)]


@both
@pytest.mark.parametrize(
    "frame",
    [
        HybridMessage(0, 0, False, (b"x",)),
        HybridMessage(3, 3, False, (b"x",)),
        HybridMessage(3, 5, False, (b"x",)),
        HybridMessage(3, -1, False, (b"x",)),
        HybridMessage(-3, -5, False, (b"x",)),
        HybridMessage(3, 2, False, ()),
        HybridMessage(MAX_ID, 2, False, (b"x", b"beyond")),
        HybridMessage(MAX_ID + 1, 2, False, (b"x",)),
        HybridPermit(0),
        HybridPermit(-7),
        HybridPermit(MAX_ID + 1),
        HybridAck(0),
        HybridAck(MAX_ID),
    ],
)
def test_impossible_numbers_are_refused(variant: type[HybridCore], frame: Frame) -> None:
    """Ids start at 1 and grow; the peer is named and nothing changes."""
    core = variant("a")
    core.send("b", b"x")
    core.receive("b", HybridMessage(2, 0, True, (b"y",)))
    before = core.fingerprint()
    with pytest.raises(RemoteProtocolError, match="^b: ") as caught:
        core.receive("b", frame)
    assert caught.value.peer == "b"
    assert core.fingerprint() == before


@both
def test_a_predecessor_that_contradicts_what_was_delivered_is_refused(
    variant: type[HybridCore],
) -> None:
    """After 4 came, 6 cannot have 2 before it: between the two there was 4."""
    core = variant("a")
    assert delivered(core, HybridMessage(2, 0, False, (b"2",))) == [b"2"]
    assert delivered(core, HybridMessage(4, 2, False, (b"4",))) == [b"4"]
    before = core.fingerprint()
    with pytest.raises(RemoteProtocolError, match="claims predecessor 2"):
        core.receive("b", HybridMessage(6, 2, False, (b"6",)))
    assert core.fingerprint() == before


@both
def test_an_early_frame_that_leaves_a_gap_is_not_believed(variant: type[HybridCore]) -> None:
    """It was kept while it was plausible; now that 1 to 3 are one run, 9 cannot follow 2."""
    core = variant("a")
    assert delivered(core, HybridMessage(9, 2, False, (b"9",))) == []
    assert delivered(core, HybridMessage(1, 0, False, (b"1", b"2", b"3"))) == [b"1", b"2", b"3"]
    assert core.held() == [], "it is not kept forever either"
    assert delivered(core, HybridMessage(4, 3, False, (b"4",))) == [b"4"]


@both
def test_a_permit_from_a_stranger_is_remembered_and_frees_nobody_else(
    variant: type[HybridCore],
) -> None:
    """It may have overtaken its message, so it is kept; it only ever concerns its own sender."""
    core = variant("a")
    core.receive("b", HybridMessage(2, 0, True, (b"secret",)))
    core.send("c", b"waits")
    held = core.held()
    assert core.receive("stranger", HybridPermit(2)) == []
    assert core.held() == held


@both
def test_a_frame_from_oneself_is_refused(variant: type[HybridCore]) -> None:
    """No process is its own peer."""
    core = variant("a")
    before = core.fingerprint()
    with pytest.raises(RemoteProtocolError, match="itself"):
        core.receive("a", HybridMessage(1, 0, False, (b"x",)))
    assert core.fingerprint() == before
