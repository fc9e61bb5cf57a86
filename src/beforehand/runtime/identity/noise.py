"""The symmetric state of the Noise Protocol Framework, for `Noise_NNpsk0_25519_AESGCM_SHA256`.

    NNpsk0:   -> psk, e        <- e, ee

Section 5.2 of the specification (revision 34) with the psk rules of section 9: a chaining key into
which every secret is mixed, a hash of the transcript, and a key that seals payloads with that hash as
associated data. So only a party with the same transcript and the same secrets can open a payload.
"""

import hashlib
import hmac
from typing import Final

# mypyc follows imports to this module in build environments that lack the library.
from cryptography.exceptions import InvalidTag  # type: ignore[import-not-found,unused-ignore]
from cryptography.hazmat.primitives.asymmetric.x25519 import (  # type: ignore[import-not-found,unused-ignore]
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import (  # type: ignore[import-not-found,unused-ignore]
    AESGCM,
)

PATTERN: Final = b"Noise_NNpsk0_25519_AESGCM_SHA256"  # 32 bytes, so also the initial hash
POINT_SIZE: Final = 32  # of a public key
TAG_SIZE: Final = 16  # of AES-GCM


class Symmetric:
    """Noise's SymmetricState; equal states can open what the other sealed."""

    def __init__(self, prologue: bytes) -> None:
        self._chaining = PATTERN
        self.transcript = PATTERN
        self._key = b""
        self._nonce = 0
        self.mix_hash(prologue)

    def mix_hash(self, data: bytes) -> None:
        """Add data to the transcript hash."""
        self.transcript = hashlib.sha256(self.transcript + data).digest()

    def mix_key(self, secret: bytes) -> None:
        """Token `ee`, and the second half of token `e`: derive a new key."""
        self._chaining, self._key = _derive(self._chaining, secret, 2)
        self._nonce = 0

    def mix_key_and_hash(self, secret: bytes) -> None:
        """Token `psk`."""
        self._chaining, hashed, self._key = _derive(self._chaining, secret, 3)
        self._nonce = 0
        self.mix_hash(hashed)

    def mix_point(self, public: bytes) -> None:
        """Token `e`, which in psk patterns is also mixed into the key."""
        self.mix_hash(public)
        self.mix_key(public)

    def seal(self, payload: bytes) -> bytes:
        """Encrypt a payload and add it to the transcript."""
        sealed: bytes = AESGCM(self._key).encrypt(self._next_nonce(), payload, self.transcript)
        self.mix_hash(sealed)
        return sealed

    def open(self, sealed: bytes) -> bytes | None:
        """The payload; None if the states differ, and then this one must be discarded."""
        try:
            payload: bytes = AESGCM(self._key).decrypt(self._next_nonce(), sealed, self.transcript)
        except InvalidTag:
            return None
        self.mix_hash(sealed)
        return payload

    def split(self) -> tuple[bytes, bytes]:
        """The secrets of the session: initiator to responder, and responder to initiator."""
        first, second = _derive(self._chaining, b"", 2)
        return first, second

    def _next_nonce(self) -> bytes:
        nonce = self._nonce.to_bytes(12, "big")  # 4 zero bytes, and 8 of the counter
        self._nonce += 1
        return nonce


class Ephemeral:
    """The key pair of one handshake."""

    def __init__(self, private: bytes) -> None:
        self._private = X25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()

    def exchange(self, public: bytes) -> bytes | None:
        """The Diffie-Hellman secret, or None if the public key has low order."""
        try:
            return self._private.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError:  # the secret would be all zeros
            return None


def _derive(chaining: bytes, secret: bytes, count: int) -> list[bytes]:
    """HKDF-SHA256 with the chaining key as salt and no info: `count` blocks of 32 bytes."""
    extracted = hmac.digest(chaining, secret, "sha256")
    blocks = [b""]
    for number in range(1, count + 1):
        blocks.append(hmac.digest(extracted, blocks[-1] + bytes([number]), "sha256"))
    return blocks[1:]
