"""Resolving a log with vector clocks: the messages that explain the clocks.

An event at p learns of q if its clock has a larger entry for q than p's previous event. Then it has
received a message sent by event number V(e)[q] of q, unless another of the events that it learns of
already knew of that one: only the latest ones are messages, the others follow from them. Everything that
one event sends is one message, whoever receives it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow
from beforehand.trace.schema import Event

At = tuple[str, int]  # an event: its host, and its number there


@dataclass
class _LogEvent:
    """An event of the log, or one that only the clocks of others mention."""

    clock: Mapping[str, int]
    row: ReadRow | None = None
    flags: set[str] = field(default_factory=set)
    sources: list[At] = field(default_factory=list)  # the events whose messages it received
    receivers: set[str] = field(default_factory=set)
    first_receipt: ReadRow | None = None  # the first row that received what it sent


def resolve_clocks(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages and events of one execution, and the verdict on each row of the log."""
    log: dict[At, ReadRow] = {}
    for row in rows:
        host, clock, _ = row.fields
        at = (host, clock[host])
        if at not in log:
            log[at] = row
        elif log[at].digest == row.digest:
            yield outcomes.Duplicate(row)
        else:
            yield outcomes.Rejected(row, f"event {_name(at)} exists already ({log[at].where})")
    for at, reason in _going_back(log):
        yield outcomes.Rejected(log.pop(at), reason)
    while True:
        events = _reconstructed(log)
        bad = [at for cycle in find_cycles(_causes(events)) for at in cycle if at in log]
        if not bad:
            break
        for at in bad:
            yield outcomes.Rejected(
                log.pop(at), "its clock and others contradict each other: they form a cycle"
            )
    yield from _messages(events)
    for event in events.values():
        if event.row is not None:
            yield outcomes.Accepted(event.row, tuple(sorted(event.flags)))


def _going_back(log: Mapping[At, ReadRow]) -> list[tuple[At, str]]:
    """Events whose clocks know less than their host's previous event."""
    rejects = []
    before: dict[str, tuple[At, Mapping[str, int]]] = {}
    for at in sorted(log):
        host, clock = at[0], log[at].fields[1]
        earlier, known = before.get(host, (at, {}))
        worse = next((q for q, count in known.items() if clock.get(q, 0) < count), None)
        if worse is None:
            before[host] = (at, clock)
        else:
            rejects.append(
                (at, f"its clock knows less of {worse!a} than that of {_name(earlier)} before it")
            )
    return rejects


def _reconstructed(log: Mapping[At, ReadRow]) -> dict[At, _LogEvent]:
    """The events by host and number, each with the events it received from."""
    mentioned = {at for row in log.values() for at in row.fields[1].items()}
    events: dict[At, _LogEvent] = {}
    before: tuple[str, Mapping[str, int]] = ("", {})
    needed: set[At] = set()
    for at in sorted(mentioned | log.keys()):
        (host, number), row = at, log.get(at)
        known = before[1] if before[0] == host else {}
        clock = {**known, host: number} if row is None else row.fields[1]
        event = events[at] = _LogEvent(clock, row)
        if row is not None:
            if (host, number - 1) not in log and number > 1:
                event.flags.add(outcomes.GAP)
            event.sources = [(q, n) for q, n in clock.items() if q != host and n > known.get(q, 0)]
        before = (host, clock)
    for at, event in events.items():
        event.sources = sorted(_latest(event.sources, events))
        for source in event.sources:
            needed.add(source)
            sender = events[source]
            sender.receivers.add(at[0])
            sender.first_receipt = sender.first_receipt or event.row
            if sender.row is None:
                event.flags.add(outcomes.NOT_IN_LOG)
    # Events that are neither in the log nor the source of a message are dropped.
    return {at: event for at, event in events.items() if event.row is not None or at in needed}


def _latest(sources: list[At], events: Mapping[At, _LogEvent]) -> Iterator[At]:
    """The events that no other one of them knew of."""
    for q, number in sources:
        if not any(r != q and events[r, n].clock.get(q, 0) >= number for r, n in sources):
            yield q, number


def _causes(events: Mapping[At, _LogEvent]) -> dict[At, list[At]]:
    causes: dict[At, list[At]] = {}
    before: At = ("", 0)
    for at, event in events.items():
        causes[at] = [*event.sources, *([before] if before[0] == at[0] else [])]
        before = at
    return causes


def _messages(events: Mapping[At, _LogEvent]) -> Iterator[Outcome]:
    """What each host sent and received, in the order of its events."""
    numbers: dict[At, int] = {}  # of each message among those of its sender
    counts: dict[str, int] = {}
    for at, event in events.items():
        if event.receivers:
            numbers[at] = counts[at[0]] = counts.get(at[0], 0) + 1
    host, seq = "", 0
    pending: list[str] = []  # what the next message of this host follows
    for at, event in events.items():
        if at[0] != host:
            host, seq, pending = at[0], 0, []
        for source in event.sources:
            seq += 1
            pending.append(_name(source))
            yield _event(at, seq, "deliver", source, numbers[source], None)
        if not event.receivers:
            continue
        seq += 1
        to = tuple(sorted(event.receivers))
        yield _event(at, seq, "send", at, numbers[at], to)
        row = event.row or event.first_receipt
        assert row is not None  # it was received
        flags = set(event.flags) | ({outcomes.NOT_IN_LOG} if event.row is None else set())
        yield outcomes.IngestedMessage(
            id=_name(at),
            sender=host,
            to=to,
            time_ns=0,
            after=tuple(pending),
            flags=tuple(sorted(flags)),
            row=row,
        )
        pending = [_name(at)]


def _event(at: At, seq: int, kind: str, source: At, mid: int, to: tuple[str, ...] | None) -> Event:
    return Event(
        run="",
        process=at[0],
        seq=seq,
        kind=kind,
        sender=source[0],
        mid=mid,
        to=to,
        time_ns=0,
        payload_bytes=0,
        meta_bytes=0,
        detail=_name(at),
    )


def _name(at: At) -> str:
    return f"{at[0]}:{at[1]}"
