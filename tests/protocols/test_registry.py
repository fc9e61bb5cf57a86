"""The registry: every protocol by name, described truthfully, created with the right arguments."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.errors import LocalProtocolError, UnknownProtocolError
from beforehand.protocols.clocks.ks import Ks
from beforehand.protocols.clocks.rst import Rst
from beforehand.protocols.sender_side.mattern import Mattern
from tests.support.groups import core_of

NAMES = [
    "hybrid",
    "hybrid-sps",
    "mattern",
    "cykas",
    "cykas-unsafe",
    "rst",
    "ks",
    "newtop",
    "vector",
    "tree",
    "link-memory",
    "preventive",
    "prc",
    "fifo",
    "raw",
]


def test_names_come_in_a_fixed_order() -> None:
    """The protocols of the papers, with the recommended ones first and the controls last."""
    assert protocols.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_can_be_created_with_the_same_call(name: str) -> None:
    """Arguments that a protocol does not need are ignored, so one call serves for all."""
    core = protocols.create(name, "a", processes=["a", "b"], tree={"b": "a"}, links=["b"])
    assert core.process == "a" and core.sent == 0
    assert core.held() == [] and core.tick() == [] and core.dropped() == frozenset()


@pytest.mark.parametrize("name", NAMES)
def test_descriptions_are_complete(name: str) -> None:
    """Every field says something from its vocabulary."""
    description = protocols.describe(name)
    assert (
        description.name == name
        and description.title
        and description.source
        and description.metadata
    )
    assert set(description.casts) <= {"unicast", "multicast", "broadcast"} and description.casts
    assert description.network in ("lossy", "reliable")
    assert description.membership in ("open", "fixed")
    assert description.buffering in ("sender", "receiver", "hybrid", "none")
    assert description.overlay in ("none", "tree", "links")


def test_which_protocols_are_causal() -> None:
    """The controls and the refuted variant are not."""
    assert [name for name in NAMES if not protocols.describe(name).causal] == [
        "cykas-unsafe",
        "fifo",
        "raw",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_casts_are_as_described(name: str) -> None:
    """One receiver, several, or everybody: accepted exactly by the protocols that say so."""
    core = core_of(name, "a", ["a", "b", "c"])
    casts = protocols.describe(name).casts
    calls: list[tuple[str, str | list[str] | None, str]] = [
        ("unicast", "b", "only broadcasts"),
        ("multicast", ["b", "c"], "multicast|only broadcasts"),
        ("broadcast", None, "no broadcast"),
    ]
    for cast, to, refusal in calls:
        before = core.fingerprint()
        if cast in casts:
            assert core.send(to, b"")
        else:
            with pytest.raises(LocalProtocolError, match=refusal):
                core.send(to, b"")
            with pytest.raises(LocalProtocolError, match=refusal):
                core.send_many(to, [b"", b""])
            assert core.fingerprint() == before


def test_an_unknown_protocol_is_an_error_that_helps() -> None:
    """It suggests a close name and lists all of them."""
    with pytest.raises(UnknownProtocolError, match=r"'matern' \(did you mean mattern\?\)"):
        protocols.create("matern", "a")
    with pytest.raises(UnknownProtocolError, match=", ".join(NAMES)):
        protocols.describe("tcp")


def test_options_are_checked() -> None:
    """A known option works, an unknown one is refused with those that exist."""
    core = protocols.create("mattern", "a", fifo_links=True)
    assert isinstance(core, Mattern) and core.fifo_links
    with pytest.raises(LocalProtocolError, match="'fifo'; its options: fifo_links"):
        protocols.create("mattern", "a", fifo=True)
    with pytest.raises(LocalProtocolError, match="'window'; its options: none"):
        protocols.create("cykas", "a", window=3)


@pytest.mark.parametrize("name", ["rst", "ks", "newtop", "vector"])
def test_a_fixed_membership_must_be_given_and_make_sense(name: str) -> None:
    """It has this process and no name twice; each error says what is wrong."""
    with pytest.raises(LocalProtocolError, match="pass processes="):
        protocols.create(name, "a")
    with pytest.raises(LocalProtocolError, match="a: is not among the processes"):
        protocols.create(name, "a", processes=["b", "c"])
    with pytest.raises(LocalProtocolError, match="b is twice"):
        protocols.create(name, "a", processes=["a", "b", "b"])
    with pytest.raises(LocalProtocolError, match="not the one string 'abc'"):
        protocols.create(name, "a", processes="abc")
    with pytest.raises(LocalProtocolError, match="must not be empty"):
        protocols.create(name, "a", processes=["a", ""])


def test_cores_of_one_group_share_their_membership() -> None:
    """Also those of different protocols, and copies; another group has its own."""
    names = ["a", "b", "c"]
    rst, ks = protocols.create("rst", "a", processes=names), Ks("b", names)
    assert isinstance(rst, Rst) and rst.members is ks.members
    other = Rst("a", ["a", "z"])
    copy = rst.copy()
    assert isinstance(copy, Rst) and copy.members is rst.members is not other.members


def test_public_names() -> None:
    """What the package exports exists."""
    assert all(hasattr(protocols, name) for name in protocols.__all__)
