"""Cookies: proof that somebody can receive at the address that he writes from, without remembering him.

A cookie is a MAC over an address and a connection, under a secret that only this process has and
that is replaced every `SLOT`. The secret before is still accepted: a cookie is good for one to two
slots.
Making one and checking one cost an HMAC or two, whoever asks and however often.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Final

COOKIE_SIZE: Final = 16  # guessing one takes 2**127 datagrams
SLOT: Final = 10_000_000_000  # ns: longer than a round trip and some losses, too short to collect

_SECRET_SIZE = 32


class Cookies:
    """The cookies of one process; `now` is its monotonic clock in nanoseconds."""

    def __init__(self, random: Callable[[int], bytes]) -> None:
        self._random = random
        self._slot: int | None = None  # to which the current secret belongs
        self._current = b""
        self._previous = b""

    def make(self, connection: bytes, address: bytes, now: int) -> bytes:
        """The cookie for whoever receives at this address."""
        self._turn(now)
        return _mac(self._current, connection, address)

    def check(self, cookie: bytes, connection: bytes, address: bytes, now: int) -> bool:
        """Whether this is a cookie for that address, and not too old."""
        self._turn(now)
        fresh = hmac.compare_digest(cookie, _mac(self._current, connection, address))
        older = hmac.compare_digest(cookie, _mac(self._previous, connection, address))
        return fresh or older

    def _turn(self, now: int) -> None:
        """Replace the secrets whose time is over; a clock that jumps makes all cookies void."""
        slot = now // SLOT
        if slot == self._slot:
            return
        follows = self._slot is not None and slot == self._slot + 1
        self._previous = self._current if follows else self._random(_SECRET_SIZE)
        self._current = self._random(_SECRET_SIZE)
        self._slot = slot


def _mac(secret: bytes, connection: bytes, address: bytes) -> bytes:
    # The connection has a fixed length, so the two cannot be cut in another place.
    return hmac.digest(secret, connection + address, "sha256")[:COOKIE_SIZE]
