"""Without the key, nobody can read from a node or write to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.runtime.identity.cookies import SLOT
from beforehand.runtime.identity.handshake import (
    COOKIE_AT,
    HELLO_SIZE,
    POINT_AT,
    SEALED,
    SEALED_AT,
    Hello,
    WrongKey,
    first_state,
    seal_hello,
)
from beforehand.runtime.identity.keys import NO_KEY
from beforehand.runtime.link.datagrams import COOKIE, DATA, HELLO, REFUSE, WELCOME
from tests.runtime.identity.handshakes import (
    ALICE,
    AWAY,
    BOB,
    HOME,
    KEY,
    NOW,
    OTHER_KEY,
    initiator,
    meet,
    opened,
    responder,
    sent,
    with_cookie,
)


def test_answers_are_never_longer_than_what_was_received() -> None:
    """A node cannot be used to amplify traffic: no answer is longer than a hello."""
    alice, bob = initiator(), responder()
    assert len(alice.hello) == HELLO_SIZE
    cookie = sent(bob.open(alice.hello, HOME, NOW))
    hello = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    refusal, (welcome, _) = bob.refuse(hello, "n" * 9_999), bob.welcome(hello, BOB)
    assert [datagram[0] for datagram in (cookie, refusal, welcome)] == [COOKIE, REFUSE, WELCOME]
    # As docs/security.md has them.
    sizes = [25, 66 + 1_000, 66 + len(BOB.encode())]
    assert [len(datagram) for datagram in (cookie, refusal, welcome)] == sizes
    assert HELLO_SIZE == 1_200 > max(sizes)


def test_a_hello_of_another_length_is_ignored() -> None:
    """A short one could be answered with more than it was; a longer one is not ours."""
    alice, bob = initiator(), responder()
    wire = with_cookie(alice, bob)
    for other in (wire[:-1], wire[: len(wire) // 2], wire[:1], b"", wire + b"\0"):
        assert bob.open(other, HOME, NOW) is None


def test_a_stranger_costs_no_public_key_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a valid cookie and the key, no curve is computed and no state is kept."""
    alice, bob, eve = initiator(), responder(), initiator(OTHER_KEY)
    wire, wrong = with_cookie(alice, bob), with_cookie(eve, bob)
    before = dict(vars(bob))

    def work(*_: object) -> None:
        raise AssertionError("public key work for a stranger")

    monkeypatch.setattr("beforehand.runtime.identity.noise.Ephemeral.exchange", work)
    assert isinstance(bob.open(wrong, HOME, NOW), WrongKey)
    monkeypatch.setattr("beforehand.runtime.identity.handshake.first_state", work)
    assert sent(bob.open(wire, AWAY, NOW))[0] == COOKIE
    assert sent(bob.open(initiator().hello, HOME, NOW))[0] == COOKIE
    assert vars(bob) == before
    with pytest.raises(AssertionError, match="public key work"):
        bob.open(wire, HOME, NOW)  # the same trap does catch somebody


def test_another_key_is_reported_to_the_local_user_only() -> None:
    """The responder doesn't answer, but reports a validated address with another key."""
    alice, bob = initiator(OTHER_KEY), responder()
    before = alice.reached
    result = bob.open(with_cookie(alice, bob), HOME, NOW)
    assert result == WrongKey("uses another cluster key")
    assert (before, alice.reached) == (False, True)  # alice sees that there is a node, too
    # Not before it has shown that it receives at its address.
    assert isinstance(bob.open(alice.hello, AWAY, NOW), bytes)


def test_a_plain_and_a_keyed_node_never_connect() -> None:
    """Not even with the placeholder key; each side reports what the other uses."""
    for key in (KEY, NO_KEY):
        keyed, plain = initiator(key), responder(NO_KEY, plain=True)
        result = plain.open(with_cookie(keyed, plain), HOME, NOW)
        assert result == WrongKey("uses a cluster key, and this node has none")
        lied = bytearray(keyed.hello)
        lied[9] ^= 0x11 ^ 0x12
        assert plain.open(bytes(lied), HOME, NOW) == WrongKey("uses another cluster key")
        without, with_key = initiator(NO_KEY, plain=True), responder(key)
        result = with_key.open(with_cookie(without, with_key), HOME, NOW)
        assert result == WrongKey("uses no cluster key, and this node has one")


def test_another_version_is_reported_as_such() -> None:
    """A node of the future is not accused of a wrong key."""
    alice, bob = initiator(), responder()
    wire = bytearray(with_cookie(alice, bob))
    wire[9] = 0x21
    assert bob.open(bytes(wire), HOME, NOW) == WrongKey("speaks another version of the handshake")


def test_a_cookie_is_for_one_address_and_one_connection_and_soon_over() -> None:
    """A hello from elsewhere, or late, gets another cookie and nothing else."""
    alice, bob = initiator(), responder()
    wire = with_cookie(alice, bob)
    assert isinstance(bob.open(wire, HOME, NOW + SLOT), Hello)
    for address, now in ((AWAY, NOW + SLOT), (b"", NOW + SLOT), (HOME, NOW + 2 * SLOT)):
        assert sent(bob.open(wire, address, now))[0] == COOKIE
    assert sent(responder(seed=3).open(wire, HOME, NOW))[0] == COOKIE


def test_a_recorded_hello_does_not_fit_a_new_cookie() -> None:
    """A message 1 that is replayed from another address cannot be opened there."""
    alice, bob = initiator(), responder()
    recorded = with_cookie(alice, bob)
    fresh = sent(bob.open(recorded, AWAY, NOW))[9:]
    moved = recorded[:COOKIE_AT] + fresh + recorded[POINT_AT:]
    assert bob.open(moved, AWAY, NOW) == WrongKey("uses another cluster key")


def test_every_changed_byte_of_a_hello_is_noticed() -> None:
    """At each position, some bit: the hello is refused, and the unmodified one still opens."""
    alice, bob = initiator(), responder()
    wire = with_cookie(alice, bob)
    seen = set()
    for position in range(len(wire)):
        changed = bytearray(wire)
        changed[position] ^= 1 << position % 8
        result = bob.open(bytes(changed), HOME, NOW)
        assert not isinstance(result, Hello), position
        seen.add(type(result))
    assert seen == {bytes, WrongKey, type(None)}
    assert isinstance(bob.open(wire, HOME, NOW), Hello)


@pytest.mark.parametrize("kind", [COOKIE, WELCOME, REFUSE])
def test_every_changed_byte_of_an_answer_is_noticed(kind: int) -> None:
    """Every bit of every byte, and every truncation: forged answers are ignored, the true one is not."""
    bob = responder()
    alice = initiator()
    hello = opened(bob.open(with_cookie(alice, bob), HOME, NOW))
    if kind == WELCOME:
        answer, _ = bob.welcome(hello, BOB)
    elif kind == REFUSE:
        answer = bob.refuse(hello, "no")
    else:
        alice = initiator()
        answer = sent(bob.open(alice.hello, HOME, NOW))
    forged = [answer[:size] for size in range(len(answer))] + [answer + b"\0"]
    for position in range(len(answer)):
        changed = bytearray(answer)
        changed[position] ^= 1 << position % 8
        if kind != COOKIE or position < 9:  # a wrong cookie shows when it is used
            forged.append(bytes(changed))
    for datagram in forged:
        assert not alice.take_cookie(datagram)
        assert alice.take_welcome(datagram) is None
        assert alice.take_refusal(datagram) is None
    if kind == COOKIE:
        assert alice.take_cookie(answer)
    elif kind == REFUSE:
        assert alice.take_refusal(answer) == "no"
    else:
        assert alice.take_welcome(answer) is not None


def test_a_forged_cookie_only_costs_a_round_trip() -> None:
    """The responder replaces it by a valid one, and the handshake completes."""
    alice, bob = initiator(), responder()
    alice.take_cookie(bytes([COOKIE]) + ALICE.connection + b"f" * 16)
    meet(alice, bob)


def test_a_repeated_cookie_is_ignored() -> None:
    """Otherwise each copy of it would make the initiator send another hello."""
    alice, bob = initiator(), responder()
    cookie = sent(bob.open(alice.hello, HOME, NOW))
    assert [alice.take_cookie(cookie) for _ in range(3)] == [True, False, False]
    assert not alice.take_cookie(cookie[:9] + bytes(16))


def test_a_welcome_is_taken_once() -> None:
    """A second session with the same secrets would use the same nonces again."""
    alice, bob = initiator(), responder()
    cookie = sent(bob.open(alice.hello, HOME, NOW))
    alice.take_cookie(cookie)
    hello = opened(bob.open(alice.hello, HOME, NOW))
    welcome, _ = bob.welcome(hello, BOB)
    assert alice.take_welcome(welcome) is not None
    assert alice.take_welcome(welcome) is None
    # Not by way of other cookies either, nor with another answer to the same hello.
    assert not alice.take_cookie(cookie[:9] + b"x" * 16) and not alice.take_cookie(cookie)
    assert alice.take_welcome(bob.welcome(hello, BOB)[0]) is None


def test_an_answer_for_another_handshake_is_ignored() -> None:
    """A welcome for an earlier attempt of the same node, or of another one, gives no session."""
    bob = responder()
    early, late = initiator(seed=1), initiator(seed=9)
    hello = opened(bob.open(with_cookie(early, bob), HOME, NOW))
    welcome, _ = bob.welcome(hello, BOB)
    with_cookie(late, bob)
    assert late.take_welcome(welcome) is None
    assert late.take_refusal(bob.refuse(hello, "no")) is None
    assert initiator().take_welcome(welcome) is None  # that has not even a cookie yet


def test_a_responder_without_the_key_cannot_answer() -> None:
    """An attacker on the path can forge cookies, but neither welcomes nor refusals."""
    alice, eve = initiator(), responder(OTHER_KEY)
    stolen = opened(responder(seed=5).open(with_cookie(alice, responder(seed=5)), HOME, NOW))
    state = first_state(OTHER_KEY, SEALED, alice.hello[COOKIE_AT:POINT_AT], stolen.ephemeral)
    forged = Hello(stolen.greeting, "bob", stolen.ephemeral, state)
    assert alice.take_welcome(eve.welcome(forged, BOB)[0]) is None
    assert alice.take_refusal(eve.refuse(forged, "go away")) is None


# Points of small order on the curve: with them the shared secret is the same for everybody.
LOW_ORDER = [
    bytes(32),
    b"\1" + bytes(31),
    bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
]


@pytest.mark.parametrize("point", LOW_ORDER)
def test_points_of_low_order_are_refused(point: bytes) -> None:
    """Neither side accepts a public key of low order, whose secret would be known."""
    alice, bob = initiator(), responder()
    cookie = with_cookie(alice, bob)[COOKIE_AT:POINT_AT]
    state = first_state(KEY, SEALED, cookie, point)
    wire = seal_hello(state, SEALED, cookie, point, ALICE, "bob")
    assert bob.open(wire, HOME, NOW) is None
    answer = bytes([WELCOME]) + ALICE.connection + point + bytes(60)
    assert alice.take_welcome(answer) is None


def test_a_malformed_hello_of_a_member_is_ignored() -> None:
    """The key alone is not enough: a malformed hello is refused."""
    alice, bob = initiator(), responder()
    cookie = with_cookie(alice, bob)[COOKIE_AT:POINT_AT]
    point = alice.hello[POINT_AT:SEALED_AT]
    start = bytes([HELLO]) + ALICE.connection
    good = start + b"\x03bob" + ALICE.encode()
    contents = {
        "fine": good,
        "a prefix of another kind": bytes([WELCOME]) + good[1:],
        "another connection": start + b"\x03bob" + BOB.encode(),
        "no target": start + b"\0" + ALICE.encode(),
        "no greeting": start + b"\x03bob",
        "something after it": good.ljust(500, b"\0") + b"more",
    }
    results = {}
    for label, content in contents.items():
        state = first_state(KEY, SEALED, cookie, point)
        sealed = state.seal(content.ljust(HELLO_SIZE - SEALED_AT - 16, b"\0"))
        wire = start + bytes([SEALED]) + cookie + point + sealed
        results[label] = isinstance(bob.open(wire, HOME, NOW), Hello)
    assert results == {label: label == "fine" for label in contents}


@given(st.integers(0, 255), st.binary(max_size=1_300))
def test_any_bytes_are_tolerated(kind: int, noise: bytes) -> None:
    """Whatever arrives, at whatever side: no exception, no session, no long answer."""
    alice, bob = initiator(), responder()
    with_cookie(alice, bob)
    for first in (kind, HELLO, COOKIE, WELCOME, REFUSE, DATA):
        data = bytes([first]) + noise
        for datagram in (
            data,
            data[:1] + ALICE.connection + noise,
            data.ljust(HELLO_SIZE)[:HELLO_SIZE],
        ):
            result = bob.open(datagram, HOME, NOW)
            assert result is None or (isinstance(result, bytes) and len(result) < len(datagram))
            assert alice.take_welcome(datagram) is None
            assert alice.take_refusal(datagram) is None
            alice.take_cookie(datagram)


@given(st.binary(max_size=600), st.binary(max_size=600))
def test_any_bytes_are_tolerated_even_from_a_member(content: bytes, target: bytes) -> None:
    """Sealed with the right key and the right cookie, and still anything may be inside."""
    alice, bob = initiator(), responder()
    cookie = with_cookie(alice, bob)[COOKIE_AT:POINT_AT]
    point = alice.hello[POINT_AT:SEALED_AT]
    start = bytes([HELLO]) + ALICE.connection
    for inside in (content, start + content, start + b"\x03bob" + content, start + target):
        state = first_state(KEY, SEALED, cookie, point)
        payload = inside.ljust(HELLO_SIZE - SEALED_AT - 16, b"\0")[: HELLO_SIZE - SEALED_AT - 16]
        wire = start + bytes([SEALED]) + cookie + point + state.seal(payload)
        result = bob.open(wire, HOME, NOW)
        assert result is None or (isinstance(result, bytes) and result[0] == REFUSE)
