"""The engine: accounts, runs, routes, timers, and what it does with datagrams and dropped peers."""

from contextlib import suppress
from itertools import islice, product

import pytest

from beforehand.errors import LocalProtocolError, PeerDroppedError
from beforehand.runtime.engine.events import (
    AddressChanged,
    DroppedPeerHeard,
    HandshakeDatagram,
    PeerDropped,
    PeerMisbehaved,
)
from beforehand.runtime.engine.outbox import MAX_PAYLOAD, MAX_ROUTES
from beforehand.runtime.link import frames
from beforehand.runtime.link.datagrams import DATA, HEADER
from beforehand.runtime.link.link import NOW
from beforehand.runtime.link.sealing import PlainSealer
from tests.runtime.engine.engines import HEARTBEAT, MS, Company


def test_messages_arrive_in_order_and_are_numbered() -> None:
    """A run to one peer, interrupted by another receiver, keeps its numbers and its order."""
    company = Company("alice", "bob", "carol")
    numbers = [
        company.send("alice", to, b"%d" % at)
        for at, to in enumerate(["bob", "bob", "carol", "bob"])
    ]
    assert numbers == [1, 2, 3, 4]
    company.settle()
    received = company.engines["bob"].inbox.take_many(10)
    assert [(m.sender, int(m.number), m.payload) for m in received] == [
        ("alice", 1, b"0"),
        ("alice", 2, b"1"),
        ("alice", 4, b"3"),
    ]
    assert company.taken("carol") == [b"2"]


def test_several_receivers_and_oneself() -> None:
    """One message to all of them, oneself included, whatever the order and number of the names."""
    company = Company("alice", "bob", "carol")
    assert company.send("alice", ("carol", "bob", "alice", "bob"), b"all") == 1
    company.settle()
    assert [company.taken(name) for name in company.engines] == [[b"all"]] * 3


def test_the_window_is_between_the_applications() -> None:
    """What was not taken over there counts, wherever it is; only taking it makes room."""
    company = Company("alice", "bob", window=8)
    alice, bob = company.engines["alice"], company.engines["bob"]
    for _ in range(8):
        assert company.send("alice", "bob", b"x")
    assert not company.send("alice", "bob", b"x")
    assert alice.outbox.blocked_by is alice.sessions.peers["bob"]
    company.settle()
    assert company.account("alice", "bob").delivered == 8
    assert company.account("alice", "bob").consumed == 0
    assert not company.send("alice", "bob", b"x")
    assert len(bob.inbox.take_many(5)) == 5
    company.settle()
    assert company.account("alice", "bob").consumed == 5
    assert [bool(company.send("alice", "bob", b"y")) for _ in range(6)] == [True] * 5 + [False]


def test_the_window_counts_bytes_too() -> None:
    """A few large messages fill it; one that is larger than all of it still goes, alone."""
    company = Company("alice", "bob", window_bytes=10_000)
    assert company.send("alice", "bob", bytes(6_000)) and not company.send(
        "alice", "bob", bytes(6_000)
    )
    company.settle()
    assert company.taken("bob") == [bytes(6_000)]
    company.settle()
    assert company.send("alice", "bob", bytes(50_000)) and not company.send("alice", "bob", b"x")
    company.settle()
    assert company.taken("bob") == [bytes(50_000)]


def test_credit_that_was_put_off_holds_nobody_up() -> None:
    """Small amounts are not told at once, and yet the next message, however large, gets through."""
    company = Company("alice", "bob", window_bytes=1_000)
    assert company.send("alice", "bob", bytes(100))
    company.settle()
    assert company.taken("bob") == [bytes(100)]
    company.settle()
    assert company.send("alice", "bob", bytes(950))
    company.settle()
    assert company.taken("bob") == [bytes(950)]


def test_the_quick_door_does_the_same_or_nothing() -> None:
    """It takes what is simple, with the same numbers, and leaves the rest to `offer`."""
    company = Company("alice", "bob", "carol", window=4)
    alice = company.engines["alice"]
    assert company.send("alice", "bob", b"1") == 1
    assert [int(alice.try_send("bob", b"%d" % number)) for number in (2, 3, 4)] == [2, 3, 4]
    assert alice.try_send("bob", b"5") == company.send("alice", "bob", b"5") == 0
    assert alice.try_send("carol", b"other") == 5
    company.settle()
    assert company.taken("bob") == [b"1", b"2", b"3", b"4"]
    assert company.taken("carol") == [b"other"]


def test_a_batch_is_accepted_a_piece_at_a_time() -> None:
    """Each piece is a part of the window, in messages and in bytes, and accepted whole or not at all."""
    company = Company("alice", "bob", window=8, window_bytes=4_000)
    alice = company.engines["alice"]
    bob = company.account("alice", "bob")
    small, large = [b"x"] * 9, [bytes(600)] * 9
    stops = [int(alice.offer("bob", small, start)) for start in (0, 2, 4)]
    assert (stops, int(bob.accepted)) == ([2, 4, 6], 6)
    assert alice.offer("bob", large, 0) == 1
    assert (
        alice.offer("bob", small, 7) == 7 and alice.outbox.blocked_by is alice.sessions.peers["bob"]
    )
    assert alice.offer("bob", small, 8) == 9
    assert (int(bob.accepted), int(bob.accepted_bytes)) == (8, 607)
    company.settle()
    assert company.taken("bob") == [b"x"] * 6 + [bytes(600), b"x"]


def test_a_batch_for_a_peer_that_is_not_there_yet() -> None:
    """Nothing is accepted, and the piece is one that will fit, whatever the peer will grant."""
    company = Company("alice", "bob")
    alice = company.engines["alice"]
    alice.await_peer("carol", known_to_core=False)
    assert alice.offer("carol", [b"x"] * 10_000, 0) == 0
    carol = alice.sessions.peers["carol"]
    assert alice.outbox.blocked_by is carol
    carol.outgoing.window = carol.outgoing.window_bytes = 1
    assert alice.offer("carol", [b"x"] * 10_000, 0) == 1


@pytest.mark.parametrize(
    ("to", "payload", "problem"),
    [
        ("bob", "text", "a payload is bytes, not str; encode it"),
        ("bob", bytearray(1), "a payload is bytes, not bytearray"),
        ("dave", b"", "there is no peer 'dave'; name it"),
        (("bob", "dave"), b"", "there is no peer 'dave'"),
        ((), b"", "no receivers; name at least one"),
        (None, b"", "no broadcast; name the receivers"),
        ("bob", bytes(MAX_PAYLOAD + 1), "16777217 bytes is more than the 16777216"),
    ],
)
def test_misuse_is_refused_before_anything_is_accepted(
    to: object, payload: object, problem: str
) -> None:
    """Each with a sentence, also when it is found late in a batch."""
    company = Company("alice", "bob")
    alice = company.engines["alice"]
    with pytest.raises(LocalProtocolError, match=problem):
        alice.offer(to, [payload], 0)
    with pytest.raises(LocalProtocolError, match=problem):
        alice.offer(to, [b"fine"] * 100 + [payload], 0)
    with suppress(LocalProtocolError):
        assert alice.try_send(to, payload) == 0  # the quick door leaves it to the other one
    assert company.account("alice", "bob").accepted == 0
    assert company.send("alice", "bob", b"fine") == 1


def test_sets_of_receivers_are_not_remembered_for_ever() -> None:
    """However many ways there are to name them."""
    company = Company("alice", "bob")
    for names in islice(product(("alice", "bob"), repeat=13), MAX_ROUTES + 100):
        company.send("alice", names, b"")
    assert 0 < company.engines["alice"].sizes()["routes"] <= MAX_ROUTES


def test_what_was_accepted_stays_with_its_receiver() -> None:
    """Peers that come in between do not change where earlier messages go."""
    company = Company("alice", "bob", "carol")
    alice = company.engines["alice"]
    company.send("alice", "bob", b"for bob")
    alice.await_peer("dave", known_to_core=False)
    company.send("alice", "carol", b"for carol")
    company.settle()
    assert (company.taken("bob"), company.taken("carol")) == ([b"for bob"], [b"for carol"])


def test_strangers_strays_and_forgeries_are_told_apart() -> None:
    """Handshakes go to those who handle them; the rest is counted and has no effect."""
    company = Company("alice", "bob", plain=False)
    alice = company.engines["alice"]
    company.send("bob", "alice", b"true")
    ((_, datagrams),) = company.engines["bob"].flush(company.now)
    genuine = datagrams[0]
    forged = genuine[:-1] + bytes([genuine[-1] ^ 1])
    stray = bytes([DATA]) + b"nobody's" + genuine[9:]
    beyond = genuine[:9] + b"\x10" + genuine[10:]
    alice.receive([b"", b"\xb1hello", genuine[:HEADER], stray, forged, beyond], "x", company.now)
    assert [event.datagram for event in company.events("alice", HandshakeDatagram)] == [
        b"",
        b"\xb1hello",
        genuine[:HEADER],
    ]
    assert (alice.counters.stray, alice.counters.refused, alice.inbox.unread) == (1, 2, 0)
    alice.receive([genuine, genuine], "bob", company.now)
    assert (alice.counters.refused, alice.inbox.unread) == (3, 1)


def test_only_the_newest_packet_tells_of_a_new_address() -> None:
    """A packet that was held back somewhere comes from where the peer was once."""
    company = Company("alice", "bob")
    alice, bob = company.engines["alice"], company.link("bob", "alice")
    older, newer = (bob.alone(frames.PING_FRAME, company.now) for _ in range(2))
    alice.receive([newer], "bob", company.now)
    alice.receive([older], "elsewhere", company.now)
    assert company.events("alice", AddressChanged) == []
    alice.receive([bob.alone(frames.PING_FRAME, company.now)], "elsewhere", company.now)
    (change,) = company.events("alice", AddressChanged)
    assert (change.peer.name, change.address) == ("bob", "elsewhere")
    assert company.link("alice", "bob").address == "bob"


def test_short_packets_tell_of_no_new_address() -> None:
    """They would have to be answered with a longer one; the next heartbeat is long enough."""
    company = Company("alice", "bob")
    alice, bob = company.engines["alice"], company.link("bob", "alice")
    bob.open(company.link("alice", "bob").alone(frames.PING_FRAME, company.now), 0, company.now)
    bob.owe_ack(NOW, company.now)
    (ack,) = bob.write(company.now)
    alice.receive([ack], "elsewhere", company.now)
    assert company.events("alice", AddressChanged) == []
    ping = bob.alone(frames.PING_FRAME, company.now)
    challenge = company.link("alice", "bob").alone(b"\xc4" + bytes(frames.TOKEN), company.now)
    assert len(ack) < len(challenge) <= len(ping)
    alice.receive([ping], "elsewhere", company.now)
    assert len(company.events("alice", AddressChanged)) == 1


def test_packet_numbers_have_an_end() -> None:
    """What cannot be acknowledged any more is refused, though its checksum is right."""
    company = Company("alice", "bob")
    alice = company.engines["alice"]
    header = company.link("bob", "alice").prefix + (2**60).to_bytes(8, "big")
    alice.receive([PlainSealer().seal(2**60, header, frames.PING_FRAME)], "bob", company.now)
    assert alice.counters.refused == 1
    header = company.link("bob", "alice").prefix + (2**60 - 1).to_bytes(8, "big")
    alice.receive([PlainSealer().seal(2**60 - 1, header, frames.PING_FRAME)], "bob", company.now)
    assert alice.counters.refused == 1
    ((_, (datagram,)),) = alice.flush(company.now)  # the ack of it
    assert datagram[HEADER] == frames.ACK


@pytest.mark.parametrize("preferred", [True, False])
def test_two_sessions_with_one_life_become_one(preferred: bool) -> None:
    """Nothing that was under way is lost or doubled, not even half of a large message."""
    company = Company("alice", "bob")
    large = bytes(range(256)) * 200
    company.send("alice", "bob", large)
    company.send("bob", "alice", b"small")
    for _ in range(3):
        company.turn()
    assert company.link("bob", "alice").reassembly.held and company.engines["alice"].inbox.unread
    company.join("alice", "bob", session=1, preferred=preferred)
    for name, engine in company.engines.items():
        assert company.events(name, PeerDropped) == []
        (used,) = engine.sessions.by_connection
        assert used.startswith(b"1" if preferred else b"0"), name
    company.send("alice", "bob", b"after")
    company.send("alice", "bob", large[::-1])
    company.settle(500)
    assert company.taken("bob") == [large, b"after", large[::-1]]
    assert company.taken("alice") == [b"small"]


def test_acknowledgements_stay_with_their_session() -> None:
    """One of the old session, and the first packet of the new one, come together."""
    company = Company("alice", "bob")
    alice, bob = company.engines["alice"], company.engines["bob"]
    company.send("alice", "bob", b"one")
    ((_, datagrams),) = alice.flush(company.now)
    bob.receive(datagrams, "alice", company.now)
    company.send("bob", "alice", b"two")
    ((_, of_the_old),) = bob.flush(company.now)
    peers = company.session("alice", "bob", 1)
    alice.sessions.expect(peers["alice"])
    bob.prove(peers["bob"])
    company.send("bob", "alice", b"three")
    ((_, of_the_new),) = bob.flush(company.now)
    alice.receive(of_the_old + of_the_new, "bob", company.now)
    company.send("alice", "bob", b"four")
    company.settle()
    for name in company.engines:
        assert company.events(name, PeerMisbehaved) == []
    assert company.taken("alice") == [b"two", b"three"]
    assert company.taken("bob") == [b"one", b"four"]


def test_a_drop_reaches_the_third_through_the_fence() -> None:
    """Bob learns that alice gave carol up from the next message of alice, and does the same."""
    company = Company("alice", "bob", "carol")
    alice = company.engines["alice"]
    company.send("alice", ("bob", "carol"), b"before")
    company.settle()
    alice.drop(alice.sessions.peers["carol"], company.now)
    assert [event.peer.name for event in company.events("alice", PeerDropped)] == ["carol"]
    with pytest.raises(PeerDroppedError, match="carol was dropped"):
        company.send("alice", "carol", b"")
    assert company.events("bob", PeerDropped) == []
    company.send("alice", "bob", b"after")
    company.settle()
    assert [event.peer.name for event in company.events("bob", PeerDropped)] == ["carol"]
    assert company.taken("bob") == [b"before", b"after"]
    company.send("carol", "bob", b"unheard")
    company.turn()
    assert company.taken("bob") == []
    assert {event.peer.name for event in company.events("bob", DroppedPeerHeard)} == {"carol"}


def test_nothing_more_goes_to_a_dropped_peer() -> None:
    """Its queue is given up, its memory with it, and no timer of its link runs any more."""
    company = Company("alice", "bob", window_bytes=10**7)
    alice = company.engines["alice"]
    company.cut |= {("alice", "bob"), ("bob", "alice")}
    for _ in range(20):
        assert company.send("alice", "bob", bytes(100_000))
    company.turn()
    link = company.link("alice", "bob")
    assert link.waiting > 10**6
    alice.drop(alice.sessions.peers["bob"], company.now)
    company.turn()
    assert link.waiting == 0 and link.recovery.in_flight < 10_000
    before = len(company.passed)
    for _ in range(20):
        company.now += HEARTBEAT
        company.turn()
    assert [
        each for each in company.passed[before:] if each[1] == "bob" and each[0] == "alice"
    ] == []


def test_messages_of_a_dropped_peer_can_still_be_read() -> None:
    """They were delivered before; nobody is told that they were taken."""
    company = Company("alice", "bob", window=4)
    for number in range(4):
        company.send("bob", "alice", b"%d" % number)
    company.settle()
    alice = company.engines["alice"]
    link = company.link("alice", "bob")
    alice.drop(alice.sessions.peers["bob"], company.now)
    assert company.taken("alice") == [b"0", b"1", b"2", b"3"]
    company.turn()
    assert link.waiting == 0 and not link.has_frames()


def test_timers_lead_from_a_loss_to_the_message() -> None:
    """A lost datagram is sent again when `expire` is called at the time that was asked for."""
    company = Company("alice", "bob")
    alice = company.engines["alice"]
    company.send("alice", "bob", b"lost at first")
    alice.flush(company.now)  # nobody carries this one
    turns = 0
    while not company.engines["bob"].inbox.unread:
        due = int(alice.next_timer())
        assert company.now < due < company.now + 5_000 * MS
        company.now = due
        company.turn()
        turns += 1
        assert turns < 10
    assert company.link("alice", "bob").resent == 1


def test_a_quiet_pair_keeps_few_timers() -> None:
    """Timers that were superseded do not pile up, however long the heartbeat is."""
    company = Company("alice", "bob", silent_after=10**5 * HEARTBEAT)
    alice = company.engines["alice"]
    for _ in range(300):
        company.send("alice", "bob", b"x")
        company.settle()
        company.now += 1_000 * MS
        company.settle()
        assert company.taken("bob") == [b"x"]
    assert alice.sizes()["timers"] < 60
