"""Putting datagrams together for one call, and taking them apart again."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from beforehand.runtime.transports import offload

# Few lengths, so that equal ones meet; among them none, one that fills a call, and two that do.
lengths = st.lists(st.sampled_from([0, 1, 2, 700, 1_400, 32_000, 65_000]), max_size=60)


def numbered(sizes: list[int]) -> list[bytes]:
    """Distinct datagrams of these sizes."""
    return [bytes([number % 256]) * size for number, size in enumerate(sizes)]


@given(lengths)
def test_groups_keep_every_datagram_in_order(sizes: list[int]) -> None:
    """Put end to end, the groups are what came in."""
    datagrams = numbered(sizes)
    assert [datagram for group in offload.pack(datagrams) for datagram in group] == datagrams


@given(lengths)
def test_the_kernel_cuts_a_group_where_we_joined_it(sizes: list[int]) -> None:
    """A group joined and cut by the length of its first datagram gives the group."""
    for group in offload.pack(numbered(sizes)):
        assert offload.split(b"".join(group), len(group[0])) == group
        assert len(group) <= offload.MAX_DATAGRAMS
        assert sum(map(len, group)) <= offload.MAX_BYTES


def test_groups_are_as_large_as_they_may_be() -> None:
    """Equal datagrams fill calls of 40, and a shorter one may end a group but not go on with it."""
    assert [len(group) for group in offload.pack(numbered([1_400] * 100))] == [40, 40, 20]
    assert [len(group) for group in offload.pack(numbered([1_400, 1_400, 7, 7, 1_400]))] == [
        3,
        1,
        1,
    ]
    assert [len(group) for group in offload.pack(numbered([32_000] * 3))] == [2, 1]


def test_the_size_is_found_among_control_messages() -> None:
    """Only the control message of UDP_GRO has a size; without it there is one datagram."""
    other = (1, 2, b"\x09\x00\x00\x00")
    ours = (offload.SOL_UDP, offload.UDP_GRO, struct.pack("=i", 1_400))
    cut = (offload.SOL_UDP, offload.UDP_GRO, b"\x01")
    assert offload.size_in([other, ours]) == 1_400
    assert offload.size_in([other, cut]) == 0
    assert offload.split(b"abc", 0) == [b"abc"]
    assert offload.split(b"", 5) == [b""]
