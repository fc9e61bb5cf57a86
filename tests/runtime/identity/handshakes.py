"""Helpers for tests of the handshake: alice is the initiator, bob the responder."""

from __future__ import annotations

import random
from collections.abc import Callable

from beforehand.runtime.identity.cookies import SLOT
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.handshake import Established, Hello, Initiator, Responder

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
HOME = b"\x7f\0\0\1\x1b\x59"
AWAY = b"\x0a\0\0\1\x1b\x59"
NOW = 5 * SLOT


def seeded_bytes(seed: int) -> Callable[[int], bytes]:
    """A source of bytes that is the same in every run."""
    return random.Random(seed).randbytes


def greeting(name: str, seed: int = 0) -> Greeting:
    """The greeting of a node with this name."""
    throw = seeded_bytes(seed * 1000 + sum(name.encode()))
    return Greeting(name, throw(8), throw(8), "hybrid-sps", 16_384, 32 << 20, 1_400)


ALICE, BOB = greeting("alice"), greeting("bob")


def initiator(
    key: bytes = KEY, plain: bool = False, seed: int = 1, target: str = "bob"
) -> Initiator:
    """Alice, who wants a session with bob."""
    return Initiator(key, plain, ALICE, target, seeded_bytes(seed))


def responder(key: bytes = KEY, plain: bool = False, seed: int = 2, name: str = "bob") -> Responder:
    """Bob, or another node at bob's address."""
    return Responder(key, plain, name, seeded_bytes(seed))


def sent(result: object) -> bytes:
    """The answer that a responder wants to send."""
    assert isinstance(result, bytes)
    return result


def opened(result: object) -> Hello:
    """The hello that a responder opened."""
    assert isinstance(result, Hello)
    return result


def with_cookie(alice: Initiator, bob: Responder) -> bytes:
    """The hello of alice after a cookie of bob."""
    assert alice.take_cookie(sent(bob.open(alice.hello, HOME, NOW)))
    return alice.hello


def meet(alice: Initiator, bob: Responder) -> tuple[Established, Established]:
    """A complete handshake: the session as alice sees it, and as bob does."""
    hello = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    welcome, at_bob = bob.welcome(hello, BOB)
    at_alice = alice.take_welcome(welcome)
    assert at_alice is not None
    return at_alice, at_bob
