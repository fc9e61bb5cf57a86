"""Sealing and opening packets: encrypted and authenticated, or with a checksum only.

Encrypted packets are AES-256-GCM with the packet number as nonce and the header as associated data.
Each direction of each session has its own secret, so a nonce is never reused with a key.

The key changes every 2**22 packets, without negotiation: the packet number determines the *epoch*.

    secret of epoch 0      from the handshake
    key of an epoch        HKDF-Expand(its secret, "key")
    secret of the next     HKDF-Expand(its secret, "next")

A secret is erased as soon as both are derived: a stolen one does not decrypt earlier epochs. Packets
are reordered, so the opener keeps the keys of the previous, the current and the next epoch; it
advances when a packet of the next epoch proves authentic, and rejects all other epochs.

RFC 9001, section 6.6, allows 2**23 packets under one AES-GCM key before ciphertexts become
distinguishable from random, and 2**52 forgeries, which no network can deliver.
"""

import hmac
import zlib
from typing import Any, Final

# Build environments lack the library, so mypyc sees it untyped.
from cryptography.exceptions import InvalidTag  # type: ignore[import-not-found,unused-ignore]
from cryptography.hazmat.primitives.ciphers.aead import (  # type: ignore[import-not-found,unused-ignore]
    AESGCM,
)
from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.runtime.link.datagrams import HEADER

EPOCH_SHIFT: Final = 22  # log2 of the packets per epoch: half of what RFC 9001 allows
NONCE: Final = 12  # bytes
TAG: Final = 16  # bytes of a GCM tag
CHECKSUM: Final = 4  # bytes


class Sealer:
    """Seals the packets of one direction of a session."""

    overhead: i64  # bytes that sealing adds to header and body

    def seal(self, number: i64, header: bytes, body: bytes) -> bytes:
        """The datagram: the header and the sealed body."""
        raise NotImplementedError


class Opener:
    """Opens the packets of one direction of a session."""

    def open(self, number: i64, header: bytes, datagram: bytes) -> bytes | None:
        """The body after the header, or None if it is not authentic."""
        raise NotImplementedError


def make_sealer(secret: bytes, plain: bool) -> Sealer:
    """A sealer for a secret of the handshake, or a checksum only if the session is plain."""
    return PlainSealer() if plain else GcmSealer(secret)


def make_opener(secret: bytes, plain: bool) -> Opener:
    """The counterpart of `make_sealer` for the same secret."""
    return PlainOpener() if plain else GcmOpener(secret)


class _Ratchet:
    """Derives the keys of successive epochs, each once."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret  # of the next epoch

    def turn(self) -> Any:
        """The cipher of the next epoch."""
        cipher = AESGCM(_expand(self._secret, b"key"))
        self._secret = _expand(self._secret, b"next")
        return cipher


class GcmSealer(Sealer):
    """Seals with AES-256-GCM; packet numbers must increase."""

    def __init__(self, secret: bytes, shift: i64 = EPOCH_SHIFT) -> None:
        self._epoch: i64 = 0
        self._last: i64 = -1  # the highest number sealed
        self.overhead = TAG
        self._ratchet = _Ratchet(secret)
        self._cipher = self._ratchet.turn()  # AESGCM
        self._shift = shift

    def seal(self, number: i64, header: bytes, body: bytes) -> bytes:
        """Encrypt the body; reusing a number would reveal the key stream."""
        if number <= self._last:
            raise LocalProtocolError(
                f"packet {number} cannot be sealed after packet {self._last}: numbers must increase"
            )
        self._last = number
        while self._epoch < number >> self._shift:
            self._cipher = self._ratchet.turn()
            self._epoch += 1
        whole: int = number
        sealed: bytes = self._cipher.encrypt(whole.to_bytes(NONCE, "big"), body, header)
        return header + sealed


class GcmOpener(Opener):
    """Opens what a `GcmSealer` sealed, in any order within neighbouring epochs."""

    def __init__(self, secret: bytes, shift: i64 = EPOCH_SHIFT) -> None:
        self._epoch: i64 = 0  # of the newest authentic packet
        self._ratchet = _Ratchet(secret)
        self._previous: Any = None  # AESGCM, or None in the first epoch
        self._current = self._ratchet.turn()
        self._next: Any = None  # None until a packet claims to be of the next epoch
        self._shift = shift

    def open(self, number: i64, header: bytes, datagram: bytes) -> bytes | None:
        """Decrypt the body; None if header, body or number is forged."""
        ahead = (number >> self._shift) - self._epoch
        cipher = self._current if ahead == 0 else self._neighbour(ahead)
        if cipher is None:
            return None
        whole: int = number
        try:
            body: bytes = cipher.decrypt(whole.to_bytes(NONCE, "big"), datagram[HEADER:], header)
        except InvalidTag:
            return None
        if ahead == 1:
            self._previous = self._current
            self._current = self._next
            self._next = None
            self._epoch += 1
        return body

    def _neighbour(self, ahead: i64) -> Any:
        """The cipher of the previous or next epoch, None for all others."""
        if ahead == -1:
            return self._previous
        if ahead != 1:
            return None
        if self._next is None:
            self._next = self._ratchet.turn()
        return self._next


class PlainSealer(Sealer):
    """Appends a CRC-32 of header and body: detects corruption, not attacks."""

    def __init__(self) -> None:
        self.overhead = CHECKSUM

    def seal(self, number: i64, header: bytes, body: bytes) -> bytes:
        """Header, body and checksum."""
        whole = header + body
        return whole + _checksum(whole)


class PlainOpener(Opener):
    """Checks what a `PlainSealer` added."""

    def open(self, number: i64, header: bytes, datagram: bytes) -> bytes | None:
        """The body, or None if its checksum is wrong."""
        end = len(datagram) - CHECKSUM
        if end < HEADER:
            return None
        return datagram[HEADER:end] if _checksum(datagram[:end]) == datagram[end:] else None


def _checksum(whole: bytes) -> bytes:
    return zlib.crc32(whole).to_bytes(CHECKSUM, "big")


def _expand(secret: bytes, purpose: bytes) -> bytes:
    """HKDF-Expand of RFC 5869 with SHA-256, for its first and only block."""
    return hmac.digest(secret, purpose + b"\x01", "sha256")
