"""The handshake: an initiator sends HELLO, and both sides derive the secrets of one session.

    initiator                                      responder
    HELLO, without a cookie   ------------------>
                              <------------------  COOKIE   (stateless)
    HELLO, Noise message 1    ------------------>           (target, greeting)
                              <------------------  WELCOME, Noise message 2   (greeting)
                                               or  REFUSE, Noise message 2    (reason)

The Noise messages are those of `Noise_NNpsk0_25519_AESGCM_SHA256` (noise.py). The psk is derived from
the cluster key and the cookie: message 1 is valid only while the cookie is, and only from its address;
with another cookie it is sealed under another key, although the ephemeral key stays the same.

Message 1 can be replayed until the cookie expires. So the responder trusts the initiator's presence,
and its incarnation, only once the first packet of the session opens: only the initiator has the
secrets for that. The initiator trusts a WELCOME at once.

Nodes without a key run the same handshake with a publicly known key and another prologue.

    HELLO (1) | connection (8) | suite (1) | cookie (16) | ephemeral key (32) | sealed, up to the end

The sealed part of a HELLO repeats the first nine bytes (which authenticates them), then has the name of
the target, the greeting, and zeros. Without a cookie, everything after the suite is zeros.
"""

import hmac
import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from beforehand.encoding.fields import name_field
from beforehand.encoding.reader import Reader
from beforehand.errors import RemoteProtocolError, SecurityError
from beforehand.runtime.identity.cookies import COOKIE_SIZE, Cookies
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.keys import KEY_SIZE
from beforehand.runtime.identity.noise import POINT_SIZE, TAG_SIZE, Ephemeral, Symmetric
from beforehand.runtime.link.datagrams import COOKIE, HELLO, PREFIX, REFUSE, WELCOME

HELLO_SIZE: Final = 1_200  # so that no answer is longer; every Internet path carries it

# Suites; the first digit is the version of the handshake.
SEALED: Final = 0x11  # sessions are encrypted
PLAIN: Final = 0x12  # no key: sessions are not encrypted

NO_COOKIE: Final = bytes(COOKIE_SIZE)
COOKIE_AT: Final = PREFIX + 1
POINT_AT: Final = COOKIE_AT + COOKIE_SIZE
SEALED_AT: Final = POINT_AT + POINT_SIZE
_PAYLOAD_SIZE: Final = HELLO_SIZE - SEALED_AT - TAG_SIZE

MAX_REASON: Final = 1_000  # bytes of a refusal's reason, so that it is shorter than a hello

_OTHER_KEY = "uses another cluster key"
_OTHER_SUITES = {
    SEALED: "uses a cluster key, and this node has none",
    PLAIN: "uses no cluster key, and this node has one",
}
_OTHER_VERSION = "speaks another version of the handshake"

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Hello:
    """An opened hello: its sender has the key, or replays it while its cookie is valid."""

    greeting: Greeting  # the initiator's
    target: str  # the name of the peer that it looks for
    ephemeral: bytes  # the same in every retransmission
    state: Symmetric = field(repr=False)  # after message 1


@dataclass(frozen=True, slots=True)
class Established:
    """An established session: its secrets, and who the peer is."""

    send_secret: bytes = field(repr=False)
    receive_secret: bytes = field(repr=False)
    greeting: Greeting  # the peer's


@dataclass(frozen=True, slots=True)
class WrongKey:
    """A hello that cannot be opened, from a validated address."""

    reason: str  # e.g. "uses another cluster key"


class Initiator:
    """Establishes a session with a named peer, from the datagrams for its connection id."""

    def __init__(
        self, psk: bytes, plain: bool, greeting: Greeting, target: str, random: Random = os.urandom
    ) -> None:
        self.greeting: Final = greeting
        self.target: Final = target
        self.reached = False  # the address answers; without a welcome, its key probably differs
        self._key = _checked_key(psk)
        self._suite = PLAIN if plain else SEALED
        self._ephemeral = Ephemeral(random(KEY_SIZE))
        self._cookie = NO_COOKIE
        # The datagram to send, and to retransmit until there is an answer; the first asks for a cookie.
        request = _prefix(HELLO, greeting) + bytes([self._suite])
        self.hello = request.ljust(HELLO_SIZE, b"\0")
        self._state: Symmetric | None = None  # after message 1, once there is a cookie
        self._established = False

    def take_cookie(self, datagram: bytes) -> bool:
        """True for a new cookie: `hello` has changed and should be sent at once."""
        cookie = datagram[PREFIX:]
        if not self._is_for_us(datagram, COOKIE) or len(cookie) != COOKIE_SIZE:
            return False
        if cookie in (self._cookie, NO_COOKIE):
            return False
        self.reached = True
        self._cookie = cookie
        public = self._ephemeral.public
        state = first_state(self._key, self._suite, cookie, public)
        self.hello = seal_hello(state, self._suite, cookie, public, self.greeting, self.target)
        self._state = state
        return True

    def take_welcome(self, datagram: bytes) -> Established | None:
        """The session, once; None if the datagram is forged, misdirected or repeated."""
        opened = self._open(datagram, WELCOME)
        if opened is None:
            return None
        content, state = opened
        try:
            greeting = Greeting.decode(content, self.target)
        except RemoteProtocolError:
            return None
        if greeting.name != self.target:
            return None
        self._established = True
        send, receive = state.split()
        return Established(send, receive, greeting)

    def take_refusal(self, datagram: bytes) -> str | None:
        """The peer's reason for refusing, safe to print; None if the datagram is forged."""
        opened = self._open(datagram, REFUSE)
        if opened is None:
            return None
        text = opened[0].decode("utf-8", "replace")
        return "".join([char if char.isprintable() else "?" for char in text])

    def _is_for_us(self, datagram: bytes, kind: int) -> bool:
        # A handshake yields at most one session: a second one would reuse its keys.
        return not self._established and datagram[:PREFIX] == _prefix(kind, self.greeting)

    def _open(self, datagram: bytes, kind: int) -> tuple[bytes, Symmetric] | None:
        """The content of an answer, and the state after it."""
        if self._state is None or not self._is_for_us(datagram, kind):
            return None
        if not PREFIX + POINT_SIZE + TAG_SIZE <= len(datagram) <= HELLO_SIZE:
            return None
        # On a copy: a forged answer must not invalidate the state for the true one.
        state = copy(self._state)
        public = datagram[PREFIX : PREFIX + POINT_SIZE]
        shared = self._ephemeral.exchange(public)
        if shared is None:
            return None
        state.mix_point(public)
        state.mix_key(shared)
        payload = state.open(datagram[PREFIX + POINT_SIZE :])
        content = None if payload is None else _unprefixed(payload, datagram)
        return None if content is None else (content, state)


class Responder:
    """Answers hellos, without keeping state about initiators."""

    def __init__(self, psk: bytes, plain: bool, name: str, random: Random = os.urandom) -> None:
        self.name: Final = name
        self._key = _checked_key(psk)
        self._suite = PLAIN if plain else SEALED
        self._random = random
        self._cookies = Cookies(random)
        self._probe = Ephemeral(random(KEY_SIZE))  # detects public keys of low order

    def open(self, datagram: bytes, address: bytes, now: int) -> bytes | Hello | WrongKey | None:
        """What to do about a hello from an address.

        Bytes are a stateless answer to send: a cookie, or a refusal because another name was meant. A
        `Hello` is to be answered by `welcome` or `refuse`. None needs no reaction, and neither does
        `WrongKey`, except for reporting it to the user.
        """
        if len(datagram) != HELLO_SIZE or datagram[0] != HELLO:
            return None
        connection = datagram[1:PREFIX]
        cookie = datagram[COOKIE_AT:POINT_AT]
        if not self._cookies.check(cookie, connection, address, now):
            return bytes([COOKIE]) + connection + self._cookies.make(connection, address, now)
        if datagram[PREFIX] != self._suite:
            return WrongKey(_OTHER_SUITES.get(datagram[PREFIX], _OTHER_VERSION))
        ephemeral = datagram[POINT_AT:SEALED_AT]
        state = first_state(self._key, self._suite, cookie, ephemeral)
        payload = state.open(datagram[SEALED_AT:])
        if payload is None:
            return WrongKey(_OTHER_KEY)
        hello = _read_hello(payload, datagram, state)
        if hello is None or self._probe.exchange(ephemeral) is None:
            return None
        if hello.target != self.name:
            return self.refuse(hello, f"this is {self.name}, not {hello.target}; check the address")
        return hello

    def welcome(self, hello: Hello, greeting: Greeting) -> tuple[bytes, Established]:
        """The answer that establishes a session, and the session; each call makes a new one."""
        datagram, state = self._answer(WELCOME, hello, greeting.encode())
        receive, send = state.split()
        return datagram, Established(send, receive, hello.greeting)

    def refuse(self, hello: Hello, reason: str) -> bytes:
        """The answer that refuses a session, with the reason, truncated if it is too long."""
        content = reason.encode("utf-8", "backslashreplace")
        if len(content) > MAX_REASON:  # it may contain names chosen by the peer
            content = content[: MAX_REASON - 3] + b"..."
        return self._answer(REFUSE, hello, content)[0]

    def _answer(self, kind: int, hello: Hello, content: bytes) -> tuple[bytes, Symmetric]:
        ephemeral = Ephemeral(self._random(KEY_SIZE))
        shared = ephemeral.exchange(hello.ephemeral)
        assert shared is not None, "open() rejects hellos whose key has low order"
        state = copy(hello.state)
        state.mix_point(ephemeral.public)
        state.mix_key(shared)
        start = _prefix(kind, hello.greeting)
        return start + ephemeral.public + state.seal(start + content), state


def _checked_key(psk: bytes) -> bytes:
    if len(psk) != KEY_SIZE:
        raise SecurityError(f"a key has {KEY_SIZE} bytes, not {len(psk)}; see `beforehand keygen`")
    return psk


def first_state(key: bytes, suite: int, cookie: bytes, ephemeral: bytes) -> Symmetric:
    """The state that seals message 1: each cookie gives another key."""
    state = Symmetric(b"beforehand" + bytes([suite]))
    state.mix_key_and_hash(hmac.digest(key, b"beforehand psk" + cookie, "sha256"))
    state.mix_point(ephemeral)
    return state


def _prefix(kind: int, initiator: Greeting) -> bytes:
    """The start of every handshake datagram."""
    return bytes([kind]) + initiator.connection


def _unprefixed(payload: bytes, datagram: bytes) -> bytes | None:
    """The payload after its prefix, or None if it was sealed for another kind of datagram."""
    return payload[PREFIX:] if payload[:PREFIX] == datagram[:PREFIX] else None


def seal_hello(
    state: Symmetric, suite: int, cookie: bytes, ephemeral: bytes, greeting: Greeting, target: str
) -> bytes:
    """The hello that requests a session; advances the state past message 1."""
    start = _prefix(HELLO, greeting)
    payload = start + name_field(target) + greeting.encode()
    sealed = state.seal(payload.ljust(_PAYLOAD_SIZE, b"\0"))
    return start + bytes([suite]) + cookie + ephemeral + sealed


def _read_hello(payload: bytes, datagram: bytes, state: Symmetric) -> Hello | None:
    """The hello with this payload, or None if it is malformed."""
    content = _unprefixed(payload, datagram)
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
