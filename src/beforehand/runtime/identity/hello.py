"""The first datagram of a handshake: its layout, and the Noise state that seals it.

    HELLO (1) | connection (8) | suite (1) | cookie (16) | ephemeral key (32) | sealed, up to the end

The sealed part repeats the first nine bytes (which authenticates them), then has the name of the
target, the greeting, and zeros. Without a cookie, everything after the suite is zeros.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Final

from beforehand.encoding.fields import name_field
from beforehand.encoding.reader import Reader
from beforehand.errors import RemoteProtocolError
from beforehand.runtime.identity.cookies import COOKIE_SIZE
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.noise import POINT_SIZE, TAG_SIZE, Symmetric
from beforehand.runtime.link.datagrams import HELLO, PREFIX

HELLO_SIZE: Final = 1_200  # so that no answer is longer; every Internet path carries it

# Suites; the first digit is the version of the handshake.
SEALED: Final = 0x11  # sessions are encrypted
PLAIN: Final = 0x12  # no key: sessions are not encrypted

NO_COOKIE: Final = bytes(COOKIE_SIZE)
COOKIE_AT: Final = PREFIX + 1
POINT_AT: Final = COOKIE_AT + COOKIE_SIZE
SEALED_AT: Final = POINT_AT + POINT_SIZE
_PAYLOAD: Final = HELLO_SIZE - SEALED_AT - TAG_SIZE


@dataclass(frozen=True, slots=True)
class Hello:
    """An opened hello: its sender has the key, or replays it while its cookie is valid."""

    greeting: Greeting  # the initiator's
    target: str  # the name of the peer that it looks for
    ephemeral: bytes  # the same in every retransmission
    state: Symmetric = field(repr=False)  # after message 1


def first_state(key: bytes, suite: int, cookie: bytes, ephemeral: bytes) -> Symmetric:
    """The state that seals message 1: each cookie gives another key."""
    state = Symmetric(b"beforehand" + bytes([suite]))
    state.mix_key_and_hash(hmac.digest(key, b"beforehand psk" + cookie, "sha256"))
    state.mix_point(ephemeral)
    return state


def prefix(kind: int, initiator: Greeting) -> bytes:
    """The start of every handshake datagram."""
    return bytes([kind]) + initiator.connection


def unprefixed(payload: bytes, datagram: bytes) -> bytes | None:
    """The payload after its prefix, or None if it was sealed for another kind of datagram."""
    return payload[PREFIX:] if payload[:PREFIX] == datagram[:PREFIX] else None


def empty_hello(suite: int, greeting: Greeting) -> bytes:
    """The hello that only requests a cookie."""
    return (prefix(HELLO, greeting) + bytes([suite])).ljust(HELLO_SIZE, b"\0")


def seal_hello(
    state: Symmetric, suite: int, cookie: bytes, ephemeral: bytes, greeting: Greeting, target: str
) -> bytes:
    """The hello that requests a session; advances the state past message 1."""
    start = prefix(HELLO, greeting)
    payload = start + name_field(target) + greeting.encode()
    sealed = state.seal(payload.ljust(_PAYLOAD, b"\0"))
    return start + bytes([suite]) + cookie + ephemeral + sealed


def read_hello(payload: bytes, datagram: bytes, state: Symmetric) -> Hello | None:
    """The hello with this payload, or None if it is malformed."""
    content = unprefixed(payload, datagram)
    if content is None:
        return None
    reader = Reader(content, 0, "")
    try:
        target = reader.name()
        greeting = Greeting.read(reader)
    except RemoteProtocolError:
        return None
    if greeting.connection != datagram[1:PREFIX] or any(reader.take(reader.left())):
        return None
    return Hello(greeting, target, datagram[POINT_AT:SEALED_AT], state)
