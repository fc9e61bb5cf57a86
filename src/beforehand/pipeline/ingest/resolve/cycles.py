"""Circles in a relation: what comes before itself. Tarjan's strongly connected components, without
recursion, because chains of parents are long."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def find_cycles(causes: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """The sets of nodes that come before each other; what `causes` does not have as a key is ignored."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    waiting: list[Node] = []  # Tarjan's stack
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for root in causes:
        if root in index:
            continue
        work = [(root, iter(causes[root]))]
        index[root] = low[root] = len(index)
        waiting.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for cause in rest:
                if cause not in causes:
                    continue
                if cause not in index:
                    index[cause] = low[cause] = len(index)
                    waiting.append(cause)
                    on_stack.add(cause)
                    work.append((cause, iter(causes[cause])))
                    break
                if cause in on_stack:
                    low[node] = min(low[node], index[cause])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    together = _taken(waiting, on_stack, node)
                    if len(together) > 1 or node in causes[node]:
                        found.append(together)
    return found


def _taken(waiting: list[Node], on_stack: set[Node], last: Node) -> list[Node]:
    together: list[Node] = []
    while not together or together[-1] != last:
        together.append(waiting.pop())
        on_stack.discard(together[-1])
    return together
