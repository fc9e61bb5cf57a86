"""A tree of processes: who hangs under whom, and the next hop from anywhere to anywhere.

Given as `{child: parent}`, as in the paper of Blessing, Clebsch and Drossopoulou (2017), section
3.1: the root is its own parent, or is left out of the keys. The functions `children`,
`descendants`, `next` and `path` are those of its definition 3.1 and figures 4 and 5.

The paper walks up from the destination to find a next hop. Here all processes are numbered in
the order in which a depth-first walk enters them, so that the descendants of a process are the
numbers from its own up to the end of its interval. A destination in that interval lies below, under
the last child that was entered before it; any other lies behind the parent. That is one binary search
among the children, whatever the depth.

A tree never changes, and cores with equal mappings share one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Final

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError

SHOWN: Final = 5  # names in an error


class Tree:
    """A well-formed tree (definition 3.2): one root, and every other process below it. Immutable."""

    names: Final[tuple[str, ...]]  # in depth-first order, children in the order of their names
    index: Final[dict[str, int]]  # name -> its position in `names`
    up: Final[tuple[int, ...]]  # by position: the position of the parent, of the root its own
    below: Final[tuple[tuple[int, ...], ...]]  # by position: the index of the children, ascending
    ends: Final[tuple[int, ...]]  # by position: the position after the last descendant

    def __init__(self, given: Mapping[str, str]) -> None:
        parents = _checked(given)
        root = _root(parents)
        under: dict[str, list[str]] = {}
        for name in sorted(parents):
            if name != root:
                under.setdefault(parents[name], []).append(name)
        names = _depth_first(root, under)
        if len(names) < len(parents):
            raise LocalProtocolError(f"the tree has a cycle: {_cycle(parents, set(names))}")
        self.names = tuple(names)
        index = {name: position for position, name in enumerate(names)}
        self.index = index
        self.up = tuple([index[parents[name]] for name in names])
        self.below = tuple([tuple([index[n] for n in under.get(name, [])]) for name in names])
        ends = list(range(1, len(names) + 1))
        for position in range(len(names) - 1, 0, -1):  # the children of a process come after it
            above = self.up[position]
            ends[above] = max(ends[above], ends[position])
        self.ends = tuple(ends)

    def __len__(self) -> int:
        return len(self.names)

    def root(self) -> str:
        """The one process without another above it."""
        return self.names[0]

    def parent(self, name: str) -> str:
        """The process above, and for the root itself."""
        return self.names[self.up[self._position(name)]]

    def children(self, name: str) -> tuple[str, ...]:
        """Those that hang directly under a process."""
        return tuple([self.names[position] for position in self.below[self._position(name)]])

    def descendants(self, name: str) -> tuple[str, ...]:
        """Those that hang under a process, directly or not; not itself."""
        position = self._position(name)
        return self.names[position + 1 : self.ends[position]]

    def next(self, here: str, there: str) -> str:
        """The neighbour of `here` on the way to `there`; `here` itself if they are the same."""
        return self.hop(self._position(here), self._position(there))

    def path(self, here: str, there: str) -> tuple[str, ...]:
        """All processes on the way, with both ends."""
        goal = self._position(there)
        way = [here]
        while way[-1] != there:
            way.append(self.hop(self.index[way[-1]], goal))
        return tuple(way)

    def hop(self, here: int, there: int) -> str:
        """`next` by index, for those who know them."""
        if here == there:
            return self.names[here]
        if here < there < self.ends[here]:
            below = self.below[here]
            return self.names[below[bisect_right(below, there) - 1]]
        return self.names[self.up[here]]

    def key(self) -> tuple[object, ...]:
        """Equal exactly for equal trees."""
        return (self.names, self.up)

    def _position(self, name: str) -> int:
        position = self.index.get(name)
        if position is None:
            raise LocalProtocolError(f"{name} isn't in the tree")
        return position


def _checked(given: object) -> dict[str, str]:
    """The mapping with a root that is its own parent, whichever way it was given."""
    if not isinstance(given, Mapping):
        raise LocalProtocolError(f"a tree is a mapping {{child: parent}}, not {given!r:.40}")
    parents: dict[str, str] = {}
    for child, parent in given.items():
        parents[check_process(child)] = check_process(parent)
    if not parents:
        raise LocalProtocolError("the tree is empty; name at least {root: root}")
    outside = sorted({parent for parent in parents.values() if parent not in parents})
    roots = sorted([child for child, parent in parents.items() if child == parent])
    if roots and outside:
        raise LocalProtocolError(
            f"the root of the tree is {roots[0]}, so {_list(outside)} cannot be in it without a "
            "parent; give each one"
        )
    for name in outside:
        parents[name] = name
    return parents


def _root(parents: dict[str, str]) -> str:
    roots = sorted([child for child, parent in parents.items() if child == parent])
    if not roots:
        raise LocalProtocolError(f"the tree has no root, but a cycle: {_cycle(parents, set())}")
    if len(roots) > 1:
        raise LocalProtocolError(f"the tree has several roots: {_list(roots)}; leave one")
    return roots[0]


def _depth_first(root: str, under: dict[str, list[str]]) -> list[str]:
    """All that hang under the root, each before its children."""
    order: list[str] = []
    todo = [root]
    while todo:
        name = todo.pop()
        order.append(name)
        todo.extend(reversed(under.get(name, [])))
    return order


def _cycle(parents: dict[str, str], sound: set[str]) -> str:
    """A cycle, found by going up from a process that does not lead to the root."""
    name = min([child for child in parents if child not in sound])
    seen: dict[str, int] = {}
    way: list[str] = []
    while name not in seen:
        seen[name] = len(way)
        way.append(name)
        name = parents[name]
    return f"{_list(way[seen[name] :], ' under ')} under {name}"


def _list(names: list[str], between: str = ", ") -> str:
    more = f"{between}... ({len(names)} in all)" if len(names) > SHOWN else ""
    return between.join(names[:SHOWN]) + more


# At most one each: the last argument and its result. Ten thousand cores of one tree,
# made one after the other, must not hold ten thousand copies of it nor check it as often.
_latest: list[tuple[dict[str, str], Tree]] = []
_agreed: list[tuple[Tree, tuple[str, ...]]] = []


def tree_of(process: str, given: Tree | Mapping[str, str], processes: Iterable[str] | None) -> Tree:
    """The tree of a process, refused unless it is one, with this process and just these in it."""
    named = None if processes is None else tuple(processes)
    if isinstance(given, Tree):
        tree = given
    elif not given and named == (process,):
        tree = Tree({process: process})  # a root that is left out of the keys, and nobody else
    elif _latest and _latest[0][0] == given:
        tree = _latest[0][1]
    else:
        tree = Tree(given)
        _latest[:] = [(dict(given), tree)]
    if process not in tree.index:
        raise LocalProtocolError(f"{process}: isn't in the tree; give it a parent there")
    if named is not None and (not _agreed or _agreed[0][0] is not tree or _agreed[0][1] != named):
        _check_same(process, tree, named)
        _agreed[:] = [(tree, named)]
    return tree


def _check_same(process: str, tree: Tree, processes: tuple[str, ...]) -> None:
    strangers = sorted([check_process(name) for name in processes if name not in tree.index])
    if strangers:
        raise LocalProtocolError(
            f"{process}: {_list(strangers)} among the processes, but not in the tree"
        )
    named = set(processes)
    unnamed = sorted([name for name in tree.names if name not in named])
    if unnamed:
        raise LocalProtocolError(
            f"{process}: {_list(unnamed)} in the tree, but not among the processes"
        )
