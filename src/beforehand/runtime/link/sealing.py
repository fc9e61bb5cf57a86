"""Sealing the body of every packet, and opening it: encrypted, or with a checksum only.

Encrypted packets are AES-256-GCM with the packet number as nonce and the header as associated data.
Each direction of each session has a secret of its own, so a number is never used twice with a key.

The key changes every 2**22 packets, without a word about it: packet numbers tell the *epoch*.

    secret of epoch 0      from the handshake
    key of an epoch        HKDF-Expand(its secret, "key")
    secret of the next     HKDF-Expand(its secret, "next")

A secret is forgotten as soon as both are made, so whoever learns one cannot open what came long
before. The opener knows the keys of the epoch before, of this one and of the next one, since packets
overtake each other; it moves on when a packet of the next epoch was genuine, and refuses all others.

RFC 9001, section 6.6, allows 2**23 packets of any size under one key of AES-GCM before an attacker
could tell encrypted from random; and 2**52 forgeries, which no network can deliver.
"""

from __future__ import annotations

import hmac
import zlib
from typing import Any, Final

# It is compiled in environments without the library, where its types are unknown.
from cryptography.exceptions import InvalidTag  # type: ignore[import-not-found,unused-ignore]
from cryptography.hazmat.primitives.ciphers.aead import (  # type: ignore[import-not-found,unused-ignore]
    AESGCM,
)
from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.runtime.link.datagrams import HEADER

EPOCH_SHIFT: Final = 22  # packets of one epoch, as a power of two: half of what RFC 9001 allows
NONCE: Final = 12  # bytes
TAG: Final = 16  # that GCM adds
CHECKSUM: Final = 4  # bytes


class Sealer:
    """What seals the packets of one direction of a session."""

    overhead: i64  # bytes that sealing adds to header and body

    def seal(self, number: i64, header: bytes, body: bytes) -> bytes:
        """The datagram: the header, and the body as only the other side can open it."""
        raise NotImplementedError


class Opener:
    """What opens the packets of one direction of a session."""

    def open(self, number: i64, header: bytes, datagram: bytes) -> bytes | None:
        """The body that follows the header, or None if it was not sealed for us like this."""
        raise NotImplementedError


def make_sealer(secret: bytes, plain: bool) -> Sealer:
    """Seals with a secret of the handshake, or with a checksum if the session is plain."""
    return PlainSealer() if plain else GcmSealer(secret)


def make_opener(secret: bytes, plain: bool) -> Opener:
    """Opens what `make_sealer` of the other side seals with the same secret."""
    return PlainOpener() if plain else GcmOpener(secret)


class _Ratchet:
    """Gives the keys of the epochs, one after the other, and never one again."""

    _secret: bytes  # of the epoch whose key comes next

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def turn(self) -> Any:
        """The cipher of the next epoch."""
        cipher = AESGCM(_expand(self._secret, b"key"))
        self._secret = _expand(self._secret, b"next")
        return cipher


class GcmSealer(Sealer):
    """Seals with AES-256-GCM; packet numbers only ever rise."""

    _ratchet: _Ratchet
    _cipher: Any  # AESGCM
    _shift: i64
    _epoch: i64
    _last: i64  # the highest number that was sealed

    def __init__(self, secret: bytes, shift: i64 = EPOCH_SHIFT) -> None:
        self.overhead = TAG
        self._ratchet = _Ratchet(secret)
        self._cipher = self._ratchet.turn()
        self._shift = shift
        self._epoch = 0
        self._last = -1

    def seal(self, number: i64, header: bytes, body: bytes) -> bytes:
        """Encrypt the body; a number that was used before would give the key away."""
        if number <= self._last:
            raise LocalProtocolError(
                f"packet {number} cannot be sealed after packet {self._last}: numbers must rise"
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

    _ratchet: _Ratchet
    _previous: Any  # AESGCM, or None in the first epoch
    _current: Any
    _next: Any  # None until a packet claims to be of the next epoch
    _shift: i64
    _epoch: i64  # of the newest packet that was genuine

    def __init__(self, secret: bytes, shift: i64 = EPOCH_SHIFT) -> None:
        self._ratchet = _Ratchet(secret)
        self._previous = None
        self._current = self._ratchet.turn()
        self._next = None
        self._shift = shift
        self._epoch = 0

    def open(self, number: i64, header: bytes, datagram: bytes) -> bytes | None:
        """Decrypt the body, or tell by None that header, body or number is forged."""
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
        """The cipher of the epoch before or after this one, None for all others."""
        if ahead == -1:
            return self._previous
        if ahead != 1:
            return None
        if self._next is None:
            self._next = self._ratchet.turn()
        return self._next


class PlainSealer(Sealer):
    """Adds a CRC-32 over header and body: finds accidents, and no attack."""

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
