"""A sealed packet opens for the right key, number and header, and for nothing else."""

from __future__ import annotations

import hashlib
import itertools
import random
import zlib

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import LocalProtocolError
from beforehand.runtime.link.datagrams import DATA, HEADER
from beforehand.runtime.link.sealing import (
    CHECKSUM,
    EPOCH_SHIFT,
    TAG,
    GcmOpener,
    GcmSealer,
    Opener,
    make_opener,
    make_sealer,
)

SECRET = hashlib.sha256(b"a secret").digest()
OTHER = hashlib.sha256(b"another").digest()
BODY = b"frames of a packet"


def header(number: int) -> bytes:
    """The header of a packet, as a link makes it."""
    return bytes([DATA]) + b"connectn" + number.to_bytes(8, "big")


def opens(opener: Opener, datagram: bytes) -> bytes | None:
    """What a link gets that reads the number from the header."""
    number = int.from_bytes(datagram[9:HEADER], "big") & (1 << 62) - 1
    return opener.open(number, datagram[:HEADER], datagram)


@pytest.mark.parametrize("plain", [False, True])
def test_a_sealed_packet_opens(plain: bool) -> None:
    """Bodies of all lengths come back, and the overhead is what is promised."""
    sealer, opener = make_sealer(SECRET, plain), make_opener(SECRET, plain)
    assert sealer.overhead == (CHECKSUM if plain else TAG)
    for number, size in enumerate((0, 1, 15, 16, 17, 1_383, 65_000)):
        body = random.Random(size).randbytes(size)
        datagram = sealer.seal(number, header(number), body)
        assert datagram[:HEADER] == header(number)
        assert len(datagram) == HEADER + size + sealer.overhead
        assert size < 15 or (body in datagram) == plain  # shorter ones may occur by chance
        assert opens(opener, datagram) == body


@pytest.mark.parametrize("plain", [False, True])
def test_every_changed_byte_is_noticed(plain: bool) -> None:
    """In the header, the body or the tag; truncated or extended; the original packet still opens."""
    datagram = make_sealer(SECRET, plain).seal(5, header(5), BODY)
    opener = make_opener(SECRET, plain)
    for position in range(len(datagram)):
        for bit in range(8):
            changed = bytearray(datagram)
            changed[position] ^= 1 << bit
            assert opens(opener, bytes(changed)) is None
    for size in range(HEADER, len(datagram)):
        assert opens(opener, datagram[:size]) is None
    assert opens(opener, datagram + b"\0") is None
    assert opens(opener, datagram) == BODY


@pytest.mark.parametrize("plain", [False, True])
@given(noise=st.binary(max_size=60))
def test_any_bytes_are_tolerated(plain: bool, noise: bytes) -> None:
    """Random bytes instead of a packet are refused without an exception."""
    data = noise.ljust(HEADER, b"\xb5")
    assert opens(make_opener(SECRET, plain), data) is None


@pytest.mark.parametrize("number", [-1, -(2**22), -(2**62), 2**62])
def test_impossible_numbers_open_nothing(number: int) -> None:
    """Also those that come of eight bytes read as a signed integer."""
    opener = GcmOpener(SECRET)
    assert opener.open(number, header(0), header(0) + bytes(40)) is None
    for number in (0, 2**22):
        opens(opener, GcmSealer(SECRET).seal(number, header(number), BODY))
    assert opener.open(number, header(0), header(0) + bytes(40)) is None


def test_a_checksum_does_not_overlap_the_header() -> None:
    """A datagram that is a byte too short is refused, though its last four bytes are right."""
    opener, tried = make_opener(SECRET, plain=True), 0
    for number in range(2_000):
        checksum = zlib.crc32(header(number)).to_bytes(4, "big")
        if checksum[0] == header(number)[-1]:
            tried += 1
            assert opens(opener, header(number) + checksum[1:]) is None
            assert opens(opener, header(number) + checksum) == b""
    assert tried > 0


def test_another_secret_opens_nothing() -> None:
    """Neither that of another session nor that of the other direction."""
    datagram = GcmSealer(SECRET).seal(0, header(0), BODY)
    assert opens(GcmOpener(OTHER), datagram) is None


def test_a_packet_opens_under_its_own_number_only() -> None:
    """A packet does not open under another number, though the header is the right one."""
    datagram = GcmSealer(SECRET).seal(7, header(7), BODY)
    opener = GcmOpener(SECRET)
    assert opener.open(8, datagram[:HEADER], datagram) is None
    assert opener.open(7, datagram[:HEADER], datagram) == BODY


def test_a_number_is_sealed_once() -> None:
    """The same number again, or an older one, is refused: a nonce must never come twice."""
    sealer = GcmSealer(SECRET)
    sealer.seal(3, header(3), BODY)
    for number in (3, 2):
        with pytest.raises(LocalProtocolError, match=f"packet {number} cannot be sealed after"):
            sealer.seal(number, header(number), BODY)
    assert opens(GcmOpener(SECRET), sealer.seal(4, header(4), BODY)) == BODY


def test_keys_are_those_of_the_ratchet() -> None:
    """Epoch by epoch as documented, computed with the HKDF of the library."""
    sealer, secret = GcmSealer(SECRET, shift=1), SECRET
    for epoch in range(4):
        key = HKDFExpand(SHA256(), 32, b"key").derive(secret)
        secret = HKDFExpand(SHA256(), 32, b"next").derive(secret)
        for number in (2 * epoch, 2 * epoch + 1):
            datagram = sealer.seal(number, header(number), BODY)
            nonce = number.to_bytes(12, "big")
            assert AESGCM(key).decrypt(nonce, datagram[HEADER:], header(number)) == BODY


def test_epochs_are_long_and_within_the_limit() -> None:
    """Four million packets under one key, and RFC 9001 allows eight."""
    assert EPOCH_SHIFT == 22
    sealer, opener = GcmSealer(SECRET), GcmOpener(SECRET)
    for number in (0, 2**22 - 1, 2**22, 2**23 - 1, 2**23):
        assert opens(opener, sealer.seal(number, header(number), BODY)) == BODY


def packets(count: int, shift: int) -> list[bytes]:
    """Packets numbered from 0."""
    sealer = GcmSealer(SECRET, shift)
    return [sealer.seal(number, header(number), BODY) for number in range(count)]


def test_packets_overtake_each_other_across_epochs() -> None:
    """Shuffled within less than an epoch, all open, through many epochs."""
    shift, count = 4, 400
    sent = packets(count, shift)
    seeded_bytes = random.Random(6)
    order = sorted(range(count), key=lambda number: number + seeded_bytes.uniform(0, 14))
    opener = GcmOpener(SECRET, shift)
    epochs = [number >> shift for number in order]
    assert any(after < before for before, after in itertools.pairwise(epochs))
    assert all(opens(opener, sent[number]) == BODY for number in order)


def test_an_old_epoch_cannot_be_opened() -> None:
    """The epoch before still opens; once the next one has begun, not even a genuine packet of it."""
    sent = packets(40, 3)
    opener = GcmOpener(SECRET, 3)
    assert opens(opener, sent[0]) == BODY
    assert opens(opener, sent[8]) == BODY
    assert opens(opener, sent[1]) == BODY
    assert opens(opener, sent[16]) == BODY
    assert opens(opener, sent[2]) is None
    assert opens(opener, sent[9]) == BODY


def test_only_a_genuine_packet_moves_the_epoch() -> None:
    """Forged ones that claim to be of the next epoch, or of one far ahead, change nothing."""
    sent = packets(40, 3)
    opener = GcmOpener(SECRET, 3)
    assert opens(opener, sent[0]) == BODY
    for _ in range(3):
        for number in (8, 16, 39, 2**40):
            assert opens(opener, header(number) + bytes(40)) is None
    assert opens(opener, sent[1]) == BODY
    assert opens(opener, sent[16]) is None  # genuine, but an epoch was left out
    assert opens(opener, sent[8]) == BODY
    assert opens(opener, sent[16]) == BODY


def test_a_sealer_may_leave_epochs_out() -> None:
    """It advances the ratchet to the epoch of the packet number."""
    opener = GcmOpener(SECRET, 1)
    for datagram in packets(7, 1):
        assert opens(opener, datagram) == BODY
    sealer = GcmSealer(SECRET, 1)
    assert opens(opener, sealer.seal(7, header(7), BODY)) == BODY
