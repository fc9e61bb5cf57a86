"""`wire.size` computes the length of a frame without encoding it, and must match the encoding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from beforehand import wire
from beforehand.protocols.frames import Frame
from tests.wire.frames import SAMPLE_NAMES, SAMPLES, STRATEGIES


@pytest.mark.parametrize("frame_class", sorted(STRATEGIES, key=str))
def test_size_is_the_length_of_the_bytes(frame_class: type[Frame]) -> None:
    """For every frame class, whatever its fields."""

    @settings(max_examples=100)
    @given(STRATEGIES[frame_class])
    def sizes_match(frame: Frame) -> None:
        assert wire.size(frame) == len(wire.encode(frame))

    sizes_match()


@pytest.mark.parametrize("frame", SAMPLES, ids=SAMPLE_NAMES)
def test_payload_bytes_are_a_part_of_the_size(frame: Frame) -> None:
    """The rest is metadata, and every frame has some."""
    assert 0 <= frame.payload_bytes() < wire.size(frame)
    assert (frame.payload_bytes() > 0) <= (frame.messages() > 0)
    for part in frame.bundle() or (frame,):
        assert (part.messages() > 0) <= (part.about() > 0)
