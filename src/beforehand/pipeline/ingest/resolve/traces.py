"""Resolving our own traces: each causal-send follows everything that its process did before."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow
from beforehand.trace.schema import Event


@dataclass
class _Sent:
    """A causal-send, kept until its whole run is known."""

    row: ReadRow
    event: Event
    after: list[str]


def resolve_trace(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The events and messages of one run, whose rows come by process and `seq`."""
    sent: dict[str, _Sent] = {}
    processes: set[str] = set()
    before: tuple[str, int] | None = None  # process and seq of the previous row
    digests: dict[str, ReadRow] = {}  # of the rows with that seq
    pending: dict[str, None] = {}  # what the next causal-send of the process follows
    for row in rows:
        event = _event(row)
        if before is not None and before == (event.process, event.seq):
            if row.digest in digests:
                yield outcomes.Duplicate(row)
            else:
                first = next(iter(digests.values()))
                yield outcomes.Rejected(row, f"another event has the same seq ({first.where})")
            continue
        if before is None or before[0] != event.process:
            pending = {}
        name = f"{event.sender}#{event.mid}"
        if event.kind == "send" and name in sent:
            first = sent[name].row
            yield outcomes.Rejected(row, f"the message {name} was sent before ({first.where})")
            continue
        before, digests = (event.process, event.seq), {row.digest: row}
        processes.update((event.process, *(event.to or ())))
        yield event
        if event.kind == "send":
            sent[name] = _Sent(row, event, list(pending))
            pending = {name: None}
            continue  # its verdict follows with its message
        if event.kind == "deliver" and event.sender != event.process:
            pending[name] = None
        yield outcomes.Accepted(row)
    yield from _messages(sent, sorted(processes))


def _messages(sent: dict[str, _Sent], everybody: list[str]) -> Iterator[Outcome]:
    causes = {name: send.after for name, send in sent.items()}
    cyclic = {name for cycle in find_cycles(causes) for name in cycle}
    for name, send in sent.items():
        if name in cyclic:
            yield outcomes.Accepted(send.row, (outcomes.AFTER_ITSELF,))
            continue
        event = send.event
        to = event.to or tuple(process for process in everybody if process != event.process)
        after = tuple(
            cause
            for cause in send.after
            if cause in sent and cause not in cyclic and _visible(sent[cause].event, event)
        )
        flags = () if len(after) == len(send.after) else (outcomes.NOT_IN_LOG,)
        yield outcomes.IngestedMessage(
            id=name,
            sender=event.process,
            to=to or (event.process,),
            time_ns=event.time_ns,
            after=after,
            payload_bytes=event.payload_bytes,
            flags=flags,
            row=send.row,
        )
        yield outcomes.Accepted(send.row, flags)


def _visible(cause: Event, event: Event) -> bool:
    """Whether a message was sent to, or by, the sender of another."""
    return cause.to is None or event.process in (cause.process, *cause.to)


def _event(row: ReadRow) -> Event:
    process, seq, kind, sender, mid, to, *rest = row.fields
    return Event("", process, seq, kind, sender, mid, None if to is None else tuple(to), *rest)
