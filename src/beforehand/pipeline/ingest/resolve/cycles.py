"""Cycles in a relation, by Tarjan's strongly connected components; without recursion, because chains of
parents are long."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def find_cycles(causes: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """The sets of nodes that precede each other; nodes that aren't keys of `causes` are ignored."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    waiting: list[Node] = []  # Tarjan's stack
    on_stack: set[Node] = set()
    cycles: list[list[Node]] = []
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
                    component = _pop_component(waiting, on_stack, node)
                    if len(component) > 1 or node in causes[node]:
                        cycles.append(component)
    return cycles


def _pop_component(waiting: list[Node], on_stack: set[Node], last: Node) -> list[Node]:
    component: list[Node] = []
    while not component or component[-1] != last:
        component.append(waiting.pop())
        on_stack.discard(component[-1])
    return component
