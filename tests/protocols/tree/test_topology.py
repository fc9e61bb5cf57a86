"""Trees: next hops against the definitions of its paper, and why malformed trees are refused."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand import protocols
from beforehand.errors import LocalProtocolError
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.topology import Tree

Parents = dict[str, str]


@st.composite
def trees(draw: st.DrawFn, most: int = 25) -> Parents:
    """Child -> parent, with the root as its own parent or left out, in any order of keys."""
    size = draw(st.integers(2, most))
    names = draw(st.permutations([f"n{number}" for number in range(size)]))
    parents = {names[0]: names[0]} if draw(st.booleans()) else {}
    for number in range(1, size):
        parents[names[number]] = names[draw(st.integers(0, number - 1))]
    return {name: parents[name] for name in draw(st.permutations(list(parents)))}


def with_root(parents: Parents) -> Parents:
    """The form of the paper: the root is its own parent."""
    return {**{name: name for name in parents.values() if name not in parents}, **parents}


def paper_children(name: str, t: Parents) -> set[str]:
    """Definition 3.1."""
    return {other for other in t if t[other] == name and other != name}


def paper_descendants(name: str, t: Parents) -> set[str]:
    """Definition 3.1, the transitive closure."""
    below = paper_children(name, t)
    return below.union(*(paper_descendants(child, t) for child in below))


def paper_next(here: str, there: str, t: Parents) -> str:
    """Figure 4."""
    if there in paper_children(here, t):
        return there
    if there == t[there]:
        return t[here]
    return paper_next(here, t[there], t)


def paper_path(here: str, there: str, t: Parents) -> tuple[str, ...]:
    """Figure 5."""
    if here == there:
        return (here,)
    return (here, *paper_path(paper_next(here, there, t), there, t))


@given(trees())
def test_all_functions_are_those_of_the_paper(parents: Parents) -> None:
    """Children, descendants, next hop and path, for all pairs of any tree."""
    tree, t = Tree(parents), with_root(parents)
    assert set(tree.names) == set(t) and t[tree.root()] == tree.root()
    for here in t:
        assert tree.parent(here) == t[here]
        assert set(tree.children(here)) == paper_children(here, t)
        assert set(tree.descendants(here)) == paper_descendants(here, t)
        assert len(tree.descendants(here)) == len(paper_descendants(here, t))
        assert tree.next(here, here) == here and tree.path(here, here) == (here,)
        for there in t:
            if here != there:
                assert tree.next(here, there) == paper_next(here, there, t)
                assert tree.path(here, there) == paper_path(here, there, t)


@given(trees())
def test_paths_have_no_detours(parents: Parents) -> None:
    """The way back is the same way, and each step goes between a child and its parent."""
    tree = Tree(parents)
    for here in tree.names:
        for there in tree.names:
            way = tree.path(here, there)
            assert way == tree.path(there, here)[::-1] and len(set(way)) == len(way)
            for one, two in pairwise(way):
                assert tree.parent(one) == two or tree.parent(two) == one


@given(trees())
def test_the_order_of_the_mapping_does_not_matter(parents: Parents) -> None:
    """Nor does the way in which the root is given."""
    other = dict(sorted(with_root(parents).items(), reverse=True))
    assert Tree(parents).key() == Tree(other).key()


def refused(parents: object, process: str = "a", processes: list[str] | None = None) -> str:
    """Why a tree is refused."""
    with pytest.raises(LocalProtocolError) as caught:
        protocols.create("tree", process, tree=parents, processes=processes)  # type: ignore[arg-type]
    return str(caught.value)


def test_malformed_trees_are_refused_with_the_reason_and_the_names() -> None:
    """One for each way in which a mapping can fail to be a tree."""
    assert "the tree is empty" in refused({})
    assert "has several roots: a, b" in refused({"a": "a", "b": "b", "c": "a"})
    assert "has several roots: x, y" in refused({"a": "x", "b": "y"})
    assert "no root, but a cycle: a under b under a" in refused({"a": "b", "b": "a"})
    assert "has a cycle: c under e under d under c" in refused(
        {"b": "a", "c": "e", "d": "c", "e": "d", "f": "c"}
    )
    assert "has a cycle: c under d under c" in refused({"a": "a", "c": "d", "d": "c"})
    assert "root of the tree is a, so x, y cannot be in it without a parent" in refused(
        {"a": "a", "b": "x", "c": "y"}
    )
    assert "z: isn't in the tree; give it a parent there" in refused({"b": "a"}, "z")
    assert "not 'ab'" in refused("ab") and "not ['a']" in refused(["a"])
    assert "must be a str, not int" in refused({"a": 5})
    assert "must not be empty" in refused({"a": ""})
    assert "pass tree={child: parent, ...}" in refused(None)


def test_the_processes_and_the_tree_must_be_the_same() -> None:
    """If both are given, neither may name somebody whom the other does not."""
    parents = {"b": "a", "c": "a"}
    assert "a: d, e among the processes, but not in the tree" in refused(
        parents, "a", list("abcde")
    )
    assert "a: b, c in the tree, but not among the processes" in refused(parents, "a", ["a"])
    assert protocols.create("tree", "b", tree=parents, processes=["c", "b", "a"]).process == "b"


def test_one_process_alone_is_a_tree() -> None:
    """As its own parent, or as the only one of the processes."""
    for core in (TreeCore("a", {"a": "a"}), TreeCore("a", {}, ["a"])):
        assert core.parent == "" and core.children == () and len(core.send(None, b"")) == 1


def test_unknown_names_are_refused_by_the_functions() -> None:
    """With a sentence, not with a KeyError."""
    tree = Tree({"b": "a"})
    for call in (tree.parent, tree.children, tree.descendants):
        with pytest.raises(LocalProtocolError, match="z isn't in the tree"):
            call("z")
    with pytest.raises(LocalProtocolError, match="z isn't in the tree"):
        tree.path("a", "z")


def test_long_lists_in_errors_are_cut() -> None:
    """An error is read by a person."""
    many = {f"n{number}": f"n{number}" for number in range(1_000)}
    assert len(refused(many, "n1")) < 200 and "(1000 in all)" in refused(many, "n1")


def test_cores_of_equal_trees_share_one() -> None:
    """Also copies, and cores that are given the tree itself; another tree is another one."""
    first = TreeCore("a", {"b": "a", "c": "b"})
    second = TreeCore("c", {"c": "b", "a": "a", "b": "a"}, ["a", "b", "c"])
    third = protocols.create("tree", "b", tree={"b": "a", "c": "b"})
    assert isinstance(third, TreeCore) and isinstance(first.copy(), TreeCore)
    assert first.routes.tree.key() == second.routes.tree.key() == third.routes.tree.key()
    fourth = TreeCore("a", {"b": "a", "c": "b"})
    shared = fourth.routes.tree
    assert third.routes.tree is shared is fourth.copy().routes.tree
    assert TreeCore("b", shared).routes.tree is shared
    assert TreeCore("a", {"b": "a"}).routes.tree is not shared


def test_a_mapping_that_is_changed_later_is_another_tree() -> None:
    """What is shared goes by what the mapping says, not by which object it is."""
    parents = {"b": "a", "c": "a"}
    before = TreeCore("a", parents)
    parents["c"] = "b"
    after = TreeCore("a", parents)
    assert before.children == ("b", "c") and after.children == ("b",)


def test_ten_thousand_processes_share_their_tree() -> None:
    """What a core holds itself does not grow with the tree."""
    parents = {f"n{number}": f"n{(number - 1) // 2}" for number in range(1, 10_000)}
    tree = Tree(parents)
    tracemalloc.start()
    cores = [TreeCore(name, tree) for name in tree.names]
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / len(cores) < 1_500, f"{used / len(cores):.0f} bytes per core"
    assert max(core.integers() for core in cores) == 4


def test_a_tree_as_deep_as_it_is_large() -> None:
    """A chain of ten thousand is no problem for anything."""
    size = 10_000
    tree = Tree({f"n{number}": f"n{number - 1}" for number in range(1, size)})
    assert tree.next("n0", f"n{size - 1}") == "n1" and tree.next("n5", "n2") == "n4"
    assert len(tree.path("n0", f"n{size - 1}")) == size
