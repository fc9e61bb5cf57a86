"""The diagram of a violation: the chain of messages that shows it, and who took part.

The events come from the trace. Where it is gone, the chain alone determines what must have happened:
each sender but the first delivered the message before its own, and the last one came too early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.report.reading.traces import MessageKey, TraceRow

SHOWN: Final = ("send", "release", "receive", "deliver", "hold")
OF_TRACE: Final = "Only the messages of the chain, and the processes on it."
OF_CHAIN: Final = (
    "Drawn from the chain of messages alone, since there is no trace: the order is right, and there "
    "are no times."
)

Row = Mapping[str, Any]


def messages_of(violation: Row) -> tuple[MessageKey, ...]:
    """The chain: from the message that came late to the one that came too early."""
    found = []
    for name in violation["chain"] or ():
        sender, _, number = name.rpartition("#")
        if not number.isdecimal():
            return ()
        found.append(MessageKey(violation["run"], sender, int(number)))
    return tuple(found)


def draw(violation: Row, events: Mapping[MessageKey, Sequence[TraceRow]]) -> Diagram | None:
    """The diagram, if there is a chain; `events` are those of its messages, if there is a trace."""
    chain = messages_of(violation)
    if not chain:
        return None
    cast = {violation["process"], *(message.sender for message in chain)}
    found = list(_among(cast, (event for each in chain for event in events.get(each, ()))))
    late = (violation["process"], violation["seq"])
    note = OF_TRACE
    if late not in {(event.process, event.seq) for event in found}:
        found = _reconstructed(chain, violation["process"])
        last = found[-1]
        late, note = (last.process, last.seq), OF_CHAIN
    drawn = build(found, run=violation["run"], flags={late: violation["sentence"]})
    return replace(drawn, axis="order", note=note)


def _among(cast: set[str], events: Iterable[TraceRow]) -> Iterable[TraceRow]:
    """Events between the participants; arrows to others would lead nowhere."""
    for event in events:
        if event.process not in cast or event.kind not in SHOWN:
            continue
        to = None if event.to is None else tuple(name for name in event.to if name in cast)
        if to or event.to is None or event.kind == "send":
            yield event._replace(to=to)


def _reconstructed(chain: Sequence[MessageKey], process: str) -> list[TraceRow]:
    """What must have happened; the last event is the late delivery."""
    counts: Counter[str] = Counter()
    found: list[TraceRow] = []

    def add(who: str, kind: str, message: MessageKey, to: tuple[str, ...] | None = None) -> None:
        counts[who] += 1
        place = len(found)
        found.append(
            TraceRow(
                message.run,
                who,
                counts[who],
                kind,
                message.sender,
                message.mid,
                to,
                place,
                0,
                0,
                "",
            )
        )

    for place, message in enumerate(chain):
        before = chain[place - 1] if place else None
        if before is not None and before.sender != message.sender:
            add(message.sender, "deliver", before)
        after = chain[place + 1].sender if place + 1 < len(chain) else process
        to = {after, *((process,) if not place else ())} - {message.sender}
        add(message.sender, "send", message, tuple(sorted(to)))
    add(process, "deliver", chain[-1])
    add(process, "deliver", chain[0])
    return found
