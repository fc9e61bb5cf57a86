"""Matrices: dense on the wire, cheap where they are all zeros."""

from __future__ import annotations

import pytest

from beforehand import wire
from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.rst import RstMessage
from tests.wire.memory import peak_of


def message(matrix: tuple[tuple[int, ...], ...]) -> RstMessage:
    """Return a message with this matrix."""
    return RstMessage(5, ("bob",), matrix, b"x")


def test_counts_below_64_take_a_byte_each() -> None:
    """n is encoded once, followed by n * n counts."""
    size = 50
    matrix = tuple(tuple((row * column) % 64 for column in range(size)) for row in range(size))
    overhead = len(wire.encode(message(((0,),)))) - 1
    assert len(wire.encode(message(matrix))) == overhead + size * size


def test_rows_of_zeros_are_one_object_after_decoding() -> None:
    """All rows of zeros share one tuple."""
    size = 500
    nonzero = (7, *[0] * (size - 1))
    matrix = ((0,) * size,) * 100 + (nonzero,) + ((0,) * size,) * (size - 101)
    decoded = wire.decode(wire.encode(message(matrix)))
    assert isinstance(decoded, RstMessage)
    assert decoded.matrix == matrix
    assert len({id(row) for row in decoded.matrix}) == 2


def test_a_matrix_of_zeros_needs_little_more_memory_than_its_bytes() -> None:
    """Encoder and decoder allocate only one row and the bytes themselves."""
    size = 3_000
    frame = message(((0,) * size,) * size)
    data, encoding = peak_of(lambda: wire.encode(frame))
    assert len(data) > size * size
    assert encoding < 1.1 * len(data)
    decoded, decoding = peak_of(lambda: wire.decode(data))
    assert decoded == frame
    assert decoding < 0.1 * len(data)


@pytest.mark.parametrize("count", [63, 64, 255, 256, 16_383, 16_384, 2**60 - 1])
@pytest.mark.parametrize("column", [0, 2])
def test_one_large_count_in_a_small_row(count: int, column: int) -> None:
    """Rows with counts of several lengths are decoded one by one, wherever the long one is."""
    row = [1, 0, 3]
    row[column] = count
    frame = message(((0, 0, 0), tuple(row), (0, 0, 0)))
    assert wire.decode(wire.encode(frame)) == frame


@pytest.mark.parametrize(
    ("receivers", "matrix"),
    [
        ((), ((0,),)),
        (("bob",), ()),
        (("bob",), ((0, 0),)),
        (("bob",), ((0, 0), (0,))),
        (("bob",), ((-1,),)),
        (("bob",), ((2**60,),)),
        (("bob",), ((300, -1), (0, 0))),
        (("",), ((0,),)),
        (("b" * 256,), ((0,),)),
        (("\ud800",), ((0,),)),
    ],
)
def test_messages_that_cannot_be_encoded_are_the_callers_fault(
    receivers: tuple[str, ...], matrix: tuple[tuple[int, ...], ...]
) -> None:
    """A matrix that is not square, counts out of range and bad names raise the local error."""
    with pytest.raises(LocalProtocolError):
        wire.encode(RstMessage(5, receivers, matrix, b"x"))


@pytest.mark.slow
def test_ten_thousand_processes() -> None:
    """A matrix of 100 million counts is encoded and decoded."""
    size = 10_000
    busy = tuple(number % 100 for number in range(size))
    frame = message((busy, *((0,) * size,) * (size - 1)))
    assert wire.decode(wire.encode(frame)) == frame
