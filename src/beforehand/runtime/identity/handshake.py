"""How two nodes meet: the initiator says HELLO, and both have secrets of their own for one session.

    initiator                                      responder
    HELLO, without a cookie   ------------------>
                              <------------------  COOKIE   (nothing is remembered)
    HELLO, Noise message 1    ------------------>           (target, greeting)
                              <------------------  WELCOME, Noise message 2   (greeting)
                                               or  REFUSE, Noise message 2    (reason)

The Noise messages are those of `Noise_NNpsk0_25519_AESGCM_SHA256` (noise.py). The psk is made from the
cluster key and the cookie: message 1 is only good while the cookie is and from its address, and a
message for another cookie is sealed with another key, though the ephemeral key stays the same.

Message 1 can be sent again by whoever saw it, until the cookie expires. So a responder believes
that the initiator is there, and the incarnation it told, when the first packet of the session opens:
only the initiator has the secrets for that. The initiator believes a WELCOME at once.

Nodes without a key run the same handshake with a key that everybody knows, and another prologue.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from beforehand.errors import RemoteProtocolError, SecurityError
from beforehand.runtime.identity.cookies import COOKIE_SIZE, Cookies
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.hello import (
    COOKIE_AT,
    HELLO_SIZE,
    NO_COOKIE,
    PLAIN,
    POINT_AT,
    SEALED,
    SEALED_AT,
    Hello,
    empty_hello,
    first_state,
    prefix,
    read_hello,
    seal_hello,
    unprefixed,
)
from beforehand.runtime.identity.keys import KEY_SIZE
from beforehand.runtime.identity.noise import POINT_SIZE, TAG_SIZE, Ephemeral, Symmetric
from beforehand.runtime.link.datagrams import COOKIE, HELLO, PREFIX, REFUSE, WELCOME

__all__ = ["HELLO_SIZE", "Established", "Hello", "Initiator", "Responder", "WrongKey"]

MAX_REASON: Final = 1_000  # bytes of a refusal's reason, which then is shorter than a hello

_OTHER_KEY = "uses another cluster key"
_OTHER_SUITES = {
    SEALED: "uses a cluster key, and this node has none",
    PLAIN: "uses no cluster key, and this node has one",
}
_OTHER_VERSION = "speaks another version of the handshake"

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Established:
    """A session: what each side needs to talk, and who the other one is."""

    send_secret: bytes = field(repr=False)
    receive_secret: bytes = field(repr=False)
    greeting: Greeting  # the peer's


@dataclass(frozen=True, slots=True)
class WrongKey:
    """Somebody who can receive at its address said a hello that we cannot open."""

    reason: str  # what it does instead: "uses another cluster key"


class Initiator:
    """Wants a session with the peer of a name; give it what arrives for its connection."""

    def __init__(
        self,
        psk: bytes,
        plain: bool,
        greeting: Greeting,
        target: str,
        random: Random = os.urandom,
    ) -> None:
        self.greeting: Final = greeting
        self.target: Final = target
        self.reached = False  # somebody answers; if he never welcomes us, his key is another one
        self._key = _checked_key(psk)
        self._suite = PLAIN if plain else SEALED
        self._ephemeral = Ephemeral(random(KEY_SIZE))
        self._cookie = NO_COOKIE
        self._hello = empty_hello(self._suite, greeting)
        self._state: Symmetric | None = None  # after message 1, once there is a cookie
        self._established = False

    def hello(self) -> bytes:
        """The datagram to send, and to send again while there is no answer."""
        return self._hello

    def take_cookie(self, datagram: bytes) -> bool:
        """True if this is a new cookie for us: then `hello` is another one, to be sent at once."""
        cookie = datagram[PREFIX:]
        if not self._is_for_us(datagram, COOKIE) or len(cookie) != COOKIE_SIZE:
            return False
        if cookie in (self._cookie, NO_COOKIE):
            return False
        self.reached = True
        self._cookie = cookie
        public = self._ephemeral.public
        state = first_state(self._key, self._suite, cookie, public)
        self._hello = seal_hello(state, self._suite, cookie, public, self.greeting, self.target)
        self._state = state
        return True

    def take_welcome(self, datagram: bytes) -> Established | None:
        """The session, once; None if the datagram is forged, or for somebody else, or comes again."""
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
        """Why the peer does not want us, in words fit to print; None if the datagram is forged."""
        opened = self._open(datagram, REFUSE)
        if opened is None:
            return None
        text = opened[0].decode("utf-8", "replace")
        return "".join([each if each.isprintable() else "?" for each in text])

    def _is_for_us(self, datagram: bytes, kind: int) -> bool:
        # Only one session may ever come of a handshake: a second could begin with the same keys.
        return not self._established and datagram[:PREFIX] == prefix(kind, self.greeting)

    def _open(self, datagram: bytes, kind: int) -> tuple[bytes, Symmetric] | None:
        """What an answer says, and the state after it."""
        if self._state is None or not self._is_for_us(datagram, kind):
            return None
        if not PREFIX + POINT_SIZE + TAG_SIZE <= len(datagram) <= HELLO_SIZE:
            return None
        # On a copy: after a forged answer, the true one must still be welcome.
        state = self._state.copy()
        public = datagram[PREFIX : PREFIX + POINT_SIZE]
        shared = self._ephemeral.exchange(public)
        if shared is None:
            return None
        state.mix_point(public)
        state.mix_key(shared)
        payload = state.open(datagram[PREFIX + POINT_SIZE :])
        content = None if payload is None else unprefixed(payload, datagram)
        return None if content is None else (content, state)


class Responder:
    """Answers hellos; remembers nothing about anybody."""

    def __init__(self, psk: bytes, plain: bool, name: str, random: Random = os.urandom) -> None:
        self.name: Final = name
        self._key = _checked_key(psk)
        self._suite = PLAIN if plain else SEALED
        self._random = random
        self._cookies = Cookies(random)
        self._probe = Ephemeral(random(KEY_SIZE))  # finds public keys of a low order

    def open(self, datagram: bytes, address: bytes, now: int) -> bytes | Hello | WrongKey | None:
        """What a hello from an address calls for.

        Bytes are an answer to send and forget: a cookie, or a refusal since we are not the one who
        is wanted. A `Hello` waits for `welcome` or `refuse`. Nothing is to be done about None, and
        nothing is to be answered to `WrongKey`, which is for the user of this node.
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
        hello = read_hello(payload, datagram, state)
        if hello is None or self._probe.exchange(ephemeral) is None:
            return None
        if hello.target != self.name:
            return self.refuse(hello, f"this is {self.name}, not {hello.target}; check the address")
        return hello

    def welcome(self, hello: Hello, greeting: Greeting) -> tuple[bytes, Established]:
        """The answer that opens a session, and the session; each call makes another one."""
        datagram, state = self._answer(WELCOME, hello, greeting.encode())
        receive, send = state.split()
        return datagram, Established(send, receive, hello.greeting)

    def refuse(self, hello: Hello, reason: str) -> bytes:
        """The answer that tells why there will be no session; an endless reason is cut."""
        content = reason.encode("utf-8", "backslashreplace")
        if len(content) > MAX_REASON:  # the peer may have chosen the names in it
            content = content[: MAX_REASON - 3] + b"..."
        return self._answer(REFUSE, hello, content)[0]

    def _answer(self, kind: int, hello: Hello, content: bytes) -> tuple[bytes, Symmetric]:
        ephemeral = Ephemeral(self._random(KEY_SIZE))
        shared = ephemeral.exchange(hello.ephemeral)
        assert shared is not None, "open() lets no hello pass whose key has a low order"
        state = hello.state.copy()
        state.mix_point(ephemeral.public)
        state.mix_key(shared)
        start = prefix(kind, hello.greeting)
        return start + ephemeral.public + state.seal(start + content), state


def _checked_key(psk: bytes) -> bytes:
    if len(psk) != KEY_SIZE:
        raise SecurityError(f"a key has {KEY_SIZE} bytes, not {len(psk)}; see `beforehand keygen`")
    return psk
