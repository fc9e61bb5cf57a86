"""`ks`: what a message carries, entry by entry, and against the definition by brute force."""

from __future__ import annotations

import random

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.ks import Ks, KsMessage
from beforehand.protocols.clocks.ks_log import DependencyLog, identifiers, log_of
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from tests.support.causal import Omniscient

ABCD = ["a", "b", "c", "d"]


def to(*names: str) -> frozenset[str]:
    """Destinations."""
    return frozenset(names)


def frame_to(receiver: str, effects: list[Effect]) -> KsMessage:
    """The one frame to a receiver."""
    [frame] = [e.frame for e in effects if isinstance(e, Transmit) and e.to == receiver]
    assert isinstance(frame, KsMessage)
    return frame


def test_the_first_message_carries_nothing() -> None:
    """Nothing precedes it; the second names the first, for its own receiver and for others."""
    core = Ks("a", ABCD)
    assert frame_to("b", core.send("b", b"")) == KsMessage(1, to("b"), (), b"")
    assert frame_to("c", core.send("c", b"")).log == (("a", 1, to("b")),)
    assert frame_to("b", core.send("b", b"")).log == (("a", 1, to("b")), ("a", 2, to("c")))


def test_each_copy_of_a_multicast_names_only_its_own_receiver() -> None:
    """Only the copy for b says that b must wait; c and d learn that the multicast says so."""
    core = Ks("a", ABCD)
    core.send(["b", "c", "d"], b"")
    effects = core.send(["b", "c"], b"")
    assert frame_to("b", effects).log == (("a", 1, to("b", "d")),)
    assert frame_to("c", effects).log == (("a", 1, to("c", "d")),)
    third = core.send("d", b"")
    assert frame_to("d", third).log == (("a", 1, to("d")), ("a", 2, to("b", "c")))


def test_a_known_delivery_is_not_named_any_more() -> None:
    """b's answer proves that the question has been delivered at b."""
    a, b = Ks("a", ABCD), Ks("b", ABCD)
    b.receive("a", frame_to("b", a.send("b", b"")))
    a.receive("b", frame_to("a", b.send("a", b"")))
    log = frame_to("c", a.send("c", b"")).log
    assert log == (("a", 1, to()), ("b", 1, to())), "the newest entries stay, without destinations"


def test_an_answer_waits_for_the_question() -> None:
    """c holds b's answer until its own copy of a's message has come, and `held` reports it."""
    a, b, c = (Ks(name, ABCD) for name in "abc")
    question = a.send(["b", "c"], b"question")
    b.receive("a", frame_to("b", question))
    assert c.receive("b", frame_to("c", b.send("c", b"answer")), now=5) == []
    assert c.held() == [Held("b", 1, ("c",), 5, (Wait("message", "a", 1),))]
    assert c.receive("a", frame_to("c", question)) == [
        Deliver("a", 1, b"question"),
        Deliver("b", 1, b"answer"),
    ]


def test_merge_decides_for_both_logs_before_it_deletes() -> None:
    """An entry that one side lacks although it has a newer one is obsolete, on either side."""
    mine = log_of((("a", 1, to("x")), ("a", 3, to("y", "z")), ("b", 2, to("x"))))
    theirs = log_of((("a", 2, to("x")), ("a", 3, to("x", "z")), ("c", 1, to("y"))))
    mine.merge(theirs)
    assert mine.listed() == (("a", 3, to("z")), ("b", 2, to("x")), ("c", 1, to("y")))
    older, newer = log_of((("a", 1, to("x")),)), log_of((("a", 2, to("y")),))
    older.merge(newer)
    assert older.listed() == (("a", 2, to("y")),)


def test_purge_keeps_the_newest_entry_of_each_sender() -> None:
    """Without destinations it still says that all older ones are settled."""
    log = log_of((("a", 1, to("x")), ("a", 2, to("x")), ("a", 3, to("x", "y"))))
    assert log.without(to("x")).listed() == (("a", 3, to("y")),)
    assert log.without(to("x", "y")).listed() == (("a", 3, to()),)
    log = DependencyLog()
    log.add("a", 1, to())
    log.add("a", 2, to())
    assert log.listed() == (("a", 2, to()),)


def run_against_the_definition(seed: int) -> tuple[int, int, int, int]:
    """One random run; every copy is compared when it is sent, every arrival when it arrives.

    Returns (pairs carried, pairs left out though they precede, messages held, multicasts).
    """
    rng = random.Random(seed)
    names = ABCD[: rng.randint(2, 4)] + (["e", "f"] if rng.random() < 0.2 else [])
    cores: dict[str, Core] = {name: Ks(name, names) for name in names}
    truth = Omniscient(names)
    flight: list[tuple[str, str, KsMessage]] = []
    carried = left_out = held = multicasts = 0
    sends = rng.randint(5, 25)
    while sends or flight:
        if sends and (not flight or rng.random() < 0.4):
            sends -= 1
            sender = rng.choice(names)
            others = [name for name in names if name != sender]
            receivers = rng.sample(others, rng.randint(1, len(others)))
            multicasts += len(receivers) > 1
            effects = cores[sender].send(receivers, b"")
            message = (sender, int(cores[sender].sent))
            truth.send(message, receivers)
            for receiver in receivers:
                frame = frame_to(receiver, effects)
                pairs = {
                    ((source, at), to)
                    for source, at, destinations in frame.log
                    for to in destinations
                }
                assert pairs == truth.needed(message, receiver), f"seed {seed}: {message}"
                past = truth.past[message].messages
                newest = {
                    source: max(at for other, at in past if other == source) for source, _ in past
                }
                assert {source: at for source, at, _ in frame.log} == newest, (
                    f"seed {seed}: {message}"
                )
                flight.append((sender, receiver, frame))
                carried += len(pairs)
                left_out += sum(len(truth.receivers[x]) for x in past) - len(pairs)
        else:
            sender, receiver, frame = flight.pop(rng.randrange(len(flight)))
            effects = cores[receiver].receive(sender, frame)
            delivered = {(e.sender, int(e.message_id)) for e in effects if isinstance(e, Deliver)}
            expected = set(truth.arrive(receiver, (sender, int(frame.number))))
            assert delivered == expected, f"seed {seed}: {sender}#{frame.number} at {receiver}"
            for held_one in cores[receiver].held():
                held += 1
                missing = {(wait.peer, wait.message_id) for wait in held_one.waits}
                at = (held_one.sender, held_one.message_id)
                assert missing and missing <= truth.missing(receiver, at), f"seed {seed}"
    return carried, left_out, held, multicasts


def test_every_copy_carries_exactly_what_the_definition_says() -> None:
    """On random schedules of unicast and multicast: exactly these pairs."""
    totals = [0, 0, 0, 0]
    for seed in range(600):
        totals = [
            total + one for total, one in zip(totals, run_against_the_definition(seed), strict=True)
        ]
    assert min(totals) > 500, f"something never happened: {totals}"


@pytest.mark.slow
def test_every_copy_carries_exactly_what_the_definition_says_at_length() -> None:
    """The same on many more schedules."""
    for seed in range(10_000, 20_000):
        run_against_the_definition(seed)


def test_identifiers_are_counted_as_in_table_1() -> None:
    """An entry is a sender, a clock and its destinations."""
    assert identifiers((("a", 1, to("b", "c")), ("b", 7, to()))) == 6
    core = Ks("a", ABCD)
    empty = core.integers()
    core.send(["b", "c"], b"")
    log_entry, counts = 4, 2 * 2
    assert core.integers() == empty + log_entry + counts


def test_the_order_of_arrivals_leaves_no_trace() -> None:
    """Two ways to the same situation: the same fingerprint, and the same effects afterwards."""
    a = Ks("a", ABCD)
    first, second, third = (frame_to("b", a.send("b", b"")) for _ in range(3))
    one, other = Ks("b", ABCD), Ks("b", ABCD)
    one.receive("a", second)
    one.receive("a", third)
    other.receive("a", third)
    other.receive("a", second)
    assert one.fingerprint() == other.fingerprint()
    assert one.receive("a", first) == other.receive("a", first)


def test_strangers_are_refused() -> None:
    """Membership is fixed: a message to anybody else is an error and changes nothing."""
    core = Ks("a", ABCD)
    before = core.fingerprint()
    with pytest.raises(LocalProtocolError, match="z is not among the processes"):
        core.send("z", b"")
    assert core.fingerprint() == before
