"""Links that take too long, buffers that overflow, newcomers that lose their contact."""

from __future__ import annotations

from typing import Any

import pytest

from beforehand import protocols
from beforehand.protocols.effects import Admit, Deliver, Safe, Transmit, Wait
from beforehand.protocols.overlay.frames import (
    BETA,
    PI,
    PING,
    RHO,
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Leave,
    Pong,
    Refuse,
    Routed,
    Welcome,
)
from beforehand.protocols.overlay.opening import FIRST_TIMEOUT
from tests.support.overlay import OverlayWorld, maker
from tests.support.overlay_runs import SQUARE, both_ways, play, world_for

OVERLAYS = ["link-memory", "preventive", "prc"]


def core_of(name: str, process: str = "a", links: tuple[str, ...] = ("b", "c")) -> Any:
    """A process with links from and to others."""
    return protocols.create(name, process, links=links)


def ticked(core: Any, times: int) -> list[Any]:
    """The effects of a number of ticks, in order."""
    return [effect for _ in range(times) for effect in core.tick()]


# ---- time-outs ----


def test_prc_a_handshake_that_takes_too_long_starts_anew() -> None:
    """As a new incarnation, without a route, and after twice as many ticks the next time."""
    core = core_of("prc")
    assert core.open("d", via=["b"]) == [Transmit("d", Alpha(1, ("b", "a")))]
    patience = FIRST_TIMEOUT
    for e in (1, 2, 3):
        assert ticked(core, patience) == []
        again = [Transmit("d", Close(e)), Transmit("d", Alpha(e + 1, ()))]
        assert core.tick() == again
        patience *= 2
    core.receive("b", Routed((), Control(BETA, "a", "d", 4)))
    assert core.flooded == 1  # pi, to everybody
    assert ticked(core, patience)[:1] == []
    assert core.tick()[0] == Transmit("d", Close(4))


def test_patience_is_bounded() -> None:
    """However often it fails, it is tried again after about a thousand ticks."""
    for name in ("prc", "preventive"):
        core = core_of(name)
        core.open("d")
        ticked(core, 10_000)
        before = core.links.opened
        ticked(core, 1_025)
        assert core.links.opened == before + 1


def test_preventive_a_ping_that_is_not_answered_is_sent_again() -> None:
    """As a new incarnation, to everybody, with what was delivered since."""
    core = core_of("preventive")
    ping = Control(PING, "a", "d", 1)
    assert core.open("d", via=["b"]) == [Transmit("b", Routed(("d",), ping))]
    core.send(None, b"1")
    assert ticked(core, FIRST_TIMEOUT) == []
    flood = Flood("a", 1, Control(PING, "a", "d", 2))
    assert core.tick() == [Transmit("b", flood), Transmit("c", flood)]
    core.send(None, b"2")
    assert core.receive("d", Pong(1)) == []
    # What came after the second ping; the flood too, for it goes over each link like a message.
    sent = core.receive("d", Pong(2))
    assert sent == [
        Transmit("d", flood),
        Transmit("d", Broadcast("a", 2, b"2")),
        Safe("d"),
    ]
    assert ticked(core, 4 * FIRST_TIMEOUT) == []


def test_a_mediator_that_crashes() -> None:
    """Whatever was with it is lost; the link is made all the same, over the others."""
    for steps in ("1+2/0 1>2 0x", "1+2/0 1>2 2>0 0>1 0x", "1+2/0 1>2 2>0 0>1 1>0 0>2 0x"):
        world = world_for(maker("prc"), SQUARE)
        play(world, steps)
        assert world.count["crashes in a handshake"] == 0  # neither end, but the one in between
        world.settle()
        assert world.safe == [("1", "2")] and world.count["Alpha"] == 2, steps
        assert not world.problem() and world.entries() == 0


# ---- buffers that overflow ----


def test_prc_the_openers_buffer_overflows() -> None:
    """It closes the link that it was opening, at both ends, and starts again at the next tick."""
    core = core_of("prc")
    core.max_buffered = 2
    core.open("d", via=["b"])
    core.receive("b", Routed((), Control(BETA, "a", "d", 1)))
    for _ in range(2):
        core.send(None, b"")
    assert len(core.opening["d"].buffer) == 2
    sent = core.send(None, b"")
    assert Transmit("d", Close(1)) in sent and not core.opening["d"].buffer
    core.send(None, b"")
    assert not core.opening["d"].buffer and core.opening["d"].e == 1
    before = core.fingerprint()
    assert core.receive("b", Routed((), Control(RHO, "a", "d", 1))) == []  # too late
    assert core.fingerprint() == before
    assert core.tick() == [Transmit("d", Alpha(2, ()))]
    assert core.opening["d"].e == 2 and core.opening["d"].timeout == FIRST_TIMEOUT


def test_prc_the_acceptors_buffer_overflows() -> None:
    """Before pi it refuses, and the opener starts again."""
    core = core_of("prc")
    core.max_buffered = 2
    core.receive("d", Alpha(5, ("b", "d")))
    for _ in range(2):
        core.send(None, b"")
    assert len(core.accepting["d"].alpha) == 2
    assert Transmit("d", Refuse(5)) in core.send(None, b"") and not core.accepting
    opener = core_of("prc", "d")
    opener.open("a")
    before = opener.fingerprint()
    assert opener.receive("a", Refuse(7)) == [] and opener.fingerprint() == before
    opener.receive("b", Routed((), Control(BETA, "d", "a", 1)))
    opener.send(None, b"kept")
    assert opener.receive("a", Refuse(1)) == [] and opener.opening["a"].buffer == []
    opener.send(None, b"not kept")
    assert opener.opening["a"].buffer == []
    assert opener.tick() == [Transmit("a", Alpha(2, ()))]


def test_prc_after_rho_the_acceptor_does_not_go_back() -> None:
    """The opener may use the link by then, and have closed another one for it."""
    core = core_of("prc")
    core.max_buffered = 2
    core.receive("d", Alpha(5, ("b", "d")))
    core.receive("b", Routed((), Control(PI, "d", "a", 5)))
    for _ in range(5):
        assert not [effect for effect in core.send(None, b"") if effect == Transmit("d", Refuse(5))]
    assert len(core.accepting["d"].pi) == 5
    core.receive("d", Buffered(5, (Broadcast("a", 1, b""),)))
    assert core.expected.over("d") == {("a", number) for number in range(2, 6)}


def test_preventive_the_buffer_overflows() -> None:
    """No answer to that ping will do; the next tick sends another one."""
    core = core_of("preventive")
    core.max_buffered = 2
    core.open("d", via=["b"])
    for _ in range(3):
        core.send(None, b"")
    assert core.opening["d"].buffer == []
    core.send(None, b"")
    assert core.opening["d"].buffer == []
    assert core.receive("d", Pong(1)) == [] and "d" not in core.links.out
    assert core.tick() and core.opening["d"].e == 2
    assert core.receive("d", Pong(2))[-1] == Safe("d")


@pytest.mark.parametrize("name", ["prc", "preventive"])
def test_links_are_opened_however_small_the_buffers_are(name: str) -> None:
    """As soon as there is a time that is quiet enough; until then nothing goes wrong."""
    aborted = 0
    for seed in range(30):
        world = OverlayWorld(maker(name), "012", both_ways("01", "02"), seed)
        for core in world.cores.values():
            core.max_buffered = 3
        world.open("1", "2", ["0"])
        world.open("2", "1")
        for _ in range(12):
            world.send(world.random.choice("012"))
            for _ in range(4):
                world.step()
            world.tick()
        world.settle()
        assert not world.problem(), f"{world.problem()} in {world.about()}"
        assert sorted(world.safe) == [("1", "2"), ("2", "1")], world.about()
        aborted += max(core.links.opened for core in world.cores.values()) > 1
    assert aborted > 5


# ---- joining ----


@pytest.mark.parametrize("name", OVERLAYS)
def test_joining_step_by_step(name: str) -> None:
    """The contact admits the newcomer at once; what the newcomer sent before goes out after that."""
    contact, newcomer = core_of(name), protocols.create(name, "n")
    assert newcomer.join("a") == [Transmit("a", Join(1))]
    assert newcomer.send(None, b"early") == newcomer.send(None, b"too") == []
    assert [(held.message_id, held.waits) for held in newcomer.held()] == [
        (1, (Wait("welcome", "a", 0),)),
        (2, (Wait("welcome", "a", 0),)),
    ]
    contact.receive("b", Broadcast("b", 1, b""))
    welcome, admit = contact.receive("n", Join(1))
    assert admit == Admit("n") and isinstance(welcome, Transmit) and welcome.to == "n"
    assert contact.links.out["n"] == 1 and contact.links.incoming["n"] == 1
    effects = newcomer.receive("a", welcome.frame)
    assert effects == [
        Safe("a"),
        Transmit("a", Broadcast("n", 1, b"early")),
        Deliver("n", 1, b"early"),
        Transmit("a", Broadcast("n", 2, b"too")),
        Deliver("n", 2, b"too"),
    ]
    assert newcomer.held() == []
    # What the contact had is not for the newcomer; what it gets from now on is.
    sent = contact.send(None, b"")
    assert Transmit("n", Broadcast("a", 1, b"")) in sent
    # And the newcomer may close or be closed like any other.
    assert contact.close("n") == ([] if name == "preventive" else [Transmit("n", Close(1))])


def test_preventive_a_newcomer_inherits_what_is_known() -> None:
    """Messages and floods: a late copy of either is recognised as old."""
    contact = core_of("preventive")
    ping = Control(PING, "b", "z", 1)
    contact.receive("b", Broadcast("b", 1, b""))
    contact.receive("b", Flood("b", 1, ping))
    contact.send(None, b"")
    (welcome, _) = contact.receive("n", Join(1))
    assert welcome == Transmit("n", Welcome(1, (("a", 1), ("b", -1), ("b", 1))))
    newcomer: Any = protocols.create("preventive", "n")
    newcomer.join("a")
    newcomer.receive("a", welcome.frame)
    for frame in (Broadcast("b", 1, b""), Flood("b", 1, ping), Broadcast("a", 1, b"")):
        assert newcomer.receive("a", frame) == []
    assert len(newcomer.receive("a", Broadcast("b", 2, b""))) == 2


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_joining_process_admits_nobody_yet(name: str) -> None:
    """It refuses; the other one asks again at its next tick."""
    core, other = protocols.create(name, "n"), protocols.create(name, "m")
    core.join("a")
    other.join("n")
    assert core.receive("m", Join(1)) == [Transmit("m", Refuse(1))]
    assert other.tick() == []
    assert other.receive("n", Refuse(1)) == []
    assert other.tick() == [Transmit("n", Join(2))] and other.tick() == []
    core.receive("a", Welcome(1, ()))
    assert core.receive("m", Join(2))[-1] == Admit("m")


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_contact_that_is_gone_before_it_answers(name: str) -> None:
    """The newcomer asks another one; until then what it sends waits, and stays in order."""
    core: Any = protocols.create(name, "n")
    core.join("b")
    core.send(None, b"1")
    core.drop("b")
    assert core.send(None, b"2") == []
    assert [held.waits for held in core.held()] == [(), ()]
    assert core.join("c") == [Transmit("c", Join(2))]
    assert core.receive("b", Welcome(9, ())) == []
    core.send(None, b"3")
    effects = core.receive("c", Welcome(1, ()))
    assert [effect.payload for effect in effects if isinstance(effect, Deliver)] == [
        b"1",
        b"2",
        b"3",
    ]


def test_prc_links_to_a_process_that_has_not_joined_yet() -> None:
    """It refuses them; and if it then joins through the opener, the opener admits it instead."""
    contact, newcomer = core_of("prc"), protocols.create("prc", "n")
    contact.open("n", via=["b"])
    newcomer.join("a")
    assert newcomer.receive("a", Alpha(1, ("b", "a"))) == [Transmit("a", Refuse(1))]
    effects = contact.receive("n", Join(1))
    assert effects[-1] == Admit("n") and not contact.opening and contact.links.out["n"] == 2
    assert contact.receive("n", Refuse(1)) == [] and ticked(contact, 50) == []
    fresh = protocols.create("prc", "m")
    assert fresh.receive("a", Alpha(1, ())) == [Transmit("a", Refuse(1))]


@pytest.mark.parametrize("name", OVERLAYS)
def test_leaving_while_joining(name: str) -> None:
    """The contact is notified, and unsent messages are given up."""
    core = protocols.create(name, "n")
    core.join("a")
    core.send(None, b"")
    assert core.leave() == [Transmit("a", Leave())] and core.held() == []
    contact = core_of(name)
    contact.receive("n", Join(1))
    contact.receive("n", Leave())
    assert (
        "n" not in contact.links.out
        and "n" not in contact.links.incoming
        and contact.is_dropped("n")
    )


def test_prc_forgets_a_process_that_leaves() -> None:
    """At both ends, also in the midst of a handshake, and nothing is expected from it."""
    core = core_of("prc")
    core.receive("b", Broadcast("b", 1, b""))
    core.receive("d", Alpha(1, ()))
    core.open("d")
    assert core.entries() == 1 + 2 + 1  # b's message from c; the beta from both, and in B-alpha
    for peer in ("c", "d"):
        core.receive(peer, Leave())
    assert core.entries() == 1 and not core.opening and not core.accepting
    core.receive("b", Leave())
    assert core.entries() == 0
