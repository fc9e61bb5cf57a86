"""KS logs: each name occurs once, the rest are small integers, and the encoding is canonical."""

from __future__ import annotations

import pytest

from beforehand import wire
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.clocks.ks import KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from tests.wire.frames import MAX

Log = tuple[tuple[str, int, frozenset[str]], ...]


def message(log: Log, *receivers: str) -> KsMessage:
    """Return a message with this log."""
    return KsMessage(9, frozenset(receivers or ("bob",)), log, b"x")


def assert_rejected(data: str, problem: str) -> None:
    """Check that these bytes, after the tag and the id, are rejected for this reason."""
    with pytest.raises(RemoteProtocolError, match=problem) as caught:
        wire.decode(bytes.fromhex("14 09" + data), "mallory")
    assert caught.value.peer == "mallory"


def test_a_name_is_written_once() -> None:
    """Twenty entries with a long name cost little more than one."""
    name = "a-process-with-a-rather-long-name"
    log = tuple((name, clock, frozenset({"bob"})) for clock in range(1, 21))
    data = wire.encode(message(log))
    assert data.count(name.encode()) == 1
    assert len(data) < len(name) + 20 * 4 + 20


def test_high_clocks_of_one_sender_cost_little() -> None:
    """The second clock is encoded as its difference to the first."""
    high = 2**50
    one = wire.encode(message((("alice", high, frozenset()),)))
    two = wire.encode(message((("alice", high, frozenset()), ("alice", high + 1, frozenset()))))
    assert len(two) == len(one) + 3


def test_the_order_of_names_is_that_of_their_bytes() -> None:
    """Code points and UTF-8 agree on the order, beyond the 16-bit ones too."""
    names = ["z", "é", "\uffff", "\U0001f984"]
    log = tuple((name, 1, frozenset[str]()) for name in names)
    frame = message(log, names[-1])
    assert wire.decode(wire.encode(frame)) == frame
    encoded = [name.encode() for name in names]
    assert encoded == sorted(encoded)


@pytest.mark.parametrize(
    "log",
    [
        (("alice", 2, frozenset()), ("alice", 2, frozenset())),
        (("alice", 2, frozenset()), ("alice", 1, frozenset())),
        (("carol", 1, frozenset()), ("alice", 2, frozenset())),
        (("alice", 0, frozenset()),),
        (("alice", -1, frozenset()),),
        (("alice", MAX + 1, frozenset()),),
    ],
)
def test_a_log_that_cannot_be_encoded_is_the_callers_fault(log: Log) -> None:
    """Unsorted or duplicate entries and clocks out of range raise the local error."""
    with pytest.raises(LocalProtocolError, match=r"out of order .* sort it"):
        wire.encode(message(log))


@pytest.mark.parametrize("name", ["", "x" * 256, "\udfff"])
def test_names_that_cannot_be_encoded_are_the_callers_fault(name: str) -> None:
    """A bad name raises the local error wherever it occurs."""
    log: Log = (("alice", 1, frozenset({name})),)
    for frame in (message(log), message(((name, 1, frozenset()),)), message((), name)):
        with pytest.raises(LocalProtocolError, match="process id"):
            wire.encode(frame)


def test_a_message_needs_a_receiver() -> None:
    """A message to nobody isn't encoded."""
    with pytest.raises(LocalProtocolError, match="without receivers"):
        wire.encode(KsMessage(9, frozenset(), (), b"x"))


@pytest.mark.parametrize(("count", "last"), [(-1, 3), (3, 2), (0, MAX + 1)])
def test_an_inconsistent_flush_is_the_callers_fault(count: int, last: int) -> None:
    """The count can't exceed the last number."""
    with pytest.raises(LocalProtocolError, match="a flush"):
        wire.encode(KsFlush("eve", count, last))


def test_a_flush_out_of_range_is_rejected() -> None:
    """The sum of two valid integers may be too large."""
    largest = "15 01 65 cfffffffffffffff 00"
    assert wire.decode(bytes.fromhex(largest)) == KsFlush("e", MAX, MAX)
    with pytest.raises(RemoteProtocolError, match="more than"):
        wire.decode(bytes.fromhex("15 01 65 cfffffffffffffff 01"))


BOB = "01 03 626f62 01 00 "  # a table of one name, one receiver: that one
TWO = "02 01 61 01 62 02 00 00 "  # a table of two names, both of them receivers


def test_the_valid_bytes_behind_the_rejections_below() -> None:
    """Without the error they can be decoded."""
    assert wire.decode(bytes.fromhex("14 09" + BOB + "00 01 78")) == message(())
    log: Log = (("a", 1, frozenset()), ("a", 2, frozenset()), ("b", 1, frozenset({"a", "b"})))
    data = TWO + "03 00 01 00 00 01 00 01 01 02 00 00 01 78"
    assert wire.decode(bytes.fromhex("14 09" + data)) == message(log, "a", "b")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("00 00 00 00", "0 elements, not at least 1"),  # no names
        ("01 03 626f62 00 00 01 78", "0 elements, not at least 1"),  # no receivers
        ("02 01 62 01 61 02 00 00 00 00", "not sorted"),
        ("02 01 61 01 61 02 00 00 00 00", "not distinct"),
        ("02 01 61 01 62 01 00 00 00", "only 1 are used"),
        ("01 03 626f62 01 01 00 00", "index 1 in a table of 1"),
        ("01 03 626f62 02 00 00 00 00", "index 1 in a table of 1"),
        ("01 03 626f62 01 bfffffff 00 00", "index 1073741823 in a table of 1"),
        (TWO + "01 02 01 00 00", "index 2 in a table of 2"),  # a sender
        (TWO + "02 01 01 00 01 01 00 00", "index 2 in a table of 2"),  # senders that add up
        (TWO + "01 00 01 01 02 00", "index 2 in a table of 2"),  # a destination
        (TWO + "01 00 00 00 00", "an id of 0"),  # clock 0
        (TWO + "02 00 01 00 00 00 00 00", "an id of 0"),  # the same clock again
        (TWO + "02 00 cfffffffffffffff 00 00 01 00 00", "a clock of .* more than"),
        (BOB + "01 00", "1 elements announced, 1 bytes left"),
    ],
)
def test_rejections(data: str, problem: str) -> None:
    """Bytes that no encoder writes are rejected with a reason."""
    assert_rejected(data, problem)
