"""The size of a frame is counted, not written: it must be the same number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from beforehand import wire
from beforehand.protocols.frames import Frame
from tests.wire.frames import SAMPLE_NAMES, SAMPLES, STRATEGIES


@pytest.mark.parametrize("frame_class", sorted(STRATEGIES, key=str))
def test_size_is_the_length_of_the_bytes(frame_class: type[Frame]) -> None:
    """Whatever the fields, for every class of frames."""

    @settings(max_examples=100)
    @given(STRATEGIES[frame_class])
    def same(frame: Frame) -> None:
        assert wire.size(frame) == len(wire.encode(frame))

    same()


@pytest.mark.parametrize("frame", SAMPLES, ids=SAMPLE_NAMES)
def test_payload_bytes_are_a_part_of_the_size(frame: Frame) -> None:
    """What is not payload is metadata, and every frame has some."""
    assert 0 <= frame.payload_bytes() < wire.size(frame)
    assert (frame.payload_bytes() > 0) <= (frame.messages() > 0)
    for part in frame.bundle() or (frame,):
        assert (part.messages() > 0) <= (part.about() > 0)
