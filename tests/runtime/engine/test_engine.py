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
from tests.runtime.engine.engines import HEARTBEAT, MS, EngineMesh


def test_messages_arrive_in_order_and_are_numbered() -> None:
    """A run to one peer, interrupted by another receiver, keeps its numbers and its order."""
    mesh = EngineMesh("alice", "bob", "carol")
    numbers = [
        mesh.send("alice", to, b"%d" % at) for at, to in enumerate(["bob", "bob", "carol", "bob"])
    ]
    assert numbers == [1, 2, 3, 4]
    mesh.settle()
    received = mesh.engines["bob"].inbox.take_many(10)
    assert [(m.sender, int(m.number), m.payload) for m in received] == [
        ("alice", 1, b"0"),
        ("alice", 2, b"1"),
        ("alice", 4, b"3"),
    ]
    assert mesh.taken("carol") == [b"2"]


def test_several_receivers_and_oneself() -> None:
    """One message to all of them, including the sender, whatever the order and number of the names."""
    mesh = EngineMesh("alice", "bob", "carol")
    assert mesh.send("alice", ("carol", "bob", "alice", "bob"), b"all") == 1
    mesh.settle()
    assert [mesh.taken(name) for name in mesh.engines] == [[b"all"]] * 3


def test_the_window_is_between_the_applications() -> None:
    """What was not taken over there counts, wherever it is; only taking it makes room."""
    mesh = EngineMesh("alice", "bob", window=8)
    alice, bob = mesh.engines["alice"], mesh.engines["bob"]
    for _ in range(8):
        assert mesh.send("alice", "bob", b"x")
    assert not mesh.send("alice", "bob", b"x")
    assert alice.outbox.blocked_by is alice.sessions.peers["bob"]
    mesh.settle()
    assert mesh.account("alice", "bob").delivered == 8
    assert mesh.account("alice", "bob").consumed == 0
    assert not mesh.send("alice", "bob", b"x")
    assert len(bob.inbox.take_many(5)) == 5
    mesh.settle()
    assert mesh.account("alice", "bob").consumed == 5
    assert [bool(mesh.send("alice", "bob", b"y")) for _ in range(6)] == [True] * 5 + [False]


def test_the_window_counts_bytes_too() -> None:
    """A few large messages fill it; one that is larger than all of it still goes, alone."""
    mesh = EngineMesh("alice", "bob", window_bytes=10_000)
    assert mesh.send("alice", "bob", bytes(6_000)) and not mesh.send("alice", "bob", bytes(6_000))
    mesh.settle()
    assert mesh.taken("bob") == [bytes(6_000)]
    mesh.settle()
    assert mesh.send("alice", "bob", bytes(50_000)) and not mesh.send("alice", "bob", b"x")
    mesh.settle()
    assert mesh.taken("bob") == [bytes(50_000)]


def test_deferred_credit_blocks_no_sender() -> None:
    """Small amounts are not reported at once, and yet the next message, however large, is accepted."""
    mesh = EngineMesh("alice", "bob", window_bytes=1_000)
    assert mesh.send("alice", "bob", bytes(100))
    mesh.settle()
    assert mesh.taken("bob") == [bytes(100)]
    mesh.settle()
    assert mesh.send("alice", "bob", bytes(950))
    mesh.settle()
    assert mesh.taken("bob") == [bytes(950)]


def test_the_fast_path_does_the_same_or_nothing() -> None:
    """It takes what is simple, with the same numbers, and leaves the rest to `offer`."""
    mesh = EngineMesh("alice", "bob", "carol", window=4)
    alice = mesh.engines["alice"]
    assert mesh.send("alice", "bob", b"1") == 1
    assert [int(alice.try_send("bob", b"%d" % number)) for number in (2, 3, 4)] == [2, 3, 4]
    assert alice.try_send("bob", b"5") == mesh.send("alice", "bob", b"5") == 0
    assert alice.try_send("carol", b"other") == 5
    mesh.settle()
    assert mesh.taken("bob") == [b"1", b"2", b"3", b"4"]
    assert mesh.taken("carol") == [b"other"]


def test_a_batch_is_accepted_part_by_part() -> None:
    """Each part is a share of the window, in messages and in bytes, and accepted whole or not at all."""
    mesh = EngineMesh("alice", "bob", window=8, window_bytes=4_000)
    alice = mesh.engines["alice"]
    bob = mesh.account("alice", "bob")
    small, large = [b"x"] * 9, [bytes(600)] * 9
    stops = [int(alice.offer("bob", small, start)) for start in (0, 2, 4)]
    assert (stops, int(bob.accepted)) == ([2, 4, 6], 6)
    assert alice.offer("bob", large, 0) == 1
    assert (
        alice.offer("bob", small, 7) == 7 and alice.outbox.blocked_by is alice.sessions.peers["bob"]
    )
    assert alice.offer("bob", small, 8) == 9
    assert (int(bob.accepted), int(bob.accepted_bytes)) == (8, 607)
    mesh.settle()
    assert mesh.taken("bob") == [b"x"] * 6 + [bytes(600), b"x"]


def test_a_batch_for_a_peer_that_is_not_there_yet() -> None:
    """Nothing is accepted, and the piece is one that will fit, whatever the peer will grant."""
    mesh = EngineMesh("alice", "bob")
    alice = mesh.engines["alice"]
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
    """Each with an error, even if it is late in a batch."""
    mesh = EngineMesh("alice", "bob")
    alice = mesh.engines["alice"]
    with pytest.raises(LocalProtocolError, match=problem):
        alice.offer(to, [payload], 0)
    with pytest.raises(LocalProtocolError, match=problem):
        alice.offer(to, [b"fine"] * 100 + [payload], 0)
    with suppress(LocalProtocolError):
        assert alice.try_send(to, payload) == 0  # the fast path leaves it to `offer`
    assert mesh.account("alice", "bob").accepted == 0
    assert mesh.send("alice", "bob", b"fine") == 1


def test_sets_of_receivers_are_not_remembered_forever() -> None:
    """However many ways there are to name them."""
    mesh = EngineMesh("alice", "bob")
    for names in islice(product(("alice", "bob"), repeat=13), MAX_ROUTES + 100):
        mesh.send("alice", names, b"")
    assert 0 < mesh.engines["alice"].sizes()["routes"] <= MAX_ROUTES


def test_accepted_messages_stay_with_their_receiver() -> None:
    """Peers that come in between do not change where earlier messages go."""
    mesh = EngineMesh("alice", "bob", "carol")
    alice = mesh.engines["alice"]
    mesh.send("alice", "bob", b"for bob")
    alice.await_peer("dave", known_to_core=False)
    mesh.send("alice", "carol", b"for carol")
    mesh.settle()
    assert (mesh.taken("bob"), mesh.taken("carol")) == ([b"for bob"], [b"for carol"])


def test_handshakes_strays_and_forgeries_are_distinguished() -> None:
    """Handshakes are reported as events; the rest is counted and has no effect."""
    mesh = EngineMesh("alice", "bob", plain=False)
    alice = mesh.engines["alice"]
    mesh.send("bob", "alice", b"true")
    ((_, datagrams),) = mesh.engines["bob"].flush(mesh.now)
    genuine = datagrams[0]
    forged = genuine[:-1] + bytes([genuine[-1] ^ 1])
    stray = bytes([DATA]) + b"nobody's" + genuine[9:]
    beyond = genuine[:9] + b"\x10" + genuine[10:]
    alice.receive([b"", b"\xb1hello", genuine[:HEADER], stray, forged, beyond], "x", mesh.now)
    assert [event.datagram for event in mesh.events("alice", HandshakeDatagram)] == [
        b"",
        b"\xb1hello",
        genuine[:HEADER],
    ]
    assert (alice.counters.stray, alice.counters.refused, alice.inbox.unread) == (1, 2, 0)
    alice.receive([genuine, genuine], "bob", mesh.now)
    assert (alice.counters.refused, alice.inbox.unread) == (3, 1)


def test_only_the_newest_packet_reveals_a_new_address() -> None:
    """A delayed packet arrives from a former address of the peer."""
    mesh = EngineMesh("alice", "bob")
    alice, bob = mesh.engines["alice"], mesh.link("bob", "alice")
    older, newer = (bob.alone(frames.PING_FRAME, mesh.now) for _ in range(2))
    alice.receive([newer], "bob", mesh.now)
    alice.receive([older], "elsewhere", mesh.now)
    assert mesh.events("alice", AddressChanged) == []
    alice.receive([bob.alone(frames.PING_FRAME, mesh.now)], "elsewhere", mesh.now)
    (change,) = mesh.events("alice", AddressChanged)
    assert (change.peer.name, change.address) == ("bob", "elsewhere")
    assert mesh.link("alice", "bob").address == "bob"


def test_short_packets_do_not_reveal_a_new_address() -> None:
    """They would have to be answered with a longer one; the next heartbeat is long enough."""
    mesh = EngineMesh("alice", "bob")
    alice, bob = mesh.engines["alice"], mesh.link("bob", "alice")
    bob.open(mesh.link("alice", "bob").alone(frames.PING_FRAME, mesh.now), 0, mesh.now)
    bob.owe_ack(NOW, mesh.now)
    (ack,) = bob.write(mesh.now)
    alice.receive([ack], "elsewhere", mesh.now)
    assert mesh.events("alice", AddressChanged) == []
    ping = bob.alone(frames.PING_FRAME, mesh.now)
    challenge = mesh.link("alice", "bob").alone(b"\xc4" + bytes(frames.TOKEN), mesh.now)
    assert len(ack) < len(challenge) <= len(ping)
    alice.receive([ping], "elsewhere", mesh.now)
    assert len(mesh.events("alice", AddressChanged)) == 1


def test_packet_numbers_are_bounded() -> None:
    """What cannot be acknowledged any more is refused, though its checksum is right."""
    mesh = EngineMesh("alice", "bob")
    alice = mesh.engines["alice"]
    header = mesh.link("bob", "alice").prefix + (2**60).to_bytes(8, "big")
    alice.receive([PlainSealer().seal(2**60, header, frames.PING_FRAME)], "bob", mesh.now)
    assert alice.counters.refused == 1
    header = mesh.link("bob", "alice").prefix + (2**60 - 1).to_bytes(8, "big")
    alice.receive([PlainSealer().seal(2**60 - 1, header, frames.PING_FRAME)], "bob", mesh.now)
    assert alice.counters.refused == 1
    ((_, (datagram,)),) = alice.flush(mesh.now)  # the ack of it
    assert datagram[HEADER] == frames.ACK


@pytest.mark.parametrize("preferred", [True, False])
def test_two_sessions_with_one_incarnation_become_one(preferred: bool) -> None:
    """Nothing that was under way is lost or doubled, not even half of a large message."""
    mesh = EngineMesh("alice", "bob")
    large = bytes(range(256)) * 200
    mesh.send("alice", "bob", large)
    mesh.send("bob", "alice", b"small")
    for _ in range(3):
        mesh.turn()
    assert mesh.link("bob", "alice").reassembly.held and mesh.engines["alice"].inbox.unread
    mesh.join("alice", "bob", session=1, preferred=preferred)
    for name, engine in mesh.engines.items():
        assert mesh.events(name, PeerDropped) == []
        (used,) = engine.sessions.by_connection
        assert used.startswith(b"1" if preferred else b"0"), name
    mesh.send("alice", "bob", b"after")
    mesh.send("alice", "bob", large[::-1])
    mesh.settle(500)
    assert mesh.taken("bob") == [large, b"after", large[::-1]]
    assert mesh.taken("alice") == [b"small"]


def test_acknowledgements_stay_with_their_session() -> None:
    """One of the old session, and the first packet of the new one, come together."""
    mesh = EngineMesh("alice", "bob")
    alice, bob = mesh.engines["alice"], mesh.engines["bob"]
    mesh.send("alice", "bob", b"one")
    ((_, datagrams),) = alice.flush(mesh.now)
    bob.receive(datagrams, "alice", mesh.now)
    mesh.send("bob", "alice", b"two")
    ((_, of_the_old),) = bob.flush(mesh.now)
    peers = mesh.session("alice", "bob", 1)
    alice.sessions.expect(peers["alice"])
    bob.prove(peers["bob"])
    mesh.send("bob", "alice", b"three")
    ((_, of_the_new),) = bob.flush(mesh.now)
    alice.receive(of_the_old + of_the_new, "bob", mesh.now)
    mesh.send("alice", "bob", b"four")
    mesh.settle()
    for name in mesh.engines:
        assert mesh.events(name, PeerMisbehaved) == []
    assert mesh.taken("alice") == [b"two", b"three"]
    assert mesh.taken("bob") == [b"one", b"four"]


def test_a_drop_reaches_the_third_through_the_fence() -> None:
    """Bob learns from alice's next message that alice dropped carol, and does the same."""
    mesh = EngineMesh("alice", "bob", "carol")
    alice = mesh.engines["alice"]
    mesh.send("alice", ("bob", "carol"), b"before")
    mesh.settle()
    alice.drop(alice.sessions.peers["carol"], mesh.now)
    assert [event.peer.name for event in mesh.events("alice", PeerDropped)] == ["carol"]
    with pytest.raises(PeerDroppedError, match="carol was dropped"):
        mesh.send("alice", "carol", b"")
    assert mesh.events("bob", PeerDropped) == []
    mesh.send("alice", "bob", b"after")
    mesh.settle()
    assert [event.peer.name for event in mesh.events("bob", PeerDropped)] == ["carol"]
    assert mesh.taken("bob") == [b"before", b"after"]
    mesh.send("carol", "bob", b"unheard")
    mesh.turn()
    assert mesh.taken("bob") == []
    assert {event.peer.name for event in mesh.events("bob", DroppedPeerHeard)} == {"carol"}


def test_nothing_more_goes_to_a_dropped_peer() -> None:
    """Its queue is given up, its memory with it, and no timer of its link runs any more."""
    mesh = EngineMesh("alice", "bob", window_bytes=10**7)
    alice = mesh.engines["alice"]
    mesh.cut |= {("alice", "bob"), ("bob", "alice")}
    for _ in range(20):
        assert mesh.send("alice", "bob", bytes(100_000))
    mesh.turn()
    link = mesh.link("alice", "bob")
    assert link.waiting > 10**6
    alice.drop(alice.sessions.peers["bob"], mesh.now)
    mesh.turn()
    assert link.waiting == 0 and link.recovery.in_flight < 10_000
    before = len(mesh.passed)
    for _ in range(20):
        mesh.now += HEARTBEAT
        mesh.turn()
    assert [hop for hop in mesh.passed[before:] if hop[1] == "bob" and hop[0] == "alice"] == []


def test_messages_of_a_dropped_peer_can_still_be_read() -> None:
    """They were delivered before; no credit is reported for them."""
    mesh = EngineMesh("alice", "bob", window=4)
    for number in range(4):
        mesh.send("bob", "alice", b"%d" % number)
    mesh.settle()
    alice = mesh.engines["alice"]
    link = mesh.link("alice", "bob")
    alice.drop(alice.sessions.peers["bob"], mesh.now)
    assert mesh.taken("alice") == [b"0", b"1", b"2", b"3"]
    mesh.turn()
    assert link.waiting == 0 and not link.has_frames()


def test_timers_lead_from_a_loss_to_the_message() -> None:
    """A lost datagram is sent again when `expire` is called at the time that was asked for."""
    mesh = EngineMesh("alice", "bob")
    alice = mesh.engines["alice"]
    mesh.send("alice", "bob", b"lost at first")
    alice.flush(mesh.now)  # nobody carries this one
    turns = 0
    while not mesh.engines["bob"].inbox.unread:
        due = int(alice.next_timer())
        assert mesh.now < due < mesh.now + 5_000 * MS
        mesh.now = due
        mesh.turn()
        turns += 1
        assert turns < 10
    assert mesh.link("alice", "bob").resent == 1


def test_a_quiet_pair_keeps_few_timers() -> None:
    """Timers that were superseded do not pile up, however long the heartbeat is."""
    mesh = EngineMesh("alice", "bob", silent_after=10**5 * HEARTBEAT)
    alice = mesh.engines["alice"]
    for _ in range(300):
        mesh.send("alice", "bob", b"x")
        mesh.settle()
        mesh.now += 1_000 * MS
        mesh.settle()
        assert mesh.taken("bob") == [b"x"]
    assert alice.sizes()["timers"] < 60
