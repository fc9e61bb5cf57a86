"""Two nodes with the same key establish a session and learn each other's identity."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from beforehand.errors import SecurityError
from beforehand.runtime.identity.cookies import SLOT
from beforehand.runtime.identity.greeting import MAX_GREETING, Greeting
from beforehand.runtime.identity.handshake import (
    HELLO_SIZE,
    MAX_REASON,
    SEALED_AT,
    Initiator,
    Responder,
)
from beforehand.runtime.identity.keys import NO_KEY
from beforehand.runtime.link.datagrams import HELLO, REFUSE, WELCOME
from tests.runtime.identity.handshakes import (
    ALICE,
    BOB,
    HOME,
    KEY,
    NOW,
    greeting,
    initiator,
    meet,
    opened,
    responder,
    seeded_bytes,
    sent,
    with_cookie,
)


@pytest.mark.parametrize("plain", [False, True])
def test_both_sides_agree(plain: bool) -> None:
    """One side's send secret is the other's receive secret, and each knows the other's greeting."""
    key = NO_KEY if plain else KEY
    at_alice, at_bob = meet(initiator(key, plain), responder(key, plain))
    assert at_alice.send_secret == at_bob.receive_secret
    assert at_alice.receive_secret == at_bob.send_secret
    assert (at_alice.greeting, at_bob.greeting) == (BOB, ALICE)


def test_every_direction_of_every_session_has_its_own_secret() -> None:
    """Ten sessions with one key, one of the sides being the very same: twenty different secrets."""
    secrets: set[bytes] = set()
    for seed in range(10):
        session, _ = meet(initiator(), responder(seed=seed))
        secrets |= {session.send_secret, session.receive_secret}
    assert len(secrets) == 20
    assert all(len(secret) == 32 for secret in secrets)


def test_randomness_comes_from_the_system_unless_it_is_given() -> None:
    """By default, two nodes draw different keys."""
    first, _ = meet(Initiator(KEY, False, ALICE, "bob"), Responder(KEY, False, "bob"))
    second, _ = meet(Initiator(KEY, False, ALICE, "bob"), Responder(KEY, False, "bob"))
    assert first.send_secret != second.send_secret


def sha(data: bytes) -> bytes:
    """SHA-256."""
    return hashlib.sha256(data).digest()


def hkdf(chaining: bytes, secret: bytes, count: int) -> list[bytes]:
    """The HKDF of Noise, by the library."""
    raw = HKDF(SHA256(), 32 * count, chaining, b"").derive(secret)
    return [raw[at : at + 32] for at in range(0, len(raw), 32)]


def test_the_secrets_are_those_of_noise() -> None:
    """NNpsk0 written out once more from the specification, token by token, opens it all."""
    alice, bob = initiator(seed=1), responder(seed=2)
    hello = with_cookie(alice, bob)
    welcome, _ = bob.welcome(opened(bob.open(hello, HOME, NOW)), BOB)
    session = alice.take_welcome(welcome)
    assert session is not None
    private = X25519PrivateKey.from_private_bytes(seeded_bytes(1)(32))
    cookie, e, first = hello[10:26], hello[26:58], hello[58:]
    re, second = welcome[9:41], welcome[41:]
    assert e == private.public_key().public_bytes_raw()

    h = ck = b"Noise_NNpsk0_25519_AESGCM_SHA256"
    h = sha(h + b"beforehand\x11")
    ck, psk_hash, k = hkdf(
        ck, hmac.new(KEY, b"beforehand psk" + cookie, "sha256").digest(), 3
    )  # psk
    h = sha(sha(h + psk_hash) + e)  # e
    ck, k = hkdf(ck, e, 2)
    payload = AESGCM(k).decrypt(bytes(12), first, h)
    assert payload.rstrip(b"\0") == bytes([HELLO]) + ALICE.connection + b"\x03bob" + ALICE.encode()
    h = sha(sha(h + first) + re)  # e
    ck, k = hkdf(ck, re, 2)
    ck, k = hkdf(ck, private.exchange(X25519PublicKey.from_public_bytes(re)), 2)  # ee
    payload = AESGCM(k).decrypt(bytes(12), second, h)
    assert payload == bytes([WELCOME]) + ALICE.connection + BOB.encode()
    assert hkdf(ck, b"", 2) == [session.send_secret, session.receive_secret]


def test_a_hello_sent_again_is_recognised() -> None:
    """It has the same ephemeral key, also after another cookie; the sessions are different ones."""
    alice, bob = initiator(), responder()
    first = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    again = opened(bob.open(alice.hello, HOME, NOW))
    before = alice.hello
    assert alice.take_cookie(sent(bob.open(alice.hello, HOME, NOW + 3 * SLOT)))
    later = opened(bob.open(alice.hello, HOME, NOW + 3 * SLOT))
    assert first.ephemeral == again.ephemeral == later.ephemeral
    # Another cookie means another key: nothing is ever sealed twice with one key and one nonce.
    assert alice.hello[SEALED_AT:] != before[SEALED_AT:]
    assert bob.welcome(first, BOB)[1].send_secret != bob.welcome(again, BOB)[1].send_secret


def test_a_refusal_has_a_reason() -> None:
    """The initiator learns the reason, authenticated by the key."""
    alice, bob = initiator(), responder()
    hello = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    refusal = bob.refuse(hello, "alice was dropped here; restart it")
    assert alice.take_refusal(refusal) == "alice was dropped here; restart it"
    assert alice.take_welcome(refusal) is None


def test_a_reason_is_fit_to_print_and_to_send() -> None:
    """Escape sequences do not reach a terminal, and a reason without end is cut."""
    alice, bob = initiator(), responder()
    hello = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    assert alice.take_refusal(bob.refuse(hello, "no\x1b[2J\n\ud800é")) == "no?[2J?\\ud800é"
    refusal = bob.refuse(hello, "x" * 5_000)
    assert len(refusal) < HELLO_SIZE
    assert alice.take_refusal(refusal) == "x" * (MAX_REASON - 3) + "..."


def test_a_hello_for_another_name_is_refused() -> None:
    """At the wrong address the error names the node that is there, and there is no session."""
    alice, carol = initiator(), responder(name="carol")
    refusal = sent(carol.open(with_cookie(alice, carol), HOME, NOW))
    assert refusal[0] == REFUSE
    assert alice.take_refusal(refusal) == "this is carol, not bob; check the address"
    impostor = responder(seed=3)
    hello = opened(impostor.open(with_cookie(alice, impostor), HOME, NOW))
    assert alice.take_welcome(impostor.welcome(hello, greeting("carol"))[0]) is None
    assert alice.take_welcome(impostor.welcome(hello, BOB)[0]) is not None


def test_the_longest_names_fit() -> None:
    """Names of 255 bytes on both sides, and still no answer is longer than the hello."""
    name, target, protocol = "n" * 255, "\N{SNOWMAN}" * 85, "p" * 255
    big = 2**60 - 1
    mine = Greeting(name, bytes(8), bytes(range(8)), protocol, big, big, 65_535)
    theirs = Greeting(target, bytes(8), bytes(8), protocol, big, big, 65_535)
    alice = Initiator(KEY, False, mine, target, seeded_bytes(1))
    bob = responder(name=target)
    wire = with_cookie(alice, bob)
    welcome, at_bob = bob.welcome(opened(bob.open(wire, HOME, NOW)), theirs)
    assert len(wire) == HELLO_SIZE and len(welcome) < HELLO_SIZE
    assert at_bob.greeting == mine
    session = alice.take_welcome(welcome)
    assert session is not None and session.greeting == theirs
    assert len(theirs.encode()) == MAX_GREETING - 4  # 65,535 takes 4 bytes of 8
    # Somebody else is there, whose name is as long and cannot be printed.
    carol = responder(name="\x01" * 255)
    other = Initiator(KEY, False, mine, target, seeded_bytes(1))
    refusal = sent(carol.open(with_cookie(other, carol), HOME, NOW))
    assert len(refusal) < HELLO_SIZE
    reason = f"this is {'?' * 255}, not {target}; check the address"
    assert other.take_refusal(refusal) == reason


def test_a_key_of_another_length_is_refused() -> None:
    """The handshake itself does not take what `keys.load` would not give."""
    for make in (lambda: initiator(b"short"), lambda: responder(KEY + b"x")):
        with pytest.raises(SecurityError, match="a key has 32 bytes"):
            make()
