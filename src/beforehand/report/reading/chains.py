"""The diagram of a violation: the chain of messages that proves it, and the processes on it.

The events come from the trace. Without a trace, the chain alone determines what must have happened:
each sender but the first delivered the message before its own, and the last one was delivered too early.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.report.reading.traces import MessageKey, TraceRow
from beforehand.report.reading.values import Row

SHOWN: Final = ("send", "release", "receive", "deliver", "hold")
OF_TRACE: Final = "Only the messages of the chain, and the processes on it."
OF_CHAIN: Final = (
    "Drawn from the chain of messages alone, since there is no trace: the order is right, and there "
    "are no times."
)


def messages_of(violation: Row) -> tuple[MessageKey, ...]:
    """The chain: from the message that came late to the one that came too early."""
    names = [name.rpartition("#") for name in violation["chain"] or ()]
    if not all(number.isdecimal() for _, _, number in names):
        return ()
    return tuple(MessageKey(violation["run"], sender, int(number)) for sender, _, number in names)


def draw(violation: Row, events: Mapping[MessageKey, Sequence[TraceRow]]) -> Diagram | None:
    """The diagram, if there is a chain; `events` are those of its messages, if there is a trace."""
    chain = messages_of(violation)
    if not chain:
        return None
    processes = {violation["process"], *(message.sender for message in chain)}
    on_chain = (event for message in chain for event in events.get(message, ()))
    shown = list(_among(processes, on_chain))
    late = (violation["process"], violation["seq"])
    note = OF_TRACE
    if late not in {(event.process, event.seq) for event in shown}:
        shown = _reconstructed(chain, violation["process"])
        late, note = (shown[-1].process, shown[-1].seq), OF_CHAIN
    diagram = build(shown, run=violation["run"], flags={late: violation["sentence"]})
    return replace(diagram, axis="order", note=note)


def _among(processes: set[str], events: Iterable[TraceRow]) -> Iterable[TraceRow]:
    """Events between these processes; arrows to others would lead nowhere."""
    for event in events:
        if event.process not in processes or event.kind not in SHOWN:
            continue
        to = None if event.to is None else tuple(name for name in event.to if name in processes)
        if to or event.to is None or event.kind == "send":
            yield event._replace(to=to)


def _reconstructed(chain: Sequence[MessageKey], process: str) -> list[TraceRow]:
    """What must have happened; the last event is the late delivery."""
    counts: Counter[str] = Counter()
    events: list[TraceRow] = []

    def add(at: str, kind: str, message: MessageKey, to: tuple[str, ...] | None = None) -> None:
        counts[at] += 1
        row = TraceRow(message.run, at, counts[at], kind, message.sender, message.mid, to)
        events.append(row._replace(time_ns=len(events)))

    receivers = [*(message.sender for message in chain[1:]), process]
    for index, (message, receiver) in enumerate(zip(chain, receivers, strict=True)):
        if index and chain[index - 1].sender != message.sender:
            add(message.sender, "deliver", chain[index - 1])
        to = {receiver} if index else {receiver, process}
        add(message.sender, "send", message, tuple(sorted(to - {message.sender})))
    add(process, "deliver", chain[-1])
    add(process, "deliver", chain[0])
    return events
