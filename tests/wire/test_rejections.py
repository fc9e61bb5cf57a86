"""The decoder rejects what no correct peer sends; the encoder rejects what no peer would accept."""

from __future__ import annotations

import pytest

from beforehand import wire
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols import tags
from beforehand.protocols.clocks.newtop import NewtopMessage, NewtopNull
from beforehand.protocols.clocks.vector import VectorMessage
from beforehand.protocols.controls import FifoAck, FifoMessage, RawMessage
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import FIRST_EXTENSION, LAST_EXTENSION, Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.overlay.frames import (
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Pong,
    Routed,
    Welcome,
)
from beforehand.protocols.reliable import Segment, SegmentAck
from beforehand.protocols.sender_side.cykas import CykasAck, CykasMessage
from beforehand.protocols.sender_side.mattern import MatternMessage
from beforehand.protocols.support.numbering import NumberedFrame
from tests.wire.frames import MAX, SAMPLE_NAMES, SAMPLES

TAGS = {value for name, value in vars(tags).items() if name.isupper() and name != "MARKER"}


def assert_rejected(data: bytes, problem: str = ": ") -> None:
    """Check that decoding these bytes raises an error with the peer and the reason."""
    with pytest.raises(RemoteProtocolError, match=problem) as caught:
        wire.decode(data, "mallory")
    assert caught.value.peer == "mallory"
    assert str(caught.value).startswith("mallory: ")


def test_tags_leave_the_marker_bit_of_hybrid_messages_free() -> None:
    """The first byte identifies every frame."""
    assert len(TAGS) > 10
    assert not [tag for tag in TAGS if tag & tags.MARKER or not 0 < tag < 256]
    first = {wire.encode(sample)[0] for sample in SAMPLES}
    assert {byte for byte in first if not byte & tags.MARKER} == TAGS


def test_an_empty_datagram_is_not_a_frame() -> None:
    """Neither is what follows the end of one."""
    assert_rejected(b"")
    with pytest.raises(RemoteProtocolError, match="bob: at byte 2: the bytes end"):
        wire.decode_at(wire.encode(HybridAck(1)), 2, "bob")


def test_offsets_outside_of_the_data() -> None:
    """A negative offset is the caller's mistake; beyond the end there is nothing to read."""
    with pytest.raises(LocalProtocolError, match="offsets start at 0"):
        wire.decode_at(wire.encode(HybridAck(1)), -2)
    with pytest.raises(RemoteProtocolError):
        wire.decode_at(b"", 10)


def test_unknown_tags_are_rejected() -> None:
    """Whatever follows the tag, and inside another frame too."""
    extensions = range(FIRST_EXTENSION >> 8, (LAST_EXTENSION >> 8) + 1)
    one_byte = [tag for tag in range(256) if tag not in TAGS and not tag & tags.MARKER]
    assert len(one_byte) == 128 - len(TAGS)
    unknown = [tag for tag in one_byte if tag not in extensions]
    assert len(unknown) == len(one_byte) - 16
    for tag in unknown:
        for rest in (b"", b"\x01" * 20):
            assert_rejected(bytes([tag]) + rest, f"no frame starts with {tag:#04x}")
            assert_rejected(
                bytes([tags.SEGMENT, 1, tag]) + rest, f"no frame starts with {tag:#04x}"
            )
    for tag in extensions:
        assert_rejected(bytes([tag]), "the bytes end inside a frame")
        assert_rejected(bytes([tag, 1, 1, 1]), f"no frame starts with {tag:#04x}01")
        assert_rejected(bytes([tags.SEGMENT, 1, tag, 1, 1]), f"no frame starts with {tag:#04x}01")


@pytest.mark.parametrize("frame", SAMPLES, ids=SAMPLE_NAMES)
def test_every_truncation_is_rejected(frame: Frame) -> None:
    """No proper prefix of a frame is a frame."""
    data = wire.encode(frame)
    for cut in range(len(data)):
        assert_rejected(data[:cut])


@pytest.mark.parametrize("frame", SAMPLES, ids=SAMPLE_NAMES)
def test_bytes_after_the_frame_are_rejected(frame: Frame) -> None:
    """`decode` takes exactly one frame; `decode_at` returns where it ends."""
    data = wire.encode(frame)
    for rest in (b"\0", data, b"\xff" * 9):
        assert_rejected(data + rest, f"at byte {len(data)}: {len(rest)} bytes after a frame")
        assert wire.decode_at(data + rest, 0) == (frame, len(data))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("20 00 00", "message 0 follows"),  # id 0
        ("25 05 00", "message 5 follows one that is 5 before it"),  # no predecessor is written as 0
        ("25 06 00", "message 5 follows one that is 6 before it"),
        ("25 01", "end inside a frame"),  # no payload
        ("25 01 01", "1 bytes announced, 0 left"),
        ("25 21 00", "a run of 0"),
        ("25 21 01 00", "a run of 1"),
        ("25 21 02 00", "a run of 2, 1 bytes left"),
        ("25 21 02 01 01 61", "1 bytes announced, 1 left"),
        ("25 21 02 01 02 61 62", "3 bytes announced, 2 left"),
        ("25 21 02 02 01 61 62", "3 bytes announced, 2 left"),
        ("60 05 01 00", "longer than its value needs"),
        ("25 40 01 00", "longer than its value needs"),
        ("25 01 40 00", "longer than its value needs"),
        ("25 21 40 02 00 00", "longer than its value needs"),
        ("25 21 02 00 40 01 61", "longer than its value needs"),
        ("ef ffffffffffffff 21 02 00 00", "2 messages from 1152921504606846975 on exceed"),
    ],
)
def test_invalid_hybrid_messages_are_rejected(data: str, problem: str) -> None:
    """Ids, predecessors, runs and lengths that no encoder writes."""
    assert_rejected(bytes.fromhex(data), problem)


def test_the_last_ids_can_be_used() -> None:
    """One message less than what is rejected above can be decoded."""
    for first, run in ((MAX, (b"",)), (MAX - 1, (b"", b""))):
        frame = HybridMessage(first, first - 1, False, run)
        assert wire.decode(wire.encode(frame)) == frame


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("01 00", "an id of 0"),
        ("02 00", "an id of 0"),
        ("06 00", "an id of 0"),
        ("09 00", "an id of 0"),
        ("0e 00", "an id of 0"),
        ("0f 00", "an id of 0"),
        ("19 00", "an id of 0"),
        ("05 00 01 01", "an id of 0"),
        ("08 00 00 00", "an id of 0"),
        ("0c 00 00", "an id of 0"),
        ("0d 00 00", "an id of 0"),
        ("18 00 00 00", "an id of 0"),
        ("1c 00 00", "an id of 0"),
        ("01 40 05", "longer than its value needs"),
        ("01 d000000000000000", "is more than 1152921504606846975"),
        ("08 05 05 00", "message 5 follows one that is 5 before it"),
        ("18 05 06 00", "message 5 follows one that is 6 before it"),
        ("08 05 01 02 61", "2 bytes announced, 1 left"),
        ("10 01 00 01 00 00", "0 elements, not at least 1"),  # no receivers
        ("10 01 01 01 62 00 00", "0 elements, not at least 1"),  # no rows
        ("10 01 01 01 62 02 00 00 00", "2 rows of 2 announced, 3 bytes left"),
        ("10 01 01 01 62 02 00 00 40 40 00", "end inside a frame"),
        ("10 01 01 00 01 00 00", "an empty name"),
        ("10 01 01 02 62", "2 elements|2 bytes announced, 1 left"),
        ("10 01 01 01 ff 01 00 00", "not UTF-8"),
        ("10 01 01 02 c0 80 01 00 00", "not UTF-8"),  # NUL in two bytes
        ("10 01 01 03 ed a0 80 01 00 00", "not UTF-8"),  # a surrogate
        ("10 01 01 04 f4 90 80 80 01 00 00", "not UTF-8"),  # beyond the last code point
        ("40 00 01 00 00", "an id of 0"),
        ("40 01 00 00", "0 elements, not at least 1"),  # no clock
        ("40 01 05 01 02 03 04", "5 elements announced, 4 bytes left"),
        ("40 01 02 01 40 3f 00", "longer than its value needs"),
        ("40 01 03 01 40 40 40", "end inside a frame"),
        ("44 00 00 00", "an id of 0"),
        ("44 02 cfffffffffffffff 00", "a clock of 1152921504606846977, which is more"),
        ("45 00", "an id of 0"),
        ("80 00 01 00", "an empty name"),
        ("80 01 61 00 00", "an id of 0"),
        ("80 01 61 01 02 68", "2 bytes announced, 1 left"),
        ("81 01 61 00 01 01 62 01 63 01", "an id of 0"),
        ("81 01 61 01 00 01 62 01 63 01", "control information of kind 0"),
        ("81 01 61 01 05 01 62 01 63 01", "control information of kind 5"),
        ("81 01 61 01 01 01 62 01 63 00", "an id of 0"),
        ("81 01 61 01 01 01 62 00 01", "an empty name"),
        ("82 01 00 01 01 62 01 63 01", "an empty name"),
        ("82 40 00 01 01 62 01 63 01", "longer than its value needs"),
        ("82 20 01 61 01 01 62 01 63 01", "32 elements announced, 8 bytes left"),
        ("83 00 00", "an id of 0"),
        ("83 01 02 80 01 61 01 00", "2 elements announced, 5 bytes left"),
        ("83 01 01 83 01 00 00 00", "a frame 0x83 among broadcasts and floods"),
        ("83 01 01 25 01 01 61 00", "a frame 0x25 among broadcasts and floods"),
        ("83 01 01 81 01 61 01 01", "end inside a frame"),
        ("84 00 00", "an id of 0"),
        ("84 01 01 01 ff", "not UTF-8"),
        ("85 00", "an id of 0"),
        ("86 00", "an id of 0"),
        ("87 40 05", "longer than its value needs"),
        ("88 00", "an id of 0"),
        ("89 00", "an id of 0"),
        ("8b 00 00", "an id of 0"),
        ("8b 01 01 01 61 00", "the number 0 of a message"),
        ("8b 01 01 01 61 01", "the number 0 of a message"),
        ("8b 01 02 01 61 02", "2 elements announced, 3 bytes left"),
        ("04 00 00 01 00 01 05", "an empty name"),
        ("04 00 00 02 01 61", "2 elements announced, 2 bytes left"),
        ("04 00 00 00", "end inside a frame"),
    ],
)
def test_other_invalid_frames_are_rejected(data: str, problem: str) -> None:
    """Ids of 0, wrong predecessors, empty lists, bad names and non-minimal integers."""
    assert_rejected(bytes.fromhex(data), problem)


@pytest.mark.parametrize(
    "data",
    [
        "04 00 00 00" * 2 + "01 05",  # Fenced in Fenced
        "05 01" * 2 + "01 05",  # Segment in Segment
        "04 00 00 00 05 01 01 05",  # Segment in Fenced
        "05 01 04 00 00 00 05 01 01 05",
        "05 01 04 00 00 00 04 00 00 00 01 05",
    ],
)
def test_frames_nest_in_one_order_only(data: str) -> None:
    """A fence may be inside a segment, but neither the reverse nor twice."""
    assert_rejected(bytes.fromhex(data), "inside one that must not contain it")


@pytest.mark.parametrize("layer", ["05 01", "04 00 00 00"])
def test_deep_nesting_does_not_recurse(layer: str) -> None:
    """A hundred thousand layers are rejected at the second one."""
    assert_rejected(
        bytes.fromhex(layer) * 100_000 + b"\x01\x05", "inside one that must not contain it"
    )


@pytest.mark.parametrize(
    "frame",
    [
        HybridMessage(0, 0, False, (b"",)),
        HybridMessage(5, 5, False, (b"",)),
        HybridMessage(5, 6, False, (b"",)),
        HybridMessage(5, -1, False, (b"",)),
        HybridMessage(-1, -2, False, (b"",)),
        HybridMessage(5, 4, False, ()),
        HybridMessage(MAX + 1, 4, False, (b"",)),
        HybridMessage(MAX, 4, False, (b"", b"")),
        HybridAck(0),
        HybridPermit(-1),
        SegmentAck(MAX + 1),
        FifoAck(0),
        FifoMessage(5, 5, b""),
        MatternMessage(5, -1, b""),
        MatternMessage(0, 0, b""),
        CykasMessage(0, True, b""),
        RawMessage(MAX + 1, b""),
        NewtopMessage(0, 1, b""),
        NewtopMessage(5, 4, b""),
        NewtopMessage(5, MAX + 1, b""),
        NewtopNull(0),
        VectorMessage(0, (1,), b""),
        VectorMessage(1, (), b""),
        VectorMessage(1, (1, -1), b""),
        VectorMessage(1, (1, MAX + 1), b""),
        Broadcast("bob", 0, b""),
        Broadcast("", 1, b""),
        Flood("bob", 1, Control(0, "a", "b", 1)),
        Flood("bob", 1, Control(5, "a", "b", 1)),
        Flood("bob", 1, Control(1, "a", "", 1)),
        Flood("bob", 1, Control(1, "a", "b", 0)),
        Routed(("",), Control(1, "a", "b", 1)),
        Buffered(0, ()),
        Buffered(1, (Broadcast("bob", 0, b""),)),
        Alpha(0, ()),
        Alpha(1, ("x" * 256,)),
        Pong(0),
        Join(MAX + 1),
        Close(-1),
        Welcome(0, ()),
        Welcome(1, (("bob", 0),)),
        Welcome(1, (("bob", MAX // 2 + 1),)),
        Fenced(-1, (), 0, HybridAck(1)),
        Fenced(0, (), MAX + 1, HybridAck(1)),
        Fenced(0, ("",), 0, HybridAck(1)),
        Fenced(0, ("x" * 256,), 0, HybridAck(1)),
        Fenced(0, (), 0, HybridAck(0)),
        Segment(0, CykasAck(1)),
        Fenced(0, (), 0, Fenced(0, (), 0, HybridAck(1))),
        Fenced(0, (), 0, Segment(1, HybridAck(1))),
        Segment(1, Segment(1, HybridAck(1))),
        Segment(1, Fenced(0, (), 0, Segment(1, HybridAck(1)))),
    ],
    ids=repr,
)
def test_frames_that_peers_would_reject_are_not_encoded(frame: Frame) -> None:
    """They are the caller's mistake, and the buffer is unchanged."""
    buffer = bytearray(b"before")
    with pytest.raises(LocalProtocolError, match=r"cannot be sent|process id"):
        wire.encode_into(frame, buffer)
    assert buffer == b"before"


def test_frames_without_an_encoding_are_the_callers_mistake() -> None:
    """The error includes the remedy."""
    for frame in (Frame(), NumberedFrame(1, b"")):
        for unregistered in (frame, Segment(1, frame)):
            with pytest.raises(
                LocalProtocolError, match="register the protocol that has this frame"
            ):
                wire.encode(unregistered)


def test_only_bytes_are_decoded() -> None:
    """Payloads are slices of the data, and applications expect bytes."""
    data = wire.encode(HybridMessage(1, 0, False, (b"x",)))
    for other in (bytearray(data), memoryview(data), data.hex(), None):
        with pytest.raises(TypeError):
            wire.decode(other)  # type: ignore[arg-type]
