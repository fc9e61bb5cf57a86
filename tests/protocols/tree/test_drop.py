"""`tree` and processes that are gone for good: leaves can be dropped, inner processes cannot."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand.errors import LocalProtocolError, PeerDroppedError
from beforehand.protocols.effects import Deliver, Transmit
from beforehand.protocols.fence import Fenced
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.frames import TreeBroadcast, TreeMessage, TreeRefusal
from beforehand.protocols.tree.slide import GRANTED
from tests.support.network import World, unwrapped
from tests.support.trees import assert_one_tree, choices, random_tree, tree_core, tree_world

PARENTS = {"b": "a", "c": "a", "d": "b", "e": "b"}  # d and e hang under b, b and c under a
STEPS = ["db", "ba", "ab", "bd", "db", "ba", "ab", "bd", "ba"]  # of moving d from b to a


def test_a_leaf_is_forgotten_by_its_neighbour() -> None:
    """No broadcast and no message goes to it, and its frames are ignored."""
    b = TreeCore("b", PARENTS)
    assert b.drop("d") == [] and b.children == ("e",)
    assert [e.to for e in b.send(None, b"") if isinstance(e, Transmit)] == ["a", "e"]
    assert b.receive("d", TreeBroadcast("d", 1, b"")) == []
    with pytest.raises(PeerDroppedError, match="d was dropped"):
        b.send(["a", "d"], b"")
    (passed,) = b.receive("a", TreeMessage("c", 1, ("d", "e"), b"x"))
    assert passed == Transmit("e", Fenced(0, ("d",), 0, TreeMessage("c", 1, ("e",), b"x")))
    assert b.receive("a", TreeMessage("c", 2, ("d",), b"x")) == []


def test_a_root_with_one_child_is_a_leaf_too() -> None:
    """Its child becomes the root; a parent whose other neighbours were all dropped is a leaf as well."""
    b = TreeCore("b", {"b": "a", "c": "b"})
    b.drop("a")
    assert b.parent == "" and assert_cannot_move(b)
    below = TreeCore("b", {"b": "a", "c": "a"})
    below.drop("c")
    below.drop("a")
    assert below.parent == ""


def assert_cannot_move(core: TreeCore) -> bool:
    """A root stays."""
    with pytest.raises(LocalProtocolError, match="is the root"):
        core.reparent("c")
    return True


@pytest.mark.parametrize(("process", "peer"), [("a", "b"), ("b", "a"), ("d", "b")])
def test_an_inner_process_cannot_be_dropped(process: str, peer: str) -> None:
    """That would cut the tree; the error says what to do instead, and nothing has changed."""
    core = TreeCore(process, PARENTS)
    before = core.fingerprint()
    with pytest.raises(
        LocalProtocolError, match=f"dropping {peer} would cut the tree; move the processes"
    ):
        core.drop(peer)
    assert core.fingerprint() == before and core.dropped() == frozenset()


def test_the_remedy_in_the_error_works() -> None:
    """The children of b move away, then b can be dropped by its parent."""
    world = tree_world({"a": "a", **PARENTS}, seed=3)
    for process in "de":
        world.reparent(process, "c")
        world.run_until_quiet()
    world.drop("a", "b")
    world.send("a", ["c", "d", "e"])
    world.run_until_quiet()
    assert all(world.cores[name].dropped() == {"b"} for name in "acde")
    assert_one_tree(world, frozenset("b"))
    world.assert_causal_and_complete("acde")


def test_drops_of_inner_processes_that_others_made_cut_the_tree() -> None:
    """No frame may raise for that. Processes behind it are out of reach, and sends to them raise."""
    a, c = TreeCore("a", PARENTS), TreeCore("c", PARENTS)
    assert c.drop("b") == []  # far away, so it cannot know
    (sent,) = c.send(["a", "d"], b"x")
    assert isinstance(sent, Transmit) and isinstance(sent.frame, Fenced)
    assert a.receive("c", sent.frame) == [Deliver("c", 1, b"x")]
    assert a.dropped() == {"b"} and a.children == ("c",)
    with pytest.raises(
        LocalProtocolError, match="d cannot be reached: the way leads over b, which"
    ):
        a.send(["c", "d"], b"")
    with pytest.raises(PeerDroppedError):
        a.send("b", b"")
    assert [e.to for e in a.send(None, b"") if isinstance(e, Transmit)] == ["c"]
    # Nor can a process move there: it is refused for good, instead of asking again forever.
    (request,) = c.reparent("d")
    assert isinstance(request, Transmit)
    (refusal,) = a.receive("c", request.frame)
    assert isinstance(refusal, Transmit) and unwrapped(refusal.frame) == TreeRefusal("c", True)
    c.receive("a", refusal.frame)
    assert c.target == "" and c.slide is None and c.tick() == []


def test_messages_of_a_dropped_leaf_that_are_on_their_way_still_arrive() -> None:
    """Others may have delivered them and answered; no process may see only the answer."""
    a = TreeCore("a", PARENTS)
    assert a.drop("d") == []  # far away: it only stops to send there
    message = TreeMessage("d", 1, ("a", "c"), b"x")
    effects = a.receive("b", message)
    assert Deliver("d", 1, b"x") in effects and len(effects) == 2
    with pytest.raises(PeerDroppedError):
        a.send("d", b"")


@pytest.mark.parametrize("steps", range(10))
@pytest.mark.parametrize("dropper", ["a", "b"])
def test_a_mover_without_subtree_may_crash_in_the_middle(steps: int, dropper: str) -> None:
    """Whichever process drops it, both parents are free again, and nothing stays held forever."""
    world = tree_world({"a": "a", **PARENTS}, seed=1)
    world.reparent("d", "a")
    for link in STEPS[:steps]:
        world.arrive((link[0], link[1]))
    world.send("c", None)
    world.send("d", None)
    world.stop("d")
    world.drop(dropper, "d")
    while world.step():
        pass
    for name in "ab":
        assert tree_core(world, name).slide is None, f"{name} is not free after step {steps}"
    world.send("c", None)
    world.send("e", None)
    world.run_until_quiet()
    world.send(dropper, None)
    world.run_until_quiet()
    survivors = "abce"
    for name in survivors:
        core = tree_core(world, name)
        assert core.slide is None and core.dropped() == {"d"} and not core.held(), (steps, name)
    assert not world.violations, world.violations
    assert_one_tree(world, frozenset("d"))
    assert not world.undelivered(survivors)


def test_a_deferred_request_is_discarded_with_its_dropped_mover() -> None:
    """Locks of b and c cross, so c waits for a refusal; but the mover of b is dropped meanwhile."""
    parents = {"a": "a", "b": "a", "c": "b", "d": "b", "f": "c"}
    world = tree_world(parents, seed=1)
    for process, parent in (("d", "c"), ("f", "b")):
        world.reparent(process, parent)
        world.arrive((process, parents[process]))
    world.arrive(("b", "c"))
    crossed = tree_core(world, "c").slide
    assert crossed and crossed.crossing
    world.drop("b", "d")
    world.stop("d")
    world.arrive(("c", "b"))
    for _ in range(2):
        world.arrive(("b", "c"))
    granted = tree_core(world, "c").slide
    assert granted and granted.phase == GRANTED and granted.crossing is None
    free = world.cores["c"].copy()
    free.drop("f")
    assert isinstance(free, TreeCore) and free.slide is None
    world.run_until_quiet()
    assert assert_one_tree(world, frozenset("d")).parent("f") == "b"


def test_a_slide_under_way_keeps_its_other_parts() -> None:
    """Neither parent of a mover can be dropped in the middle, though one of them is a leaf."""
    world = tree_world({"a": "a", "b": "a", "c": "b", "d": "b"}, seed=1)  # d moves from b to c
    world.reparent("d", "c")
    world.arrive(("d", "b"))
    lock = world.cores["b"].copy()
    assert lock.drop("c"), "not yet: nothing has moved, and d is notified"
    for link in ["bc", "cb", "bd"]:
        world.arrive((link[0], link[1]))
    for process, peer in (("b", "c"), ("c", "b"), ("d", "c")):
        with pytest.raises(LocalProtocolError, match="would cut the tree"):
            world.cores[process].drop(peer)


def test_the_goal_of_a_move_may_be_dropped() -> None:
    """Then the mover stays where it is."""
    d = TreeCore("d", PARENTS)
    d.reparent("c")
    d.drop("c")
    assert d.target == "" and d.slide
    d.receive("b", TreeRefusal("d", False))
    assert not d.copy().slide and d.tick() == []
    with pytest.raises(PeerDroppedError, match="c was dropped; choose another"):
        d.reparent("c")


def leaves(world: World, gone: set[str]) -> list[str]:
    """The leaves that every neighbour may drop now: nothing moves around them."""
    cores = {name: tree_core(world, name) for name in world.cores if name not in gone}
    busy = {
        peer
        for core in cores.values()
        if core.slide is not None
        for peer in (core.process, core.slide.mover, core.slide.old, core.slide.new)
    }
    return [n for n, core in cores.items() if not core.children and n not in busy and core.parent]


def can_drop(world: World, process: str, peer: str) -> bool:
    """Not if a process behind the peer was dropped there and this one does not know it yet."""
    try:
        world.cores[process].copy().drop(peer)
    except LocalProtocolError:
        return False
    return True


def dropping_run(seed: int) -> Counter[str]:
    """Moves and messages, while one leaf after the other is dropped by somebody, alive or not."""
    rng = random.Random(seed)
    world = tree_world(random_tree(rng, rng.randint(4, 9)), seed)
    gone: set[str] = set()
    seen: Counter[str] = Counter()
    for _ in range(120):
        alive = [name for name in world.cores if name not in gone]
        process = rng.choice(alive)
        core = tree_core(world, process)
        kind = rng.random()
        if kind < 0.25:
            others = [n for n in alive if n != process and not core.is_dropped(n)]
            world.send(process, rng.sample(others, rng.randint(1, len(others))))
        elif kind < 0.35 and choices(core):
            parent = rng.choice(choices(core))
            world.reparent(process, parent)
        elif kind < 0.37 and len(alive) > 3:
            for victim in leaves(world, gone)[:1]:
                if not can_drop(world, tree_core(world, victim).parent, victim):
                    seen["not known to be a leaf"] += 1
                    continue
                gone.add(victim)
                if rng.random() < 0.5:
                    world.stop(victim)
                world.drop(tree_core(world, victim).parent, victim)
                seen["dropped"] += 1
        elif kind < 0.4:
            world.tick(*alive)
        else:
            world.step()
    survivors = [name for name in world.cores if name not in gone]
    for victim in gone:
        world.stop(victim)
    world.run_until_quiet()
    for _ in range(len(survivors)):  # so that every process learns of every drop
        for name in survivors:
            peers = [n for n in survivors if n != name]
            world.send(name, peers)
        world.run_until_quiet()
    world.assert_causal_and_complete(survivors)
    for name in survivors:
        assert world.cores[name].dropped() == gone, world.about()
        assert not world.cores[name].held(), world.about()
    assert_one_tree(world, frozenset(gone))
    seen.update(world.kinds)
    return seen


def test_leaves_are_dropped_while_others_move() -> None:
    """Survivors stay causal and complete, agree on one tree, and all know of the drops."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        seen += dropping_run(seed)
    assert seen["dropped"] > 150 and seen["TreeClear"] > 150, seen
