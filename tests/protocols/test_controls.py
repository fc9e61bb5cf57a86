"""The controls: `fifo` keeps the order of each pair on any network, `raw` keeps nothing."""

from __future__ import annotations

from beforehand.protocols.controls import Fifo, FifoAck, FifoMessage, Raw, RawMessage
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.support.windows import MAX_EARLY, MAX_RESENT
from tests.support.network import World


def test_raw_delivers_exactly_what_arrives() -> None:
    """At once, in the order of arrival, and twice if it comes twice."""
    core = Raw("b")
    assert core.receive("a", RawMessage(2, b"2")) == [Deliver("a", 2, b"2")]
    assert core.receive("a", RawMessage(1, b"1")) == [Deliver("a", 1, b"1")]
    assert core.receive("a", RawMessage(1, b"1")) == [Deliver("a", 1, b"1")]
    assert core.tick() == [] and core.held() == []


def test_raw_sends_a_multicast_as_one_message() -> None:
    """All receivers get the same number."""
    assert Raw("a").send(["b", "c"], b"1") == [
        Transmit("b", RawMessage(1, b"1")),
        Transmit("c", RawMessage(1, b"1")),
    ]


def test_fifo_links_each_message_to_the_one_before_it() -> None:
    """Numbers count all causal-sends, so each copy names the predecessor for its receiver."""
    core = Fifo("a")
    core.send("b", b"1")
    core.send("c", b"2")
    assert core.send(["b", "c"], b"3") == [
        Transmit("b", FifoMessage(3, 1, b"3")),
        Transmit("c", FifoMessage(3, 2, b"3")),
    ]


def test_fifo_keeps_what_comes_early() -> None:
    """It waits for its predecessor, and `held` reports it."""
    core = Fifo("b")
    assert core.receive("a", FifoMessage(5, 3, b"5"), now=7) == []
    assert core.held() == [Held("a", 5, ("b",), 7, (Wait("message", "a", 3),))]
    core.receive("a", FifoMessage(3, 1, b"3"))
    assert core.receive("a", FifoMessage(1, 0, b"1")) == [
        Deliver("a", 1, b"1"),
        Deliver("a", 3, b"3"),
        Deliver("a", 5, b"5"),
        Transmit("a", FifoAck(5)),
    ]


def test_fifo_resends_until_the_cumulative_ack() -> None:
    """One ack covers all before it; a duplicate is acknowledged again."""
    core = Fifo("a")
    for number in range(3):
        core.send("b", b"%d" % number)
    assert len(core.tick()) == 3
    core.receive("b", FifoAck(2))
    assert core.tick() == [Transmit("b", FifoMessage(3, 2, b"2"))]
    core.receive("b", FifoAck(1))
    core.receive("b", FifoAck(3))
    assert core.tick() == []
    peer = Fifo("b")
    peer.receive("a", FifoMessage(1, 0, b""))
    assert peer.receive("a", FifoMessage(1, 0, b"")) == [Transmit("a", FifoAck(1))]


def test_fifo_bounds_what_it_keeps_and_resends() -> None:
    """A flood of early messages is cut off as if it were lost, and none is lost in the end."""
    sender, receiver = Fifo("a"), Fifo("b")
    frames: list[Effect] = sender.send_many("b", [b""] * (MAX_EARLY + 100))
    assert len(sender.tick()) == MAX_RESENT
    for effect in frames[1:]:
        assert isinstance(effect, Transmit)
        receiver.receive("a", effect.frame)
    assert len(receiver.held()) == MAX_EARLY
    first = frames[0]
    assert isinstance(first, Transmit)
    delivered = receiver.receive("a", first.frame)
    assert len(delivered) == MAX_EARLY + 2 and delivered[-1] == Transmit("a", FifoAck(4097))
    sender.receive("b", FifoAck(4097))
    while resent := sender.tick():
        for effect in resent:
            assert isinstance(effect, Transmit)
            for answer in receiver.receive("a", effect.frame):
                if isinstance(answer, Transmit):
                    sender.receive("b", answer.frame)
    assert receiver.fingerprint()[-1] == ((), (("a", (MAX_EARLY + 100, ())),))


def test_fifo_keeps_the_order_of_each_pair_on_a_bad_network() -> None:
    """Everything arrives once and in the sender's order, yet causal order is broken."""
    broken = lost = duplicated = reordered = held = 0
    for seed in range(100):
        names = "abcd"[: 2 + seed % 3]
        world = World({name: Fifo(name) for name in names}, seed, loss=0.2, duplicate=0.2)
        world.run_random(25, multicast=True)
        assert not world.undelivered(), world.about()
        assert not any(core.held() for core in world.cores.values()), world.about()
        for process, messages in world.delivered.items():
            for sender in names:
                numbers = [message.number for message in messages if message.sender == sender]
                assert numbers == sorted(set(numbers)), f"at {process}: {world.about()}"
        broken += bool(world.violations)
        lost += world.lost
        duplicated += world.duplicated
        reordered += world.reordered
        held += world.held_seen
    assert min(broken, lost, duplicated, reordered, held) > 10


def test_raw_loses_and_doubles_what_the_network_does() -> None:
    """On a bad network it promises nothing, and the oracle sees all of it."""
    kinds: set[str] = set()
    for seed in range(20):
        world = World({name: Raw(name) for name in "abc"}, seed, loss=0.3, duplicate=0.3)
        world.run_random(40, hurry=0.5)
        assert world.undelivered(), world.about()
        kinds |= {str(violation).split(":")[0] for violation in world.violations}
    assert {"causal", "duplicate", "fifo"} <= kinds
