"""One link: every posted frame arrives, whatever the wire does, and nothing is delivered twice."""

import random
from collections import Counter

import pytest

from beforehand.encoding.reader import Reader
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage
from beforehand.runtime.link import frames
from beforehand.runtime.link.datagrams import DATA, HEADER, packet_number
from beforehand.runtime.link.link import LATER, MAX_ACK_DELAY, NOW, PIGGYBACK
from beforehand.runtime.link.received import Received
from tests.runtime.engine.engines import EngineMesh
from tests.runtime.link.lossy_links import (
    DATAGRAM,
    HEARTBEAT,
    MS,
    START,
    LossyLinks,
    frames_of,
    link_pair,
)


def messages(received: list[Frame]) -> dict[int, bytes]:
    """The payloads in frames, by number, however they were cut into runs."""
    return {
        int(frame.first) + at: payload
        for frame in received
        if isinstance(frame, HybridMessage)
        for at, payload in enumerate(frame.payloads)
    }


def post_all(pair: LossyLinks, end: int, count: int, sizes: tuple[int, ...]) -> dict[int, bytes]:
    """Post messages of several sizes, a run of ten now and then, and acks of the core."""
    rng = random.Random(end)
    posted: dict[int, bytes] = {}
    number = 1
    while number <= count:
        run = tuple(rng.randbytes(rng.choice(sizes)) for _ in range(rng.choice([1, 1, 10])))
        pair.links[end].post(HybridMessage(number, number - 1, False, run))
        pair.links[end].post(HybridAck(number))
        posted.update({number + at: payload for at, payload in enumerate(run)})
        number += len(run)
    return posted


@pytest.mark.parametrize("seed", range(4))
def test_everything_gets_there_over_a_bad_wire(seed: int) -> None:
    """Loss, duplication and reordering in both directions, small frames and fragments."""
    pair = LossyLinks(seed, loss=0.1, duplicate=0.1, reorder=0.3)
    posted = [post_all(pair, end, 300, (10, 200, 4_000)) for end in (0, 1)]
    pair.run()
    for end in (0, 1):
        assert messages(pair.got[1 - end]) == posted[end], f"seed {seed}"
        acks = {int(frame.upto) for frame in pair.got[1 - end] if isinstance(frame, HybridAck)}
        assert acks and max(acks) <= 310
        link = pair.links[end]
        assert (link.waiting, int(link.recovery.in_flight)) == (0, 0)
        assert link.resent > 0 and link.fragmented > 0
    assert pair.lost > 20 and pair.doubled > 20 and pair.refused >= pair.doubled
    assert pair.longest <= DATAGRAM


@pytest.mark.parametrize("seed", range(3))
def test_only_what_was_lost_goes_again(seed: int) -> None:
    """When nothing is reordered, and no acknowledgement is lost, frames sent again are lost ones."""
    pair = LossyLinks(seed, loss=0.1, back=0.0)
    posted = post_all(pair, 0, 2_000, (100, 700))
    pair.run()
    assert messages(pair.got[1]) == posted
    assert pair.links[0].resent == pair.lost_frames[0] > 50, f"seed {seed}"
    assert all(count == 1 for count in Counter(map(repr, pair.got[1])).values()), f"seed {seed}"


def test_nothing_is_lost_and_nothing_goes_again() -> None:
    """On a perfect wire each frame is sent once, and every datagram acknowledged."""
    pair = LossyLinks(0)
    posted = post_all(pair, 0, 2_000, (1, 50))
    pair.run()
    assert messages(pair.got[1]) == posted
    assert pair.links[0].resent == 0 and pair.links[0].recovery.packets_lost == 0


def test_a_blackout_ends_with_a_probe() -> None:
    """Nothing arrives for seconds; when the path is restored, a probe resumes the transfer."""
    pair = LossyLinks(1, loss=1.0)
    posted = post_all(pair, 0, 200, (500,))
    pair.run_for(3_000 * MS)
    assert not pair.got[1] and pair.links[0].recovery.timeouts >= 3
    pair.loss = 0.0
    pair.run_for(2_100 * MS)  # a probe timeout at most, and some round trips
    assert messages(pair.got[1]) == posted


def test_probes_become_rarer() -> None:
    """In a minute without an answer only a few datagrams go out: the timeout doubles, up to 2 s."""
    pair = LossyLinks(1, loss=1.0)
    pair.links[0].post(HybridMessage(1, 0, False, (b"hello",)))
    pair.run_for(60_000 * MS)
    assert 25 <= pair.lost <= 130  # at each end one heartbeat a second, or a probe


def test_control_frames_may_be_large() -> None:
    """A long list of the dropped goes in fragments, like a long message."""
    pair = LossyLinks(2, loss=0.1)
    names = tuple(f"process {number}" for number in range(300))
    pair.links[0].post(Fenced(0, names, 0, HybridAck(1)))
    pair.run()
    assert pair.got[1] == [Fenced(0, names, 0, HybridAck(1))]
    assert pair.longest <= DATAGRAM


def test_a_probe_without_frames_is_a_ping() -> None:
    """What was lost is not to be sent again; then a ping asks whether the peer is there."""
    ours, _ = link_pair()
    ours.alone(frames.PING_FRAME, START)
    due = int(ours.deadline(START, 10 * HEARTBEAT))
    ours.expired(due, 10 * HEARTBEAT)
    (probe,) = ours.write(due)
    assert frames_of(probe[HEADER:-4]) == [bytes([frames.PING])]


def test_a_run_is_cut_to_fill_datagrams() -> None:
    """A thousand small messages take as few datagrams as their bytes need."""
    ours, theirs = link_pair()
    payloads = tuple(bytes([at % 256]) * 32 for at in range(1_000))
    ours.post(HybridMessage(5, 4, True, payloads))
    received: list[Frame] = []
    count = 0
    for datagram in ours.write(START):
        body = theirs.open(datagram, packet_number(datagram), START)
        assert body is not None
        received += [frame for frame in frames_of(body) if isinstance(frame, Frame)]
        count += 1
    runs = [frame for frame in received if isinstance(frame, HybridMessage)]
    sent = [payload for run in runs for payload in run.payloads]
    assert tuple(sent) == payloads[: len(sent)]
    assert len(sent) / count > 0.85 * (DATAGRAM - HEADER) / 33
    assert [int(run.prev) for run in runs[1:]] == [int(run.first) - 1 for run in runs[1:]]
    assert runs[0].prev == 4 and all(run.flagged for run in runs)


def test_datagrams_of_nearly_one_length_are_padded_to_it() -> None:
    """The kernel takes many datagrams in one call if they have one length; others stay short."""
    ours, theirs = link_pair()
    for number, less in enumerate((0, 30, 5, 71, 0, 12), start=1):
        size = int(ours.room) - PIGGYBACK - 10 - less
        ours.post(HybridMessage(number, number - 1, False, (bytes(size),)))
    ours.post(HybridMessage(7, 6, False, (bytes(300),)))
    datagrams = ours.write(START)
    assert len(datagrams) == 7
    assert len({len(datagram) for datagram in datagrams[:-1]}) == 1
    assert len(datagrams[-1]) < 350
    padded = 0
    for datagram in datagrams:
        body = theirs.open(datagram, packet_number(datagram), START)
        assert body is not None
        padded += body.endswith(b"\0\0") and len(frames_of(body)) == 1
    assert padded == 7  # payloads of zeros, and one frame in each


def test_an_acknowledgement_rides_along_or_waits() -> None:
    """Acks that may wait are piggybacked until their deadline; urgent ones are sent in this turn."""
    ours, theirs = link_pair()
    for urgency in (LATER, NOW):
        ours.ping()
        (ping,) = ours.write(START)
        assert theirs.open(ping, packet_number(ping), START) is not None
        theirs.owe_ack(urgency, START)
        assert bool(theirs.write(START)) is (urgency == NOW)
        if urgency == LATER:
            due = int(theirs.deadline(START, HEARTBEAT))
            assert due == START + MAX_ACK_DELAY
            theirs.expired(due - 1, HEARTBEAT)
            assert not theirs.write(due - 1)
            theirs.expired(due, HEARTBEAT)
            assert len(theirs.write(due)) == 1
    theirs.owe_ack(LATER, START)
    theirs.post(HybridAck(1))
    (mesh,) = theirs.write(START)
    assert mesh[HEADER] == frames.ACK and not theirs.ack_owed


def test_an_acknowledgement_is_put_off_once() -> None:
    """More packets whose acks may wait don't move the deadline, and don't delay an urgent ack."""
    _, theirs = link_pair()
    for after in (0, 2 * MS, 4 * MS):
        theirs.owe_ack(LATER, START + after)
    assert theirs.deadline(START + 4 * MS, HEARTBEAT) == START + MAX_ACK_DELAY
    theirs.owe_ack(NOW, START + 4 * MS)
    theirs.owe_ack(LATER, START + 4 * MS)
    assert theirs.ack_owed == NOW


def test_the_delay_of_an_acknowledgement_counts_from_the_newest_packet() -> None:
    """Older ones that come after it do not change how long it has been waiting."""
    ours, theirs = link_pair()
    older, newer = (ours.alone(frames.PING_FRAME, START) for _ in range(2))
    theirs.open(newer, 1, START + 10 * MS)
    theirs.open(older, 0, START + 13 * MS)
    theirs.owe_ack(NOW, START + 13 * MS)
    (ack,) = theirs.write(START + 14 * MS)
    ranges, delay = frames.read_ack(Reader(ack, HEADER + 1, "peer"))
    assert (ranges, int(delay)) == ([(0, 1)], 4 * MS)


def test_an_acknowledgement_of_many_holes_leaves_room() -> None:
    """However many packets are missing, a datagram keeps its length, and the rest still goes."""
    ours, theirs = link_pair()
    arriving = []
    for number in range(200):
        ours.post(HybridMessage(number + 1, number, False, (b"x",)))
        arriving += ours.write(START + number)[number % 2 :]
    for datagram in arriving:
        assert theirs.open(datagram, packet_number(datagram), START) is not None
    theirs.owe_ack(NOW, START)
    theirs.post(HybridMessage(1, 0, False, (bytes(DATAGRAM - 120),)))
    datagrams = theirs.write(START)
    assert max(map(len, datagrams)) <= DATAGRAM
    before = int(ours.recovery.in_flight)
    for datagram in datagrams:
        body = ours.open(datagram, packet_number(datagram), START)
        assert body is not None
        frames_of(body, ours, START + 10 * MS)
    assert ours.recovery.in_flight < before
    assert ours.recovery.packets_lost > 20  # the holes are known to be lost


@pytest.mark.parametrize("secrets", [None, (b"a" * 32, b"b" * 32)], ids=["plain", "encrypted"])
def test_replays_and_forgeries_are_not_opened(secrets: tuple[bytes, bytes] | None) -> None:
    """They change neither the received numbers nor the time of the last sign of life."""
    ours, theirs = link_pair(secrets=secrets)
    ours.post(HybridMessage(1, 0, False, (b"once",)))
    (datagram,) = ours.write(START)
    assert datagram[0] == DATA
    number = packet_number(datagram)
    later = START + 1_000 * MS
    for at in range(1, len(datagram)):
        forged = bytearray(datagram)
        forged[at] ^= 1 << (at % 8)
        if at < 9:
            continue  # the connection: such a datagram finds no link
        assert theirs.open(bytes(forged), packet_number(bytes(forged)), later) is None
    for length in range(HEADER, len(datagram)):
        assert theirs.open(datagram[:length], number, later) is None
    assert theirs.heard_at == START and theirs.received.ranges(9) == Received().ranges(9)
    assert theirs.open(datagram, number, later) is not None
    assert theirs.open(datagram, number, later + 1) is None
    assert theirs.heard_at == later


def test_a_quiet_link_pings() -> None:
    """A heartbeat is sent after a heartbeat interval without traffic, and only then."""
    ours, _ = link_pair()
    ours.expired(START + HEARTBEAT - 1, HEARTBEAT)
    assert not ours.has_frames()
    ours.expired(START + HEARTBEAT, HEARTBEAT)
    (ping,) = ours.write(START + HEARTBEAT)
    assert frames_of(ping[HEADER:-4]) == [bytes([frames.PING])]
    assert ours.deadline(START + HEARTBEAT, HEARTBEAT) > START + HEARTBEAT


def test_one_turn_is_not_for_one_peer_alone() -> None:
    """A link writes at most the given number of datagrams per turn."""
    ours, _ = link_pair()
    ours.recovery.congestion.window = 10**9
    ours.recovery.rtt.sample(10_000, 0)
    for number in range(1, 400):
        ours.post(HybridMessage(number, number - 1, False, (bytes(1_200),)))
    assert len(ours.write(START, 7)) <= 7
    assert ours.has_frames()


def test_frames_taken_over_are_counted() -> None:
    """A link that has a frame of its own takes over those of another, and lets all of them go."""
    old = EngineMesh("alice", "bob").link("alice", "bob")
    old.post_bytes(b"in flight")
    old.write(START)
    old.post_bytes(b"in the queue")
    old.post_urgent(b"urgent")
    link = EngineMesh("alice", "bob").link("alice", "bob")
    link.ping()
    own = int(link.waiting)
    link.inherit(old)
    assert link.waiting == own + len(b"in flight") + len(b"in the queue") + len(b"urgent")
    link.write(START)
    assert link.waiting == 0 and not link.has_frames()
    assert not link.urgent and not link.retransmits and not link.queue
