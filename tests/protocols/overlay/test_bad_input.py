"""What callers and peers may not do to the overlay cores: typed errors, and nothing changes.

A peer with an outdated view may be late or early; what it sends then is dropped without effect and
counted. What no correct peer could send at all is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from beforehand import protocols
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.effects import Transmit
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Frame
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
    Linked,
    Pong,
    Refuse,
    Routed,
    Welcome,
)

OVERLAYS = ["link-memory", "preventive", "prc"]
CHANGING = ["preventive", "prc"]


def core_of(name: str, **options: Any) -> Any:
    """Process a with links from and to b and c."""
    return protocols.create(name, "a", links=["b", "c"], **options)


def misused(core: Any, misuse: Callable[[], object], match: str) -> None:
    """The call raises, and nothing has changed."""
    before = core.fingerprint()
    with pytest.raises(LocalProtocolError, match=match):
        misuse()
    assert core.fingerprint() == before


def refused(core: Any, sender: str, frame: Frame) -> str:
    """The problem with which a frame is refused, after making sure that it changed nothing."""
    before, ignored = core.fingerprint(), core.ignored
    with pytest.raises(RemoteProtocolError) as caught:
        core.receive(sender, frame)
    assert caught.value.peer == sender
    assert core.fingerprint() == before and core.ignored == ignored
    return caught.value.problem


def dropped(core: Any, sender: str, frame: Frame) -> None:
    """The frame has no effect but to be counted."""
    before, ignored = core.fingerprint(), core.ignored
    assert core.receive(sender, frame) == []
    assert core.fingerprint() == before, frame
    assert core.ignored == ignored + 1, frame


# ---- callers ----


@pytest.mark.parametrize("name", OVERLAYS)
def test_impossible_links(name: str) -> None:
    """To oneself, without a name, to a stranger; and no link at all."""
    core = core_of(name, processes=["a", "b", "c", "d"])
    for act in (core.open, core.close, core.join):
        misused(core, partial(act, "a"), "a link to oneself")
        misused(core, partial(act, ""), "process id")
        misused(core, partial(act, "z"), "z isn't among the processes")
    assert core.open("d")
    for links, problem in [
        (["a"], "a link to oneself"),
        ([("a", "a")], "a link to oneself"),
        ([5], "5 isn't a link"),
        ([("a", "b", "c")], "isn't a link"),
        ([("a", "")], "process id"),
    ]:
        with pytest.raises(LocalProtocolError, match=problem):
            protocols.create(name, "a", links=links)  # type: ignore[arg-type]
    with pytest.raises(LocalProtocolError, match="z isn't among the processes"):
        protocols.create(name, "a", processes=["a", "b"], links=["z"])


@pytest.mark.parametrize("name", OVERLAYS)
def test_links_between_others_are_ignored(name: str) -> None:
    """All processes may be given the same list of links."""
    core = protocols.create(name, "a", links=[("a", "b"), ("b", "c"), ("c", "a")])
    assert isinstance(core, type(core_of(name)))
    assert (sorted(core.links.out), sorted(core.links.incoming)) == (["b"], ["c"])


@pytest.mark.parametrize("name", OVERLAYS)
def test_closing_a_link_that_is_not_open(name: str) -> None:
    """There must be a link, in use or being made."""
    core = core_of(name)
    misused(core, lambda: core.close("d"), "no link to d to close; open it first")
    core.open("d")
    core.close("d")
    misused(core, lambda: core.close("d"), "no link to d to close")
    core.close("b")
    misused(core, lambda: core.close("b"), "no link to b to close")


@pytest.mark.parametrize("name", OVERLAYS)
def test_opening_an_open_link_does_nothing(name: str) -> None:
    """Neither if it is in use nor if it is being made."""
    core = core_of(name)
    before = core.fingerprint()
    assert core.open("b") == [] and core.fingerprint() == before
    core.open("d")
    before = core.fingerprint()
    assert core.open("d") == core.open("d", via=["b"]) == [] and core.fingerprint() == before


@pytest.mark.parametrize("name", OVERLAYS)
def test_impossible_routes(name: str) -> None:
    """Over a process that is not a neighbour, in cycles, through oneself or through the end."""
    core = core_of(name)
    misused(core, lambda: core.open("d", via=["e"]), "no link to e is in use, so it cannot mediate")
    misused(core, lambda: core.open("d", via=[]), "no link to d is in use")
    misused(core, lambda: core.open("d", via=["b", "c", "b"]), "isn't a route")
    misused(core, lambda: core.open("d", via=["b", "d"]), "isn't a route")
    misused(core, lambda: core.open("d", via=["a"]), "isn't a route")
    misused(core, lambda: core.open("d", via=["b", ""]), "process id")
    misused(core, lambda: core.open("d", via=["b"], back=[5]), "process id")
    misused(core, lambda: core.open("d", via=["b"], back=["d"]), "d is on the way back from itself")
    misused(core, lambda: core.open("d", via=["b"], back=["c", "c"]), "isn't a route")
    assert core.open("d", via="b", back=["c", "b"])


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_member_cannot_join(name: str) -> None:
    """With links, after losing them, after broadcasting alone, or after admitting a newcomer."""
    linked = core_of(name)
    misused(linked, lambda: linked.join("d"), "already takes part; open a link to d")
    linked.drop("b")
    linked.drop("c")
    assert not linked.links.out and not linked.links.incoming
    misused(linked, lambda: linked.join("d"), "join under a new name")
    alone = protocols.create(name, "n")
    alone.send(None, b"")
    misused(alone, lambda: alone.join("d"), "already takes part")
    first = protocols.create(name, "n")
    first.receive("m", Join(1))
    misused(first, lambda: first.join("d"), "already takes part")
    opener = protocols.create(name, "n")
    opener.open("m")
    misused(opener, lambda: opener.join("d"), "already takes part")


@pytest.mark.parametrize("name", OVERLAYS)
def test_joining_twice(name: str) -> None:
    """Through one contact only; others are linked to once that one has answered."""
    core = protocols.create(name, "n")
    core.join("b")
    misused(
        core, lambda: core.join("c"), "already joining through b, and .* would deliver .* twice"
    )
    misused(core, lambda: core.join("b"), "already joining through b")
    misused(core, lambda: core.open("c"), "isn't admitted yet; open further links after that")
    core.receive("b", Welcome(1, ()))
    assert core.open("c")


@pytest.mark.parametrize("name", OVERLAYS)
def test_after_leaving_there_is_nothing_to_do(name: str) -> None:
    """No sends and no links; incoming frames are dropped, and a second leave sends nothing."""
    core = core_of(name)
    left = core.leave()
    assert left == [Transmit("b", Leave()), Transmit("c", Leave())]
    for misuse in (
        lambda: core.send(None, b""),
        lambda: core.send_many(None, [b"", b""]),
        lambda: core.open("d"),
        lambda: core.close("b"),
        lambda: core.join("d"),
    ):
        misused(core, misuse, "has left; it can only come back as a new process, under a new name")
    for frame in (Broadcast("b", 1, b""), Close(0), Join(1), Leave(), Refuse(1), Welcome(1, ())):
        dropped(core, "b", frame)
    assert core.leave() == [] and core.tick() == [] and core.entries() == 0


@pytest.mark.parametrize("name", OVERLAYS)
def test_dropped_peers(name: str) -> None:
    """A drop is announced once, to the peer only; then its frames are ignored and links refused."""
    core = core_of(name)
    assert core.drop("b") == [Transmit("b", Leave())]
    assert core.drop("b") == [] and core.dropped() == {"b"} and core.is_dropped("b")
    for act in (core.open, core.close, core.join):
        with pytest.raises(
            PeerDroppedError, match="b was dropped; it can only come back under a new name"
        ):
            act("b")
    for frame in (Broadcast("b", 1, b""), Close(0), Join(1), Leave(), Refuse(1), Welcome(1, ())):
        dropped(core, "b", frame)
    sent = core.send(None, b"")
    assert [effect.to for effect in sent if isinstance(effect, Transmit)] == ["c"]
    assert core.drop("stranger") == [Transmit("stranger", Leave())]


# ---- peers with an outdated view ----


@pytest.mark.parametrize("name", OVERLAYS)
def test_unsolicited_frames_are_dropped(name: str) -> None:
    """Closes and refusals of unknown links, unsolicited welcomes, second joins."""
    core = core_of(name)
    for frame in (Close(5), Refuse(5), Welcome(1, ()), Join(5)):
        dropped(core, "b", frame)
    dropped(core, "d", Close(0))
    joining = protocols.create(name, "n")
    joining.join("b")
    dropped(joining, "c", Welcome(1, ()))
    dropped(joining, "b", Refuse(2))
    dropped(joining, "c", Refuse(1))
    joining.receive("b", Refuse(1))
    dropped(joining, "b", Welcome(1, ()))  # it has to ask again before
    dropped(joining, "b", Refuse(1))


def test_data_over_links_that_are_not_in_use_are_dropped() -> None:
    """By the cores that rely on links; `preventive` relies on numbers and accepts them from any peer."""
    for name in ("link-memory", "prc"):
        core = core_of(name)
        dropped(core, "d", Broadcast("d", 1, b""))
        core.receive("b", Close(0))
        dropped(core, "b", Broadcast("b", 1, b""))
    assert core_of("preventive").receive("d", Broadcast("d", 1, b""))
    newcomer = protocols.create("preventive", "n")
    newcomer.join("b")
    dropped(newcomer, "c", Broadcast("c", 1, b""))


def test_prc_control_out_of_turn_is_dropped() -> None:
    """Of another incarnation, in another phase, of another link, or over a link not in use."""
    core = core_of("prc")
    core.open("d", via=["b"])
    beta, rho = Control(BETA, "a", "d", 1), Control(RHO, "a", "d", 1)
    for control in (Control(BETA, "a", "d", 2), Control(BETA, "a", "e", 1), rho):
        dropped(core, "b", Routed((), control))
    dropped(core, "e", Routed((), beta))
    dropped(core, "e", Routed(("b", "z"), Control(PI, "y", "z", 1)))
    assert core.receive("b", Routed((), beta)) == [
        Transmit("b", Routed(("d",), Control(PI, "a", "d", 1)))
    ]
    for control in (beta, Control(RHO, "a", "d", 2), Control(RHO, "a", "e", 1)):
        dropped(core, "c", Routed((), control))
    dropped(core, "e", Routed((), rho))
    assert core.receive("c", Routed((), rho))[0] == Transmit("d", Buffered(1, ()))
    for control in (beta, rho):
        dropped(core, "c", Routed((), control))


def test_prc_the_acceptor_goes_by_turn_too() -> None:
    """A second alpha, pi before alpha or twice, B-beta before pi or of another link."""
    core = core_of("prc")
    pi = Control(PI, "d", "a", 7)
    dropped(core, "b", Routed((), pi))
    dropped(core, "d", Buffered(7, ()))
    core.receive("d", Alpha(7, ("b", "d")))
    for frame in (Alpha(7, ()), Alpha(8, ()), Buffered(7, ()), Broadcast("d", 1, b""), Close(6)):
        dropped(core, "d", frame)
    for control in (Control(PI, "d", "a", 6), Control(PI, "e", "a", 7)):
        dropped(core, "b", Routed((), control))
    assert core.receive("b", Routed((), pi)) == [
        Transmit("b", Routed(("d",), Control(RHO, "d", "a", 7)))
    ]
    dropped(core, "b", Routed((), pi))
    dropped(core, "d", Buffered(6, ()))
    assert core.receive("d", Buffered(7, ())) == [] and core.links.incoming["d"] == 7
    dropped(core, "d", Buffered(7, ()))
    dropped(core, "d", Alpha(8, ()))
    core.receive("d", Close(7))
    assert "d" not in core.links.incoming


def test_preventive_pongs_out_of_turn_are_dropped() -> None:
    """Of another incarnation, from another peer, or twice."""
    core = core_of("preventive")
    core.open("d", via=["b"])
    for sender, e in [("d", 2), ("e", 1), ("b", 1)]:
        dropped(core, sender, Pong(e))
    assert len(core.receive("d", Pong(1))) == 1 and core.links.out["d"] == 1
    dropped(core, "d", Pong(1))


def test_link_memory_links_in_use_are_not_linked_again() -> None:
    """The announcement of a link that is there is dropped."""
    core = core_of("link-memory")
    dropped(core, "b", Linked(3))
    core.receive("d", Linked(3))
    assert core.links.incoming["d"] == 3


# ---- what no correct peer could send ----


@pytest.mark.parametrize("name", OVERLAYS)
def test_impossible_messages(name: str) -> None:
    """Number 0, own messages that were never sent, signals about link 0, numbers 0 in a welcome."""
    core = core_of(name)
    core.send(None, b"")
    assert "number 0 of b" in refused(core, "b", Broadcast("b", 0, b""))
    assert "number 2 of a" in refused(core, "b", Broadcast("a", 2, b""))
    for frame in (Refuse(0), Join(0), Close(-1), Welcome(0, ()), Welcome(1, (("b", 0),))):
        refused(core, "b", frame)
    assert "Fenced" in refused(core, "b", Fenced(0, ("c",), 0, Broadcast("b", 1, b"")))


@pytest.mark.parametrize("name", CHANGING)
def test_impossible_control_frames(name: str) -> None:
    """Of an unknown kind or another protocol, about link 0 or a self-link, or for another process."""
    core = core_of(name)
    good = PING if name == "preventive" else PI
    wrong = [kind for kind in (0, BETA, PI, RHO, PING, 5) if kind == 0 or kind > 4]
    wrong += [BETA, PI, RHO] if name == "preventive" else [PING]
    for kind in wrong:
        assert "the impossible" in refused(core, "b", Routed((), Control(kind, "d", "a", 1)))
        assert "the impossible" in refused(core, "b", Flood("b", 1, Control(kind, "d", "a", 1)))
    assert "the impossible" in refused(core, "b", Routed((), Control(good, "d", "a", 0)))
    assert "a link to oneself" in refused(core, "b", Routed((), Control(good, "a", "a", 1)))
    assert "number 1 of a" in refused(core, "b", Flood("a", 1, Control(good, "d", "e", 1)))
    there = Control(good, "d", "e", 1)
    assert "routes Control" in refused(core, "b", Routed((), there))
    assert "routes Control" in refused(core, "b", Routed(("c",), there))
    for path in (("c", "a", "e"), ("c", "c", "e")):
        assert "with a loop" in refused(core, "b", Routed(path, there))
    assert core.receive("b", Routed(("c", "e"), there)) == [Transmit("c", Routed(("e",), there))]


def test_prc_links_that_cannot_be_made() -> None:
    """Of incarnation 0, with a way back to another process or in a cycle, B-betas with duplicates."""
    core = core_of("prc")
    for frame in (
        Alpha(0, ()),
        Alpha(1, ("b", "e")),
        Alpha(1, ("b", "b", "d")),
        Alpha(1, ("a", "d")),
        Buffered(0, ()),
        Buffered(1, (Broadcast("b", 0, b""),)),
        Buffered(1, (Broadcast("a", 1, b""),)),
        Buffered(1, (Broadcast("b", 1, b""), Broadcast("b", 1, b""))),
        Buffered(1, (Flood("b", 1, Control(PING, "d", "a", 1)),)),
        Linked(1),
        Pong(1),
    ):
        refused(core, "d", frame)


def test_preventive_gaps() -> None:
    """Messages of one source have no gaps, or the network is not as assumed."""
    core = core_of("preventive")
    core.receive("b", Broadcast("b", 1, b""))
    assert "number 3 of b after 1: some are lost" in refused(core, "c", Broadcast("b", 3, b""))
    flood = Control(PING, "d", "e", 1)
    assert "number 2 of b after 0" in refused(core, "c", Flood("b", 2, flood))
    for frame in (Alpha(1, ()), Buffered(1, ()), Linked(1), Pong(0)):
        refused(core, "b", frame)
    core.drop("c")
    dropped(core, "c", Broadcast("b", 3, b""))  # ignored, so not checked


def test_link_memory_knows_no_control() -> None:
    """It has no handshake, so no peer can send a step of one."""
    core = core_of("link-memory")
    control = Control(BETA, "a", "b", 1)
    for frame in (Flood("b", 1, control), Routed((), control), Alpha(1, ()), Pong(1), Linked(0)):
        refused(core, "b", frame)
