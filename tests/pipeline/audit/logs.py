"""Logs to audit: random runs with mistakes in them, and the oracle's judgement of each event."""

import random
from collections.abc import Iterable, Sequence

import pyarrow as pa

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.pipeline.audit.findings import RunFindings
from beforehand.pipeline.audit.judge import judge
from beforehand.pipeline.audit.log_chunks import KINDS, LogChunk, cut
from beforehand.trace import Event

_COLUMNS = pa.schema(
    [
        ("run", pa.string()),
        ("process", pa.string()),
        ("seq", pa.int64()),
        ("kind", pa.int8()),
        ("sender", pa.string()),
        ("mid", pa.int64()),
        ("to", pa.list_(pa.string())),
        ("detail", pa.string()),
    ]
)


class Writer:
    """Records the log of a run, event by event."""

    def __init__(self, run: str = "r") -> None:
        self.run = run
        self.events: list[Event] = []
        self._seq: dict[str, int] = {}
        self._sent: dict[str, int] = {}

    def add(
        self,
        process: str,
        kind: str,
        sender: str | None = None,
        mid: int | None = None,
        to: Sequence[str] | None = None,
        detail: str = "",
    ) -> None:
        """Append an event."""
        self._seq[process] = self._seq.get(process, 0) + 1
        receivers = None if to is None else tuple(to)
        self.events.append(
            Event(
                self.run,
                process,
                self._seq[process],
                kind,
                sender,
                mid,
                receivers,
                0,
                0,
                0,
                detail,
            )
        )

    def send(self, process: str, *to: str) -> MessageId:
        """Append a causal-send, a broadcast if no receiver is given."""
        self._sent[process] = number = self._sent.get(process, 0) + 1
        self.add(process, "send", process, number, to or None)
        return MessageId(process, number)

    def deliver(self, process: str, message: MessageId) -> None:
        """Append a delivery."""
        self.add(process, "deliver", message.sender, message.number)


def random_run(seed: int, *, careless: float = 1.0, run: str = "r") -> list[Event]:
    """Random sends, delivered in random order; a share of the deliveries is repeated, omitted or
    invented. The events are in an order in which they can have happened.
    """
    rng = random.Random(seed)
    names = [f"p{index}" for index in range(rng.randint(2, 8))]
    writer = Writer(run)
    for name in names:
        writer.add(name, "start")
    waiting: list[tuple[str, MessageId]] = []
    for _ in range(rng.randint(1, 60)):
        sender = rng.choice(names)
        to = rng.sample(names, rng.randint(1, min(3, len(names))))
        message = writer.send(sender, *to)
        waiting += [(receiver, message) for receiver in to]
        while waiting and rng.random() < 0.6:
            index = rng.randrange(len(waiting)) if rng.random() < careless else 0
            receiver, message = waiting.pop(index)
            chance = rng.random()
            if chance < 0.03 * careless:
                continue  # lost
            writer.deliver(receiver, message)
            if chance > 1 - 0.03 * careless:
                writer.deliver(receiver, message)
            elif chance > 1 - 0.06 * careless:
                receiver = rng.choice(names)
                # Not a number that is used later on: the delivery might then be genuine.
                sample_report = rng.choice([message.number, 1000])
                writer.deliver(receiver, MessageId(message.sender, sample_report))
    for receiver, message in waiting:
        writer.deliver(receiver, message)
    for name in names:
        writer.add(name, "stop", detail="end of the run")
    return writer.events


def log_chunks_of(events: Iterable[Event], rows_per_batch: int = 1000) -> list[LogChunk]:
    """The log chunks of one run."""
    rows = [
        {
            "run": event.run,
            "process": event.process,
            "seq": event.seq,
            "kind": KINDS.get(event.kind, 0),
            "sender": event.sender,
            "mid": event.mid,
            "to": event.to if event.kind == "send" else None,
            "detail": event.detail,
        }
        for event in events
    ]
    batches = (
        pa.RecordBatch.from_pylist(rows[begin : begin + rows_per_batch], schema=_COLUMNS)
        for begin in range(0, len(rows), rows_per_batch)
    )
    return [LogChunk.unpack(chunk.pack()) for batch in batches for _, chunk in cut(batch)]


def judge_events(events: Iterable[Event], **options: int) -> RunFindings:
    """All findings of the auditor about one run."""
    return judge(log_chunks_of(events), **options)


# kind, process, message, length of the witness chain
Judgement = tuple[str, str, MessageId, int]


def by_oracle(events: Iterable[Event]) -> list[Judgement]:
    """The oracle's judgements of the events, fed to it in this order."""
    oracle = Oracle()
    for event in events:
        if event.kind == "send":
            assert event.to is not None
            oracle.send(event.process, event.to, event.mid)
        elif event.kind == "deliver":
            assert event.sender is not None and event.mid is not None
            oracle.deliver(event.process, MessageId(event.sender, event.mid))
    violations = [(v.kind, v.process, v.message, len(v.chain)) for v in oracle.violations]
    lost = [("lost", process, message, 0) for message, process in oracle.undelivered()]
    return sorted([*violations, *lost])


def by_auditor(findings: RunFindings) -> list[Judgement]:
    """The auditor's findings in the same form."""
    return sorted((v.kind, v.process, v.message, len(v.chain)) for v in findings.violations)
