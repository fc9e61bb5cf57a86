"""Stateless cookies: proof that a sender can receive at its source address.

A cookie is a MAC over an address and a connection id, under a secret of this process that is replaced
every `SLOT`. The previous secret is still accepted, so a cookie is valid for one to two slots.
Making or checking a cookie costs an HMAC or two and no memory.
"""

import hmac
from collections.abc import Callable
from typing import Final

COOKIE_SIZE: Final = 16  # guessing one takes 2**127 datagrams
SLOT: Final = 10 * 10**9  # ns: longer than a round trip with losses, too short to hoard cookies
_SECRET_SIZE = 32


class Cookies:
    """The cookies of one process; `now` is its monotonic clock in nanoseconds."""

    def __init__(self, random: Callable[[int], bytes]) -> None:
        self._random = random
        self._slot: int | None = None  # of the current secret
        self._current = b""
        self._previous = b""

    def make(self, connection: bytes, address: bytes, now: int) -> bytes:
        """The cookie for this address."""
        self._rotate(now)
        return _mac(self._current, connection, address)

    def check(self, cookie: bytes, connection: bytes, address: bytes, now: int) -> bool:
        """Whether this cookie is valid for that address and not expired."""
        self._rotate(now)
        fresh = hmac.compare_digest(cookie, _mac(self._current, connection, address))
        older = hmac.compare_digest(cookie, _mac(self._previous, connection, address))
        return fresh or older

    def _rotate(self, now: int) -> None:
        """Replace expired secrets; a clock that jumps invalidates all cookies."""
        slot = now // SLOT
        if slot == self._slot:
            return
        follows = self._slot is not None and slot == self._slot + 1
        self._previous = self._current if follows else self._random(_SECRET_SIZE)
        self._current = self._random(_SECRET_SIZE)
        self._slot = slot


def _mac(secret: bytes, connection: bytes, address: bytes) -> bytes:
    # The connection id has a fixed length, so the concatenation is unambiguous.
    return hmac.digest(secret, connection + address, "sha256")[:COOKIE_SIZE]
