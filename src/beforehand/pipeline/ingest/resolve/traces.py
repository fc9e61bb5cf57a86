"""Settling our own traces: each causal-send of a run follows all that its process did before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import (
    AFTER_ITSELF,
    MESSAGE,
    NOT_IN_LOG,
    Accepted,
    Duplicate,
    IngestedMessage,
    Outcome,
    ReadRow,
    Rejected,
)
from beforehand.trace.schema import Event


@dataclass
class _Sent:
    """A causal-send, until all of its run is known."""

    row: ReadRow
    event: Event
    after: list[str]


def resolve_trace(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The events and messages of one run, whose rows come by process and `seq`."""
    sent: dict[str, _Sent] = {}
    processes: set[str] = set()
    before: tuple[str, int] | None = None  # the process and seq of the row before
    digests: dict[str, ReadRow] = {}  # of the rows with that seq
    pending: dict[str, None] = {}  # what the next causal-send of the process follows
    for row in rows:
        event = _event(row)
        if before is not None and before == (event.process, event.seq):
            if row.digest in digests:
                yield Duplicate(row)
            else:
                first = next(iter(digests.values()))
                yield Rejected(row, f"another event has the same seq ({first.where})")
            continue
        if before is None or before[0] != event.process:
            pending = {}
        name = f"{event.sender}#{event.mid}"
        if event.kind == "send" and name in sent:
            yield Rejected(row, f"the message {name} was sent before ({sent[name].row.where})")
            continue
        before, digests = (event.process, event.seq), {row.digest: row}
        processes.update((event.process, *(event.to or ())))
        yield event
        if event.kind == "send":
            sent[name] = _Sent(row, event, list(pending))
            pending = {name: None}
            continue  # its verdict comes with its message
        if event.kind == "deliver" and event.sender != event.process:
            pending[name] = None
        yield Accepted(row)
    yield from _messages(sent, sorted(processes))


def _messages(sent: dict[str, _Sent], everybody: list[str]) -> Iterator[Outcome]:
    round_and_round = {
        name
        for cycle in find_cycles({each: one.after for each, one in sent.items()})
        for name in cycle
    }
    for name, one in sent.items():
        if name in round_and_round:
            yield Accepted(one.row, (AFTER_ITSELF,))
            continue
        event = one.event
        to = event.to or tuple(each for each in everybody if each != event.process)
        after = tuple(
            each
            for each in one.after
            if each in sent and each not in round_and_round and _visible(sent[each].event, event)
        )
        flags = () if len(after) == len(one.after) else (NOT_IN_LOG,)
        yield IngestedMessage(
            name,
            event.process,
            to or (event.process,),
            event.time_ns,
            after,
            event.payload_bytes,
            MESSAGE,
            flags,
            one.row,
        )
        yield Accepted(one.row, flags)


def _visible(cause: Event, event: Event) -> bool:
    """Whether a message was for the sender of another, or by it."""
    return cause.to is None or event.process in (cause.process, *cause.to)


def _event(row: ReadRow) -> Event:
    process, seq, kind, sender, mid, to, *rest = row.fields
    return Event("", process, seq, kind, sender, mid, None if to is None else tuple(to), *rest)
