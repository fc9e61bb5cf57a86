"""Resolving a causal graph: a transaction is a message of its agent to all others, after its parents."""

from collections.abc import Iterable, Iterator

from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow


def resolve_graph(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages of one graph, whose rows come in the order of the file."""
    kept: dict[int, ReadRow] = {row.fields[1]: row for row in rows}
    parents: dict[int, list[int]] = {index: row.fields[3] for index, row in kept.items()}
    for cycle in find_cycles(parents):
        for index in sorted(cycle):
            del parents[index]
            yield outcomes.Rejected(
                kept.pop(index), f"its parents form a cycle of {len(cycle)} transactions"
            )
    if not kept:
        return
    everybody = _agents(kept.values())
    with_itself = _concurrent_with_itself(kept, parents)
    for index, row in kept.items():
        _, _, agent, named, time_ns, size = row.fields
        flags = []
        if index in with_itself:
            flags.append(outcomes.WITH_ITSELF)
        if any(parent not in kept for parent in named):
            flags.append(outcomes.MISSING_PARENT)
        yield outcomes.IngestedMessage(
            id=str(index),
            sender=agent,
            to=tuple(other for other in everybody if other != agent) or (agent,),
            time_ns=time_ns,
            after=tuple(str(parent) for parent in dict.fromkeys(named) if parent in kept),
            payload_bytes=size,
            flags=tuple(flags),
            row=row,
        )
        yield outcomes.Accepted(row, tuple(flags))


def _agents(rows: Iterable[ReadRow]) -> list[str]:
    """All agents: those of the transactions, and those that the file declares."""
    names = set()
    for row in rows:
        declared, _, agent, *_ = row.fields
        names.add(agent)
    return sorted(names | {str(number) for number in range(declared)})


def _concurrent_with_itself(kept: dict[int, ReadRow], parents: dict[int, list[int]]) -> set[int]:
    """The transactions that don't follow their agent's previous one."""
    known: dict[
        int, dict[str, int]
    ] = {}  # per transaction: of each agent, its last one up to there
    last: dict[str, int] = {}  # by agent, in visiting order
    concurrent = set()
    for number, index in enumerate(_in_order(parents), 1):
        agent = kept[index].fields[2]
        seen: dict[str, int] = {}
        for parent in parents[index]:
            for other, count in known.get(parent, {}).items():
                if count > seen.get(other, 0):
                    seen[other] = count
        if seen.get(agent, 0) != last.get(agent, 0):
            concurrent.add(index)
        seen[agent] = last[agent] = number
        known[index] = seen
    return concurrent


def _in_order(parents: dict[int, list[int]]) -> Iterator[int]:
    """Parents before children, and otherwise as in the file."""
    done: set[int] = set()
    for index in parents:
        stack = [index]
        while stack:
            if stack[-1] in done:
                stack.pop()
                continue
            missing = [p for p in parents[stack[-1]] if p in parents and p not in done]
            if missing:
                stack += reversed(missing)
            else:
                done.add(stack[-1])
                yield stack.pop()
