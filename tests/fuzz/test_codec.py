"""Whatever bytes arrive, decoding gives a frame that encodes to the same bytes, or the remote error."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beforehand import wire
from beforehand.errors import RemoteProtocolError
from beforehand.protocols import tags
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import Close, Leave
from tests.wire.frames import SAMPLES, any_frame

TAGS = sorted(value for name, value in vars(tags).items() if name.isupper() and name != "MARKER")
CORPUS = [wire.encode(sample) for sample in SAMPLES]

# Bytes that mean something: ends of ranges, lengths, the beginnings of varints.
SPECIAL_BYTES = [0x00, 0x01, 0x02, 0x3F, 0x40, 0x7F, 0x80, 0xBF, 0xC0, 0xCF, 0xD0, 0xFF, *TAGS]


def accepted(data: bytes) -> Frame | None:
    """The decoded frame, or None if the data is refused; anything else is a failure."""
    try:
        frame = wire.decode(data, "mallory")
    except RemoteProtocolError as refusal:
        if refusal.peer != "mallory" or not refusal.problem:
            raise AssertionError("an error that does not say who or why") from refusal
        return None
    assert wire.encode(frame) == data
    return frame


def mutated(random: Random, data: bytes) -> bytes:
    """The data with one to three small mistakes."""
    result = bytearray(data)
    for _ in range(random.randint(1, 3)):
        offset = random.randrange(len(result) + 1)
        match random.randrange(7):
            case 0 if result:
                result[offset % len(result)] ^= 1 << random.randrange(8)
            case 1 if result:
                result[offset % len(result)] = random.choice(SPECIAL_BYTES)
            case 2:
                result.insert(offset, random.choice(SPECIAL_BYTES))
            case 3:
                del result[offset : offset + random.randint(1, 4)]
            case 4:
                del result[offset:]
            case 5:
                result[offset:offset] = result[offset : offset + random.randint(1, 8)]
            case _:
                other = random.choice(CORPUS)
                result[offset:] = other[random.randrange(len(other)) :]
    return bytes(result)


def is_signal(frame: Frame) -> bool:
    """Whether it carries nothing but a number."""
    return [type(field) for field in frame.key()] == [int]


def test_all_inputs_of_two_bytes() -> None:
    """All 65,793 inputs of at most two bytes, of which the acks with a small id are frames."""
    single = [accepted(bytes([value])) for value in range(256)]
    assert [frame for frame in single if frame is not None] == [Leave()]
    decoded: Counter[type[Frame]] = Counter()
    assert accepted(b"") is None
    for value in range(65_536):
        frame = accepted(value.to_bytes(2, "big"))
        if frame is not None:
            decoded[type(frame)] += 1
    signals = {type(frame) for frame in SAMPLES if is_signal(frame)}
    assert len(signals) >= 12
    # Numbers from 1 to 63, and links that were there from the start.
    assert decoded == {kind: 64 if kind is Close else 63 for kind in signals}


@settings(max_examples=1_500)
@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    """Arbitrary bytes."""
    accepted(data)


@settings(max_examples=1_500)
@given(st.sampled_from([*TAGS, 0x21, 0x31, 0x75, 0xA0, 0xFF]), st.binary(max_size=60))
@example(0x14, b"\x01\x01\x01a\x01\x00\x01\x00\x01\x01\x00\x00")
def test_any_bytes_after_a_tag(tag: int, data: bytes) -> None:
    """The first byte is valid, so that the rest gets parsed."""
    accepted(bytes([tag]) + data)


@settings(max_examples=300)
@given(any_frame, st.data())
def test_any_frame_with_a_wrong_byte(frame: Frame, data: st.DataObject) -> None:
    """One byte of any frame is replaced."""
    encoded = bytearray(wire.encode(frame))
    encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    accepted(bytes(encoded))


@pytest.mark.parametrize("seed", range(10))
def test_mutated_frames(seed: int) -> None:
    """Forty thousand frames with mistakes in them, a part of which are frames all the same."""
    random = Random(seed)
    frames = 0
    classes = set()
    for _ in range(4_000):
        frame = accepted(mutated(random, random.choice(CORPUS)))
        if frame is not None:
            frames += 1
            classes.add(type(frame))
    assert 100 < frames < 3_000
    assert len(classes) > 10


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_that_look_like_frames(seed: int) -> None:
    """Twenty thousand strings of bytes that mean something somewhere."""
    random = Random(seed)
    frames = 0
    for _ in range(2_000):
        frames += (
            accepted(bytes(random.choices(SPECIAL_BYTES, k=random.randint(1, 40)))) is not None
        )
    assert frames


@pytest.mark.parametrize("seed", range(10))
def test_garbage_between_frames(seed: int) -> None:
    """Reading on from any offset gives frames that are really there, or the remote error."""
    random = Random(seed)
    for _ in range(300):
        data = b"".join(mutated(random, random.choice(CORPUS)) for _ in range(4))
        offset = random.randrange(len(data) + 1)
        while offset < len(data):
            try:
                frame, end = wire.decode_at(data, offset, "mallory")
            except RemoteProtocolError:
                break
            assert offset < end <= len(data)
            assert wire.encode(frame) == data[offset:end]
            offset = end
