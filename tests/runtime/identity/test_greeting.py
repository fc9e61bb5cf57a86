"""Greetings survive encoding and decoding, and other bytes are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.encoding.varint import MAX_VALUE
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.identity.greeting import MAX_DATAGRAM, MAX_GREETING, MIN_DATAGRAM, Greeting

ALICE = Greeting("alice", b"incarnat", b"connectn", "hybrid-sps", 16_384, 32 << 20, 1_400)

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=63)
numbers = st.integers(1, MAX_VALUE)
greetings = st.builds(
    Greeting,
    name=names,
    incarnation=st.binary(min_size=8, max_size=8),
    connection=st.binary(min_size=8, max_size=8),
    protocol=names,
    window=numbers,
    window_bytes=numbers,
    datagram=st.integers(MIN_DATAGRAM, MAX_DATAGRAM),
)


@given(greetings)
def test_greetings_come_back(greeting: Greeting) -> None:
    """What is encoded is decoded to the same, within the size that is promised."""
    data = greeting.encode()
    assert len(data) <= MAX_GREETING
    assert Greeting.decode(data) == greeting


@given(st.binary(max_size=80))
def test_decoding_is_total_and_canonical(data: bytes) -> None:
    """Any bytes are refused, or are exactly how the greeting they give is encoded."""
    try:
        greeting = Greeting.decode(data, "bob")
    except RemoteProtocolError as problem:
        assert problem.peer == "bob"
    else:
        assert greeting.encode() == data


@given(st.integers(0, 8 * len(ALICE.encode()) - 1))
def test_near_misses_are_total_and_canonical(bit: int) -> None:
    """The same for bytes that are nearly a greeting."""
    data = bytearray(ALICE.encode())
    data[bit // 8] ^= 1 << bit % 8
    test_decoding_is_total_and_canonical.hypothesis.inner_test(bytes(data))  # type: ignore[attr-defined]


def test_cut_and_continued_greetings_are_refused() -> None:
    """All of it, and nothing after it."""
    data = ALICE.encode()
    for other in [data[:size] for size in range(len(data))] + [data + b"\0"]:
        with pytest.raises(RemoteProtocolError):
            Greeting.decode(other)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"incarnation": b"short"}, "an incarnation of 5 bytes, not 8"),
        ({"connection": b""}, "a connection of 0 bytes, not 8"),
        ({"window": 0}, "a window of 0 messages"),
        ({"window_bytes": MAX_VALUE + 1}, "a window of 16384 messages and"),
        ({"datagram": MIN_DATAGRAM - 1}, "a datagram of 255 bytes"),
        ({"datagram": MAX_DATAGRAM + 1}, "a datagram of 65536 bytes"),
    ],
)
def test_invalid_greetings_are_not_encoded(change: dict[str, Any], problem: str) -> None:
    """The error names the invalid value."""
    with pytest.raises(LocalProtocolError, match=problem):
        replace(ALICE, **change)


def test_implausible_greetings_are_refused() -> None:
    """An empty window would block us forever, and a tiny datagram would hold nothing."""
    data = ALICE.encode()
    tail = bytes.fromhex("80004000820000004578")
    assert data.endswith(tail)
    for other in ("00820000004578", "80004000004578", "800040008200000001"):
        with pytest.raises(RemoteProtocolError, match="cannot be sent in a greeting"):
            Greeting.decode(data[: -len(tail)] + bytes.fromhex(other))
