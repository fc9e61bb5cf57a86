"""Decoding an encoded frame gives an equal frame."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand import wire
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.protocols.sender_side.cykas import CykasMessage
from tests.wire.frames import (
    ABSTRACT,
    SAMPLE_NAMES,
    SAMPLES,
    STRATEGIES,
    any_frame,
    frame_classes,
)


def test_every_frame_class_of_every_protocol_is_tested() -> None:
    """A new frame class needs an encoding, and a strategy and a sample to test it with."""
    classes = frame_classes()
    assert len(classes) > 10, "hardly any frame class was discovered"
    assert classes == STRATEGIES.keys()
    assert classes == {type(sample) for sample in SAMPLES}


def test_abstract_classes_have_subclasses() -> None:
    """A concrete frame class can't be skipped by listing it as abstract."""
    for abstract in ABSTRACT:
        assert abstract.__subclasses__()


@pytest.mark.parametrize("frame_class", sorted(STRATEGIES, key=str))
def test_each_class_round_trips(frame_class: type[Frame]) -> None:
    """Whatever the fields, decoding gives back an equal frame of the same class."""

    @settings(max_examples=100)
    @given(STRATEGIES[frame_class])
    def round_trip(frame: Frame) -> None:
        decoded = wire.decode(wire.encode(frame), "bob")
        assert type(decoded) is frame_class
        assert decoded == frame

    round_trip()


@pytest.mark.parametrize("frame", SAMPLES, ids=SAMPLE_NAMES)
def test_samples_round_trip(frame: Frame) -> None:
    """The samples used by other tests are valid."""
    assert wire.decode(wire.encode(frame)) == frame


def test_flags_come_back_as_bools() -> None:
    """Equality alone would accept 1 for True."""
    for flag in (False, True):
        message = wire.decode(wire.encode(HybridMessage(1, 0, flag, (b"",))))
        assert isinstance(message, HybridMessage)
        assert message.flagged is flag
        cykas = wire.decode(wire.encode(CykasMessage(1, flag, b"")))
        assert isinstance(cykas, CykasMessage)
        assert cykas.eager is flag


@given(st.lists(any_frame, max_size=8), st.binary(max_size=5))
def test_many_frames_in_one_datagram(frames: list[Frame], before: bytes) -> None:
    """Frames written one after the other are read one after the other, from any offset."""
    buffer = bytearray(before)
    ends = []
    for frame in frames:
        wire.encode_into(frame, buffer)
        ends.append(len(buffer))
    data = bytes(buffer)
    offset = len(before)
    for frame, end in zip(frames, ends, strict=True):
        decoded, offset = wire.decode_at(data, offset, "bob")
        assert decoded == frame
        assert offset == end
    assert offset == len(data)


@given(any_frame)
def test_encode_into_appends_what_encode_returns(frame: Frame) -> None:
    """Both functions produce the same bytes."""
    buffer = bytearray(b"before")
    wire.encode_into(frame, buffer)
    assert buffer == b"before" + wire.encode(frame)


@given(any_frame, any_frame)
def test_equal_frames_are_equal_bytes(one: Frame, other: Frame) -> None:
    """Frames differ exactly if their bytes do."""
    assert (one == other) == (wire.encode(one) == wire.encode(other))
