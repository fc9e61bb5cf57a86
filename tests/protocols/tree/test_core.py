"""`tree`: how messages travel, what is refused, and one slide step by step.

The tree of most tests:        a
                              / \\
                             b   c
                            / \\
                           d   e
"""

from __future__ import annotations

import random

import pytest

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.frames import (
    TreeAsk,
    TreeBroadcast,
    TreeClear,
    TreeFarewell,
    TreeGo,
    TreeGone,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeMessage,
    TreeReady,
    TreeRefusal,
)
from beforehand.protocols.tree.topology import Tree
from tests.protocols.hybrid.test_constant_work import assert_flat, pump
from tests.protocols.test_bad_input import forged, refused
from tests.support.network import World
from tests.support.trees import assert_one_tree, choices, random_tree, tree_core, tree_world
from tests.support.work import COUNTABLE, counted_lines

PARENTS = {"b": "a", "c": "a", "d": "b", "e": "b"}


def sent(effects: list[Effect]) -> list[tuple[str, Frame]]:
    """(to, frame) of what leaves."""
    return [(effect.to, effect.frame) for effect in effects if isinstance(effect, Transmit)]


# ---- how messages travel ----


def test_a_unicast_goes_from_neighbour_to_neighbour() -> None:
    """Relays pass on the very same frame, deliver nothing, keep nothing; only the end delivers."""
    d, b, a, c = (TreeCore(name, PARENTS) for name in "dbac")
    frame = TreeMessage("d", 1, ("c",), b"x")
    assert d.send("c", b"x") == [Transmit("b", frame)]
    assert b.receive("d", frame) == [Transmit("a", frame)]
    assert a.receive("b", frame) == [Transmit("c", frame)]
    assert c.receive("a", frame) == [Deliver("d", 1, b"x")]
    for core in (a, b, c):
        assert core.fingerprint() == TreeCore(core.process, PARENTS).fingerprint()
        assert core.entries() == 0 and core.held() == []


def test_a_multicast_is_split_where_the_ways_part() -> None:
    """One frame for each branch, with its receivers; forwarded before it is delivered."""
    c, a, b = (TreeCore(name, PARENTS) for name in "cab")
    assert c.send(["d", "a", "e", "c", "b"], b"x") == [
        Transmit("a", TreeMessage("c", 1, ("a", "b", "d", "e"), b"x")),
        Deliver("c", 1, b"x"),
    ]
    assert a.receive("c", TreeMessage("c", 1, ("a", "b", "d", "e"), b"x")) == [
        Transmit("b", TreeMessage("c", 1, ("b", "d", "e"), b"x")),
        Deliver("c", 1, b"x"),
    ]
    assert b.receive("a", TreeMessage("c", 1, ("b", "d", "e"), b"x")) == [
        Transmit("d", TreeMessage("c", 1, ("d",), b"x")),
        Transmit("e", TreeMessage("c", 1, ("e",), b"x")),
        Deliver("c", 1, b"x"),
    ]
    assert sent(a.send_many(["c", "e"], [b"1", b"2"])) == [
        ("c", TreeMessage("a", 1, ("c",), b"1")),
        ("b", TreeMessage("a", 1, ("e",), b"1")),
        ("c", TreeMessage("a", 2, ("c",), b"2")),
        ("b", TreeMessage("a", 2, ("e",), b"2")),
    ]


def test_a_broadcast_goes_to_every_neighbour_except_its_sender() -> None:
    """At its origin it is delivered at once, at the others when it has been passed on."""
    b = TreeCore("b", PARENTS)
    own = TreeBroadcast("b", 1, b"x")
    assert b.send(None, b"x") == [
        *(Transmit(to, own) for to in ("a", "d", "e")),
        Deliver("b", 1, b"x"),
    ]
    other = TreeBroadcast("d", 7, b"y")
    assert b.receive("d", other) == [
        Transmit("a", other),
        Transmit("e", other),
        Deliver("d", 7, b"y"),
    ]


def test_frames_name_the_origin_of_their_message() -> None:
    """Metrics and traces need it, since a frame comes from a relay."""
    for frame in (TreeMessage("d", 3, ("c",), b"four"), TreeBroadcast("d", 3, b"four")):
        assert (frame.origin(), frame.about(), frame.messages()) == ("d", 3, 1)
        assert frame.payload_bytes() == 4 and frame.payload_sizes() == [4]
    for control in (TreeAsk("a"), TreeLock("d", ("d",)), TreeClear("d")):
        assert control.messages() == 0 and control.origin() == "" and control.about() == 0


def test_every_kind_of_cast_at_random() -> None:
    """Without moves: causal, complete, once, and nothing is ever held."""
    broadcasts = 0
    for seed in range(150):
        rng = random.Random(seed)
        world = tree_world(random_tree(rng, rng.randint(2, 9)), seed)
        for _ in range(3):
            world.run_random(8, multicast=True, settle=False, hurry=0.5)
            world.run_random(4, broadcast=True, settle=False, hurry=0.5)
        world.run_until_quiet()
        world.assert_causal_and_complete()
        assert world.held_seen == 0 and world.control == 0, world.about()
        broadcasts += world.kinds["TreeBroadcast"]
        assert all(core.entries() == 0 for core in world.cores.values())
    assert broadcasts > 150


@pytest.mark.skipif(not COUNTABLE, reason="compiled cores execute no lines to count")
@pytest.mark.parametrize("spread", [2, 64])
def test_work_per_hop_does_not_depend_on_the_number_of_processes(spread: int) -> None:
    """Leaves of one parent, in trees of 200 to 20,000 processes: the same lines for each message."""
    work = []
    for size in (200, 2_000, 20_000):
        names = [f"p{number:05}" for number in range(size)]
        tree = Tree({names[n]: names[(n - 1) // spread] for n in range(1, size)})
        leaves = list(tree.children(tree.parent(names[-1])))[-2:]
        around = [*leaves, tree.parent(names[-1])]
        cores: dict[str, Core] = {name: TreeCore(name, tree) for name in around}
        with counted_lines() as lines:
            for number in range(200):
                sender, receiver = leaves[number % len(leaves)], leaves[(number + 1) % len(leaves)]
                receiver = tree.parent(sender) if sender == receiver else receiver
                pump(cores, sender, cores[sender].send(receiver, b"x"))
        work.append(lines.count / 200)
    assert_flat(work, f"spread {spread}")


# ---- what is refused ----


def test_sending_to_strangers_is_refused() -> None:
    """Alone or among others; nothing is sent and nothing counted."""
    core = TreeCore("b", PARENTS)
    for to in ("z", ["a", "z"]):
        with pytest.raises(LocalProtocolError, match="b: z isn't in the tree"):
            core.send(to, b"")
    assert core.sent == 0


def test_messages_that_no_neighbour_could_send_are_refused() -> None:
    """Each by its reason, and nothing has changed."""
    b = TreeCore("b", PARENTS)
    good = TreeMessage("c", 1, ("d",), b"")
    assert "isn't a neighbour of b" in refused(b, "c", good)
    assert "isn't a neighbour of b" in refused(b, "z", good)
    assert "has the number 0" in refused(b, "a", TreeMessage("c", 0, ("d",), b""))
    assert "'z' doesn't come this way" in refused(b, "a", TreeMessage("z", 1, ("d",), b""))
    assert "'d' doesn't come this way" in refused(b, "a", TreeMessage("d", 1, ("e",), b""))
    assert "'b' doesn't come this way" in refused(b, "a", TreeMessage("b", 1, ("d",), b""))
    assert "to nobody" in refused(b, "a", TreeMessage("c", 1, (), b""))
    assert "'z' isn't in the tree" in refused(b, "a", TreeMessage("c", 1, ("d", "z"), b""))
    assert "'d' cannot come after 'd'" in refused(b, "a", TreeMessage("c", 1, ("d", "d"), b""))
    assert "'d' cannot come after 'e'" in refused(b, "a", TreeMessage("c", 1, ("e", "d"), b""))
    assert "to c would go back" in refused(b, "a", TreeMessage("a", 1, ("c", "d"), b""))
    assert "to a would go back" in refused(b, "a", TreeMessage("c", 1, ("a",), b""))
    assert "isn't a neighbour" in refused(b, "c", TreeBroadcast("c", 1, b""))
    assert "has the number -1" in refused(b, "a", TreeBroadcast("c", -1, b""))
    assert "'e' doesn't come this way" in refused(b, "d", TreeBroadcast("e", 1, b""))
    assert b.receive("a", good) == [Transmit("d", good)]


def test_steps_of_a_slide_out_of_turn_are_refused() -> None:
    """A process outside a slide accepts no step of it."""
    b = TreeCore("b", PARENTS)
    steps = (TreeReady, TreeFarewell, TreeHandover, TreeLast, TreeClear)
    for sender in ("a", "d"):
        for step in steps:
            assert "is out of turn" in refused(b, sender, step("d"))
        assert "out of turn" in refused(b, sender, TreeRefusal("b", False))
        assert "wasn't requested" in refused(b, sender, TreeGo("c"))
    assert "out of turn" in refused(b, "a", TreeGone("z"))
    for step in steps:
        assert "isn't a neighbour" in refused(b, "c", step("d"))


def test_impossible_requests_are_refused() -> None:
    """Of others than children, to where nobody can go, or with a side that is elsewhere."""
    b = TreeCore("b", PARENTS)
    assert "isn't a child of b" in refused(b, "a", TreeAsk("c"))
    for target in ("b", "z", ""):
        assert "cannot move nearer" in refused(b, "d", TreeAsk(target))
    assert "below it" in refused(b, "d", TreeAsk("d"))
    assert "hand over 'd' with ('c',)" in refused(b, "a", TreeLock("d", ("c",)))
    assert "hand over 'c' with ('a', 'c')" in refused(b, "a", TreeLock("c", ("a", "c")))
    assert "hand over d, which is elsewhere" in refused(b, "a", TreeLock("c", ("c", "d")))
    assert "hand over b, which is elsewhere" in refused(b, "a", TreeLock("c", ("b", "c")))
    assert "cannot come after" in refused(b, "a", TreeLock("c", ("c", "c")))
    assert "isn't in the tree" in refused(b, "a", TreeLock("z", ("z",)))


def test_impossible_moves_are_refused_with_a_remedy() -> None:
    """Oneself, a stranger, below oneself, the root, or two at once; the current parent is not a move."""
    b = TreeCore("b", PARENTS)
    for parent, problem in {
        "b": "cannot be its own parent",
        "z": "z isn't in the tree",
        "d": "d is below it; move d elsewhere first",
        "": "must not be empty",
    }.items():
        with pytest.raises(LocalProtocolError, match=problem):
            b.reparent(parent)
    with pytest.raises(LocalProtocolError, match="a: is the root and cannot move"):
        TreeCore("a", PARENTS).reparent("b")
    assert b.reparent("a") == [] and b.fingerprint() == TreeCore("b", PARENTS).fingerprint()
    b.reparent("c")
    with pytest.raises(LocalProtocolError, match="still on its way to c"):
        b.reparent("c")


# ---- one slide, step by step ----


def step(world: World, sender: str, receiver: str, expected: Frame) -> list[Effect]:
    """The next frame of a link arrives, which must be this one."""
    assert world.flight[sender, receiver][0] == expected
    return world.arrive((sender, receiver))


def test_the_steps_of_a_slide() -> None:
    """d moves from b to a: nine frames, and then everybody knows the new tree."""
    world = tree_world({"a": "a", **PARENTS}, seed=1)
    world.reparent("d", "a")
    step(world, "d", "b", TreeAsk("a"))
    step(world, "b", "a", TreeLock("d", ("d",)))
    step(world, "a", "b", TreeReady("d"))
    step(world, "b", "d", TreeGo("a"))
    step(world, "d", "b", TreeFarewell("d"))
    step(world, "b", "a", TreeFarewell("d"))
    step(world, "a", "b", TreeHandover("d"))
    step(world, "b", "d", TreeLast("d"))
    step(world, "b", "a", TreeClear("d"))
    assert not world.flight and world.transmitted == 9
    tree = assert_one_tree(world)
    assert tree.parent("d") == "a" and tree.children("b") == ("e",)


def to_phase(world: World, steps: int) -> None:
    """The first steps of moving d from b to a."""
    world.reparent("d", "a")
    for link in ["db", "ba", "ab", "bd", "db", "ba", "ab", "bd", "ba"][:steps]:
        world.arrive((link[0], link[1]))


def test_both_ends_of_the_new_edge_hold_what_comes_too_early() -> None:
    """The mover until L, the new parent until K; `held` lists it, then it is processed in order."""
    world = tree_world({"a": "a", **PARENTS}, seed=1)
    to_phase(world, 4)
    world.send("d", "c", b"one")
    world.send("d", None, b"two")
    assert world.arrive(("d", "a")) == [] and world.arrive(("d", "a")) == []
    waits = (Wait("slide", "b", 0),)
    a = world.cores["a"]
    assert [(h.sender, h.message_id, h.receivers, h.waits) for h in a.held()] == [
        ("d", 1, ("a",), waits),
        ("d", 2, ("a",), waits),
    ]
    assert isinstance(a.held()[0], Held) and a.entries() == 3 + 2 and a.held()[0].since > 0
    for link in ("db", "ba"):
        world.arrive((link[0], link[1]))
    world.send("a", "d", b"three")
    assert world.arrive(("a", "d")) == [] and len(world.cores["d"].held()) == 1
    world.arrive(("a", "b"))
    assert world.arrive(("b", "d")) == [Deliver("a", 1, b"three")]
    effects = world.arrive(("b", "a"))
    assert sent(effects)[0] == ("c", TreeMessage("d", 1, ("c",), b"one"))
    assert {to for to, _ in sent(effects)[1:]} == {"b", "c"} and len(sent(effects)) == 3
    assert a.held() == [] and a.entries() == 0
    world.run_until_quiet()
    world.assert_causal_and_complete()


def test_frames_that_cannot_occur_during_a_slide_are_refused() -> None:
    """From a mover after its last frame, for the wrong side, second requests, steps out of turn."""
    world = tree_world({"a": "a", **PARENTS}, seed=1)
    to_phase(world, 3)
    a, b, d = (tree_core(world, name) for name in "abd")
    # b has locked a, and waits for the farewell of d; a takes frames of d, but holds them.
    refused(b, "a", TreeFarewell("d"))
    refused(b, "d", TreeFarewell("e"))
    refused(b, "d", TreeAsk("a"))
    refused(b, "a", TreeLock("c", ("c",)))
    refused(b, "a", TreeHandover("d"))
    refused(a, "b", TreeLock("e", ("e",)))
    refused(a, "b", TreeClear("d"))
    refused(a, "b", TreeAsk("c"))
    assert "'e' doesn't come this way" in refused(a, "d", TreeMessage("e", 1, ("a",), b""))
    assert "to d would go back" in refused(a, "d", TreeMessage("d", 1, ("d",), b""))
    refused(a, "d", TreeFarewell("d"))
    refused(d, "b", TreeLast("d"))
    world.arrive(("b", "d"))
    # d reads b to its end, and holds what comes from a.
    refused(d, "b", TreeGo("a"))
    assert "wasn't requested" in refused(d, "a", TreeGo("c"))
    refused(d, "b", TreeLock("e", ("e",)))
    assert "'d' doesn't come" in refused(d, "b", TreeMessage("d", 1, ("d",), b""))
    d.copy().receive("b", TreeMessage("c", 1, ("d",), b""))
    d.copy().receive("a", TreeMessage("c", 1, ("d",), b""))
    assert "isn't a child of d" in refused(d, "a", TreeAsk("c"))
    held = d.copy()
    held.receive("a", TreeLock("c", ("c",)))
    assert "second slide before the first" in refused(held, "a", TreeLock("c", ("c",)))
    world.arrive(("d", "b"))
    assert "after its last one" in refused(b, "d", TreeMessage("d", 1, ("b",), b""))
    world.arrive(("b", "a"))
    refused(a, "b", TreeFarewell("d"))
    assert "'d' doesn't come this way" in refused(a, "b", TreeMessage("d", 1, ("c",), b""))
    world.arrive(("a", "b"))
    assert "isn't a neighbour of b" in refused(b, "d", TreeMessage("d", 1, ("b",), b""))
    world.run_until_quiet()
    assert_one_tree(world)


def test_a_permission_must_name_a_process_outside() -> None:
    """The mover knows who is on its own side, and that its parent is no news."""
    d = TreeCore("d", {**PARENTS, "f": "d"})
    d.reparent("c")
    for parent in ("z", "b", "d", "f"):
        assert "cannot be the next parent" in refused(d, "b", TreeGo(parent))
    assert sent(d.receive("b", TreeGo("a"))) == [("b", TreeFarewell("d"))]


# ---- far parents, and requests that compete ----


def test_a_far_parent_is_reached_by_several_slides() -> None:
    """Down a chain of eight, with its subtree; nobody has to ask again."""
    tree = {f"n{number}": f"n{number - 1}" for number in range(1, 8)} | {"x": "n1", "y": "x"}
    world = tree_world({"n0": "n0", **tree}, seed=4)
    world.reparent("x", "n7")
    assert tree_core(world, "x").target == "n7"
    while world.step():
        pass
    assert world.ticks == 0 and world.kinds["TreeClear"] == 6
    assert assert_one_tree(world).path("y", "n0") == (
        "y",
        "x",
        *(f"n{number}" for number in range(7, -1, -1)),
    )


def test_a_process_in_a_slide_refuses_other_requests() -> None:
    """The refused one asks again at a tick, until it succeeds."""
    world = tree_world({"a": "a", **PARENTS}, seed=1)
    to_phase(world, 1)
    world.reparent("e", "c")
    assert sent(world.arrive(("e", "b"))) == [("e", TreeRefusal("e", False))]
    world.arrive(("b", "e"))
    assert tree_core(world, "e").target == "c" and tree_core(world, "e").slide is None
    while world.step():
        pass
    assert tree_core(world, "e").parent == "b"
    world.run_until_quiet()
    tree = assert_one_tree(world)
    assert tree.parent("e") == "c" and tree.parent("d") == "a"


def lockstep(world: World) -> None:
    """All frames that are in flight arrive, then all that these brought, and so on; then all tick."""
    while world.flight:
        for link in sorted(world.flight):
            for _ in range(len(world.flight[link])):
                world.arrive(link)
    world.tick()


@pytest.mark.parametrize(
    ("moves", "parents"),
    [
        # Two locks cross: b and c each hand over a child to the other.
        ({"d": "c", "f": "b"}, {"b": "a", "c": "b", "d": "b", "f": "c"}),
        # A question crosses a lock: e moves under d, while d moves to a.
        ({"e": "d", "d": "a"}, PARENTS),
        # A chain in which everybody asks its parent, who asks as well.
        ({"c": "a", "d": "a", "e": "a"}, {"b": "a", "c": "b", "d": "c", "e": "d"}),
    ],
)
def test_competing_requests_in_lockstep_all_succeed(
    moves: dict[str, str], parents: dict[str, str]
) -> None:
    """No randomness breaks the symmetry here; without an order of requests they would refuse forever."""
    world = tree_world({"a": "a", **parents}, seed=1)
    for process, parent in moves.items():
        world.reparent(process, parent)
    for _ in range(10):
        lockstep(world)
    tree = assert_one_tree(world)
    assert {process: tree.parent(process) for process in moves} == moves
    assert world.kinds["TreeRefusal"] > 0


def test_one_of_two_contradicting_moves_is_given_up() -> None:
    """b wants under c and c under b: one of them comes below the other, which then stays."""
    parents = {"b": "a", "c": "a"}
    outcomes = set()
    for seed in range(20):
        world = tree_world({"a": "a", **parents}, seed)
        for process, parent in (("b", "c"), ("c", "b")):
            world.reparent(process, parent)
        world.run_until_quiet()
        outcomes.add(assert_one_tree(world).key())
    assert outcomes == {Tree({"b": "a", "c": "b"}).key(), Tree({"c": "a", "b": "c"}).key()}


def test_forged_frames_in_the_middle_of_slides_are_refused_whole_or_taken() -> None:
    """Nothing else than RemoteProtocolError comes out, and then nothing has changed."""
    caught = taken = 0
    for seed in range(60):
        rng = random.Random(seed)
        world = tree_world(random_tree(rng, 3), seed)
        for _ in range(25):
            process = rng.choice(list(world.cores))
            parents = choices(tree_core(world, process))
            if rng.random() < 0.3:
                world.send(process, None)
            elif parents and rng.random() < 0.5:
                world.reparent(process, parents[0])
            else:
                world.step()
        for (sender, receiver), frames in list(world.flight.items()):
            for frame in frames * 5:
                core = world.cores[receiver].copy()
                before = core.fingerprint()
                try:
                    core.receive(sender, forged(frame, rng))
                    taken += 1
                except RemoteProtocolError as error:
                    caught += 1
                    assert error.peer == sender and core.fingerprint() == before, f"seed {seed}"
                core.held()
                core.tick()
    assert caught > 100 and taken > 50, (caught, taken)
