"""Settling a causal graph: a transaction is a message of its agent to all others, after its parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import (
    MESSAGE,
    MISSING_PARENT,
    WITH_ITSELF,
    Accepted,
    IngestedMessage,
    Outcome,
    ReadRow,
    Rejected,
)


def resolve_graph(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages of one graph, whose rows come by their places."""
    kept: dict[int, ReadRow] = {row.fields[1]: row for row in rows}
    parents: dict[int, list[int]] = {place: row.fields[3] for place, row in kept.items()}
    for cycle in find_cycles(parents):
        for place in sorted(cycle):
            del parents[place]
            yield Rejected(
                kept.pop(place), f"its parents form a cycle, of {len(cycle)} transactions"
            )
    if not kept:
        return
    everybody = _agents(kept.values())
    alone = _concurrent_with_itself(kept, parents)
    for place, row in kept.items():
        _, _, agent, named, time_ns, size = row.fields
        after = tuple(str(each) for each in dict.fromkeys(named) if each in kept)
        flags = set()
        if any(each not in kept for each in named):
            flags.add(MISSING_PARENT)
        if place in alone:
            flags.add(WITH_ITSELF)
        others = tuple(each for each in everybody if each != agent) or (agent,)
        odd = tuple(sorted(flags))
        yield IngestedMessage(str(place), agent, others, time_ns, after, size, MESSAGE, odd, row)
        yield Accepted(row, odd)


def _agents(rows: Iterable[ReadRow]) -> list[str]:
    """All who take part: those who wrote, and those whom the file declares."""
    names = set()
    for row in rows:
        declared, _, agent, *_ = row.fields
        names.add(agent)
    return sorted(names | {str(number) for number in range(declared)})


def _concurrent_with_itself(kept: dict[int, ReadRow], parents: dict[int, list[int]]) -> set[int]:
    """The transactions that do not follow the one before them of the same agent."""
    known: dict[int, dict[str, int]] = {}  # of each agent the last one before or at a transaction
    last: dict[str, int] = {}  # by agent, in the order of the visit
    found = set()
    for number, place in enumerate(_in_order(parents), 1):
        agent = kept[place].fields[2]
        seen: dict[str, int] = {}
        for parent in parents[place]:
            for other, count in known.get(parent, {}).items():
                if count > seen.get(other, 0):
                    seen[other] = count
        if seen.get(agent, 0) != last.get(agent, 0):
            found.add(place)
        seen[agent] = last[agent] = number
        known[place] = seen
    return found


def _in_order(parents: dict[int, list[int]]) -> Iterator[int]:
    """Parents before children, and otherwise as in the file."""
    done: set[int] = set()
    for place in parents:
        stack = [place]
        while stack:
            if stack[-1] in done:
                stack.pop()
                continue
            missing = [each for each in parents[stack[-1]] if each in parents and each not in done]
            if missing:
                stack += reversed(missing)
            else:
                done.add(stack[-1])
                yield stack.pop()
