"""Losses are detected, spurious ones undone, probes back off, and forged acks change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.link.flight import Packet
from beforehand.runtime.link.recovery import MAX_TIMEOUT, Recovery
from beforehand.runtime.link.rtt import MAX_ACK_DELAY, MILLISECOND
from tests.runtime.link.lossy_path import LossyPath

D = 1000
START = 10**12
TRIP = 20 * MILLISECOND


def send(recovery: Recovery, numbers: range, now: int, eliciting: bool = True) -> None:
    """Send packets of one datagram each."""
    for number in numbers:
        recovery.sent(Packet(number, now, D, eliciting, [b"%d" % number]), now)


def warm(packets: int = 10) -> Recovery:
    """A path of 20 ms over which some packets have gone and been acknowledged."""
    recovery = Recovery(D)
    send(recovery, range(packets), START - TRIP)
    assert len(recovery.acknowledged([(0, packets - 1)], 0, START)) == packets
    assert recovery.in_flight == 0 and recovery.rtt.smoothed == TRIP
    return recovery


def numbers_of(packets: list[Packet]) -> list[int]:
    """Their numbers."""
    return [packet.number for packet in packets]


# ---- a whole path ----


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("loss", "duplicate", "reorder"), [(0.1, 0.1, 0.3), (0.01, 0.0, 0.0), (0.4, 0.2, 0.5)]
)
def test_every_packet_is_acknowledged_or_lost(
    seed: int, loss: float, duplicate: float, reorder: float
) -> None:
    """On a bad path all tokens arrive, each packet has one fate, and what the path lost is lost."""
    path = LossyPath(seed, loss, duplicate, reorder)
    path.run(400)
    assert path.delivered == {b"%d" % token for token in range(400)}
    assert sorted(path.acked + path.lost) == list(range(path.sent))
    assert path.dropped <= set(path.lost)
    assert path.lost == sorted(path.lost)
    assert path.dropped or loss < 0.1
    assert path.recovery.packets_lost == len(path.lost)
    assert path.recovery.packets_spurious <= len(set(path.lost) - path.dropped)
    assert path.recovery.timer() == 0 and path.recovery.oldest() is None


def test_a_path_that_only_reorders() -> None:
    """The limits learn the reordering: mistakes end, and the window has grown despite them."""
    path = LossyPath(seed=1, reorder=0.3)
    path.run(3000)
    early = path.recovery.packets_spurious
    assert early > 0 and path.recovery.reordering.packets > 20
    path.windows.clear()
    path.run(3000)
    assert path.recovery.packets_spurious - early < 6  # of 3,000
    assert min(path.windows) > 100 * 1400


def test_random_loss_leaves_a_usable_window() -> None:
    """At 10 % loss the window never falls below its minimum, and goodput follows from it."""
    path = LossyPath(seed=2, loss=0.1)
    begin = path.now
    path.run(1000)
    assert min(path.windows) == 4 * 1400
    # Four datagrams per round trip would take 250 round trips, waiting for lost ones some more.
    assert path.now - begin < 500 * TRIP


# ---- acknowledgements ----


def test_newly_acknowledged_once() -> None:
    """Each packet is reported once, the oldest first; repeated acks report nothing."""
    recovery = warm()
    send(recovery, range(10, 20), START)
    now = START + TRIP
    acked = recovery.acknowledged([(12, 13), (10, 10)], 0, now)
    assert numbers_of(acked) == [10, 12, 13]
    assert all(packet.newer is None for packet in acked)  # whoever keeps one keeps no other alive
    assert recovery.in_flight == 7 * D
    assert recovery.acknowledged([(12, 13), (10, 10)], 0, now) == []
    assert recovery.acknowledged([], 0, now) == []
    assert numbers_of(recovery.acknowledged([(0, 19)], 0, now)) == [11, *range(14, 20)]
    assert recovery.in_flight == 0 and recovery.packets_lost == 0


def test_packets_that_want_no_answer() -> None:
    """Pure acknowledgements have numbers, but are neither in flight, nor lost, nor waited for."""
    recovery = warm()
    send(recovery, range(10, 30), START, eliciting=False)
    assert recovery.in_flight == 0 and recovery.timer() == 0 and recovery.oldest() is None
    send(recovery, range(30, 31), START)
    assert numbers_of(recovery.acknowledged([(15, 30)], 0, START + TRIP)) == [30]
    assert recovery.take_lost() == []


@pytest.mark.parametrize(
    ("ranges", "problem"),
    [
        ([(18, 20)], "acknowledges packet 20, which was never sent"),
        ([(10, 10**15)], "acknowledges packet 1000000000000000, which was never sent"),
        ([(12, 13), (18, 20)], "acknowledges packet 20, which was never sent"),
        ([(12, 13), (13, 14)], "acknowledges packets 13 to 14, which is out of order"),
        ([(15, 17), (14, 15)], "acknowledges packets 14 to 15, which is out of order"),
        ([(15, 14)], "acknowledges packets 15 to 14, which is out of order"),
        ([(-1, 14)], "acknowledges packets -1 to 14, which is out of order"),
    ],
)
def test_forged_acknowledgements(ranges: list[tuple[int, int]], problem: str) -> None:
    """What was never sent cannot be acknowledged, and nothing changes by the attempt."""
    recovery = warm()
    send(recovery, range(10, 20), START)
    before = (recovery.in_flight, recovery.timer(), recovery.rtt.latest, recovery.room(START))
    with pytest.raises(RemoteProtocolError) as caught:
        recovery.acknowledged(ranges, 0, START + 3 * TRIP)
    assert str(caught.value) == problem
    after = (recovery.in_flight, recovery.timer(), recovery.rtt.latest, recovery.room(START))
    assert before == after and recovery.take_lost() == []
    acked = recovery.acknowledged([(10, 19)], 0, START + TRIP)
    assert numbers_of(acked) == list(range(10, 20))


def test_numbers_follow_each_other() -> None:
    """Skipping or repeating a number raises."""
    recovery = warm()
    with pytest.raises(LocalProtocolError, match="packet 11 .* the next number is 10"):
        send(recovery, range(11, 12), START)


def test_only_the_newest_packet_measures_the_round_trip() -> None:
    """An acknowledgement that fills an old gap is not a sample of the round-trip time."""
    recovery = warm()
    send(recovery, range(10, 12), START)
    recovery.acknowledged([(11, 11)], 4 * MILLISECOND, START + TRIP + 4 * MILLISECOND)
    assert recovery.rtt.latest == TRIP + 4 * MILLISECOND and recovery.rtt.smoothed == TRIP
    assert len(recovery.acknowledged([(10, 11)], 0, START + TRIP + 8 * MILLISECOND)) == 1
    assert recovery.rtt.latest == TRIP + 4 * MILLISECOND


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("send"), st.integers(1, 6)),
            st.tuples(st.just("bare"), st.integers(1, 2)),
            st.tuples(st.just("ack"), st.integers(0, 2**12 - 1)),
            st.tuples(st.just("wait"), st.integers(1, 30 * MILLISECOND)),
        ),
        max_size=60,
    )
)
def test_like_a_dictionary(steps: list[tuple[str, int]]) -> None:
    """Whatever is sent and acknowledged: the same results as from scanning all packets in flight."""
    recovery = Recovery(D)
    flight: dict[int, int] = {}  # number -> when
    largest, count, now = -1, 0, START
    for kind, value in steps:
        if kind == "wait":
            now += value
            recovery.expired(now)
        elif kind in ("send", "bare"):
            send(recovery, range(count, count + value), now, kind == "send")
            flight.update({n: now for n in range(count, count + value) if kind == "send"})
            count += value
        else:  # the bits say which of the newest packets came
            came = [n for n in range(max(0, count - 12), count) if value >> (count - 1 - n) & 1]
            acked = recovery.acknowledged([(n, n) for n in reversed(came)], 0, now)
            assert numbers_of(acked) == [n for n in came if n in flight]
            largest = max([largest, *came])
            flight = {n: at for n, at in flight.items() if n not in came}
        patience = recovery.rtt.patience() + recovery.reordering.slack
        lost = [
            n
            for n, at in flight.items()
            if n <= largest - recovery.reordering.packets or (n < largest and at + patience <= now)
        ]
        if kind in ("ack", "wait"):
            assert numbers_of(recovery.take_lost()) == lost
            flight = {n: at for n, at in flight.items() if n not in lost}
        assert recovery.in_flight == D * len(flight)
        oldest = recovery.oldest()
        assert (oldest.number if oldest else None) == min(flight, default=None)
        assert (recovery.timer() > 0) == bool(flight)


# ---- losses ----


def test_three_newer_packets() -> None:
    """A packet is lost when the third newer one is acknowledged."""
    recovery = warm()
    send(recovery, range(10, 20), START)
    recovery.acknowledged([(12, 12)], 0, START + TRIP)
    assert recovery.take_lost() == []
    recovery.acknowledged([(12, 13)], 0, START + TRIP)
    lost = recovery.take_lost()
    assert numbers_of(lost) == [10] and lost[0].content == [b"10"]
    assert recovery.take_lost() == []
    assert recovery.in_flight == 7 * D


def test_time_alone() -> None:
    """A packet is lost 9/8 of a round trip after it was sent, once a newer one is acknowledged."""
    recovery = warm()
    send(recovery, range(10, 12), START)
    recovery.acknowledged([(11, 11)], 0, START + TRIP)
    when = recovery.timer()
    assert when == START + TRIP * 9 // 8
    assert not recovery.expired(when - 1) and recovery.take_lost() == []
    assert not recovery.expired(when)
    assert numbers_of(recovery.take_lost()) == [10]
    assert recovery.timer() == 0 and recovery.timeouts == 0


def test_spurious_losses() -> None:
    """A lost packet that comes after all counts, raises the limit, and gives the window back."""
    recovery = warm()
    window = recovery.congestion.window
    send(recovery, range(10, 40), START)
    recovery.acknowledged([(20, 30)], 0, START + TRIP)
    assert numbers_of(recovery.take_lost()) == list(range(10, 20))
    shrunk = recovery.congestion.window
    assert shrunk < window
    assert recovery.acknowledged([(11, 30)], 0, START + TRIP + 1) == []
    assert recovery.packets_spurious == 9
    assert recovery.congestion.window == shrunk  # packet 10 may be a true loss
    recovery.acknowledged([(10, 30)], 0, START + TRIP + 2)
    assert recovery.packets_spurious == 10
    assert recovery.congestion.window >= window
    assert recovery.reordering.packets > 15 and recovery.reordering.slack == 0
    recovery.acknowledged([(10, 30)], 0, START + TRIP + 3)
    assert recovery.packets_spurious == 10


def test_a_loss_disproved_too_late_changes_nothing() -> None:
    """A loss that is disproved after very long, as by a replay of the peer, changes no threshold."""
    recovery = warm()
    send(recovery, range(10, 40), START)
    recovery.acknowledged([(20, 30)], 0, START + TRIP)
    recovery.acknowledged([(20, 31)], 0, START + 20 * TRIP)
    recovery.acknowledged([(10, 31)], 0, START + 20 * TRIP)
    assert recovery.packets_spurious == 0 and recovery.reordering.packets == 3


def test_late_by_the_clock() -> None:
    """A packet that needs a little more time than allowed makes later ones get it."""
    recovery = warm()
    send(recovery, range(10, 12), START)
    recovery.acknowledged([(11, 11)], 0, START + TRIP)
    recovery.expired(START + TRIP * 9 // 8)
    recovery.acknowledged([(10, 11)], 0, START + TRIP * 5 // 4)
    assert recovery.packets_spurious == 1
    slack = TRIP // 16  # half of what was missing
    assert recovery.reordering.slack == slack and recovery.reordering.packets == 3
    send(recovery, range(12, 14), START + 2 * TRIP)
    recovery.acknowledged([(13, 13)], 0, START + 3 * TRIP)
    assert recovery.timer() == START + 2 * TRIP + TRIP * 9 // 8 + slack
    recovery.expired(recovery.timer())
    recovery.acknowledged([(12, 13)], 0, START + 2 * TRIP + TRIP * 5 // 4)
    assert recovery.packets_spurious == 2
    assert recovery.reordering.slack == slack + slack // 2


@pytest.mark.parametrize(("late_by", "limit"), [(0, 35), (20, 37)])
def test_the_limit_follows_what_is_seen(late_by: int, limit: int) -> None:
    """When the reordering ends the limit comes down, not so fast if some packets are still late."""
    recovery = Recovery(D)
    recovery.reordering.packets = 40
    for first in range(0, 4096, 64):
        now = START + first * MILLISECOND
        send(recovery, range(first, first + 64), now)
        last = first + 63
        if late_by:
            late = last - late_by
            recovery.acknowledged([(late + 1, last), (0, late - 1)], 0, now + TRIP)
        recovery.acknowledged([(0, last)], 0, now + TRIP)
    assert recovery.packets_lost == 0
    assert recovery.reordering.packets == limit


# ---- probes ----


def test_probes_back_off() -> None:
    """Without an answer the timeout doubles up to its limit; an answer resets it."""
    recovery = warm()
    send(recovery, range(10, 11), START)
    now = START
    waits = []
    for number in range(11, 21):
        when = recovery.timer()
        waits.append(when - now)
        assert not recovery.expired(when - 1)
        assert recovery.expired(when)
        oldest = recovery.oldest()
        assert oldest is not None and oldest.number == 10
        now = when
        send(recovery, range(number, number + 1), now)
    assert waits[0] == recovery.rtt.timeout()
    assert waits == [min(waits[0] << doubled, MAX_TIMEOUT) for doubled in range(10)]
    assert waits[-1] == MAX_TIMEOUT
    assert recovery.timeouts == 10 and recovery.packets_lost == 0
    recovery.acknowledged([(20, 20)], 0, now + TRIP)
    send(recovery, range(21, 22), now + TRIP)
    recovery.acknowledged([(20, 21)], 0, now + 2 * TRIP)
    send(recovery, range(22, 23), now + 2 * TRIP)
    assert recovery.timer() == now + 2 * TRIP + recovery.rtt.timeout()


def test_a_probe_that_could_not_be_sent() -> None:
    """The next timeout counts from the last one, so that a busy sender is not asked in a loop."""
    recovery = warm()
    send(recovery, range(10, 11), START)
    late = START + 10**10
    assert recovery.expired(late)
    assert recovery.timer() == late + 2 * recovery.rtt.timeout()


def test_before_the_first_answer() -> None:
    """A new path is given the time of a slow one."""
    recovery = Recovery(D)
    assert recovery.timer() == 0 and not recovery.expired(START)
    send(recovery, range(1), START)
    assert recovery.timer() == START + 300 * MILLISECOND + MAX_ACK_DELAY


# ---- how much may be sent ----


def test_the_window_is_the_room() -> None:
    """Packets in flight take room, acknowledged and lost ones give it back."""
    recovery = warm()
    window = recovery.congestion.window
    now = START + 10**10
    send(recovery, range(10, 10 + window // D), now)
    assert recovery.room(now + 10**9) == 0 and recovery.when_room(now) == 0
    send(recovery, range(10 + window // D, 12 + window // D), now)  # probes need no room
    assert recovery.room(now + 10**9) == -2 * D
    recovery.acknowledged([(12, 20)], 0, now + TRIP)
    assert recovery.in_flight == window + 2 * D - 11 * D
    assert recovery.room(now + 10**9) == recovery.congestion.window - recovery.in_flight


def test_pacing_takes_its_time() -> None:
    """On a long path a window is not sent at once, and the next time to send is known."""
    recovery = Recovery(D)
    count = 0
    while recovery.room(START) > 0:
        send(recovery, range(count, count + 1), START)
        count += 1
    assert 16 <= count <= 17
    when = recovery.when_room(START)
    assert START < when < START + 5 * MILLISECOND
    assert recovery.room(when) >= D


def test_one_reaction_to_many_losses() -> None:
    """All losses of one round trip, found one by one, halve the window once."""
    recovery = warm()
    window = recovery.congestion.window
    send(recovery, range(10, 10 + 30), START)
    for last in range(13, 40, 4):  # three of four are lost
        recovery.acknowledged([(last, last)], 0, START + TRIP + last)
    assert len(recovery.take_lost()) > 15
    # The first acknowledgement comes with growth by its packet, before the first loss.
    assert recovery.congestion.window == (window + D) // 2


def test_no_growth_for_what_was_sent_before_the_loss() -> None:
    """Acknowledgements of packets from before the window shrank do not make it grow again."""
    recovery = warm()
    send(recovery, range(10, 70), START)
    recovery.acknowledged([(13, 13)], 0, START + TRIP)
    shrunk = recovery.congestion.window
    recovery.acknowledged([(11, 69)], 0, START + TRIP + 1)
    assert numbers_of(recovery.take_lost()) == [10]
    assert recovery.congestion.window == shrunk
    send(recovery, range(70, 130), START + 2 * TRIP)
    recovery.acknowledged([(11, 129)], 0, START + 3 * TRIP)
    assert recovery.congestion.window > shrunk


@pytest.mark.parametrize("steady", [False, True])
def test_no_growth_without_use(steady: bool) -> None:
    """A sender that sends little learns nothing about the path, in slow start and later."""
    recovery = warm(32)
    if steady:
        recovery.congestion.lost(1, START, START + 1)
    number, now = 32, START + 2
    windows = []
    for _ in range(100):
        send(recovery, range(number, number + 3), now)
        now += TRIP
        recovery.acknowledged([(number, number + 2)], 0, now)
        number += 3
        windows.append(recovery.congestion.window)
    assert len(set(windows[2:])) == 1  # the peak of `warm` is forgotten within two round trips


def test_growth_by_all_acknowledgements_of_a_full_window() -> None:
    """Two acknowledgements in a row, with nothing sent in between, count both."""
    recovery = warm()
    window = recovery.congestion.window
    last = 9 + window // D
    send(recovery, range(10, last + 1), START)
    recovery.acknowledged([(10, 25)], 0, START + TRIP)
    recovery.acknowledged([(10, last)], 0, START + TRIP)
    assert recovery.congestion.window == 2 * window


def test_persistent_congestion() -> None:
    """When everything sent for three timeouts is lost, the window starts from its minimum."""
    recovery = warm()
    timeout = recovery.rtt.timeout()
    send(recovery, range(10, 11), START + 1)
    send(recovery, range(11, 12), START + 1 + 3 * timeout + 1)
    send(recovery, range(12, 16), START + 1 + 4 * timeout)
    recovery.acknowledged([(15, 15)], 0, START + 1 + 4 * timeout + TRIP)
    assert numbers_of(recovery.take_lost()) == [10, 11, 12]
    assert recovery.congestion.window == 4 * D


@pytest.mark.parametrize("later", [False, True])
def test_no_persistent_congestion_around_an_arrival(later: bool) -> None:
    """One packet that got through in between, and it was ordinary loss."""
    recovery = warm()
    timeout = recovery.rtt.timeout()
    send(recovery, range(10, 11), START + 1)
    send(recovery, range(11, 12), START + timeout)
    if not later:  # known before the next one is sent
        assert len(recovery.acknowledged([(11, 11)], 0, START + timeout + TRIP)) == 1
    send(recovery, range(12, 17), START + 4 * timeout)
    recovery.acknowledged([(16, 16), (11, 11)], 0, START + 4 * timeout + TRIP)
    assert numbers_of(recovery.take_lost()) == [10, 12, 13]
    assert recovery.congestion.window > 4 * D


def test_no_persistent_congestion_before_the_first_sample() -> None:
    """Without a round-trip sample, persistent congestion cannot be recognised."""
    recovery = Recovery(D)
    send(recovery, range(1), START)
    send(recovery, range(1, 5), START + 10**10)
    recovery.acknowledged([(4, 4)], 0, START + 10**10 + TRIP)
    assert numbers_of(recovery.take_lost()) == [0, 1]
    assert recovery.congestion.window > 4 * D


def test_no_persistent_congestion_after_a_spurious_loss() -> None:
    """A spurious loss does not start a period of persistent congestion."""
    recovery = warm()
    timeout = recovery.rtt.timeout()
    send(recovery, range(10, 12), START + 1)
    now = START + 4 * timeout
    send(recovery, range(12, 15), now)
    recovery.acknowledged([(14, 14)], 0, now + TRIP)
    assert numbers_of(recovery.take_lost()) == [10, 11]
    recovery.acknowledged([(14, 14), (10, 10)], 0, now + TRIP + 1)
    assert recovery.packets_spurious == 1
    assert not recovery.expired(now + 3 * TRIP)
    assert numbers_of(recovery.take_lost()) == [12, 13]
    assert recovery.congestion.window > 4 * D
