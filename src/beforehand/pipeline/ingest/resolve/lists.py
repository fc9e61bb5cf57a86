"""Resolving a list of messages: a message follows what its sender sent before, and what it received
at an earlier time."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow


@dataclass
class _Process:
    """What a process has sent and received so far."""

    last: str | None = None  # message that it sent
    # Time, sender and id of what it received since then.
    received: deque[tuple[int, str, str]] = field(default_factory=deque)


def resolve_list(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages of one list, whose rows come by time, then by file and position."""
    processes: dict[str, _Process] = {}
    now: int | None = None
    same_time: dict[tuple[object, ...], str] = {}  # rows of this instant, and their files
    for row in rows:
        sender, receiver, time_ns, size, _ = row.fields
        if time_ns != now:
            now = time_ns
            same_time.clear()
        if same_time.setdefault(row.fields, row.file) != row.file:
            yield outcomes.Duplicate(row)  # overlapping files; see read/lists.py
            continue
        name = f"{row.file.rpartition('/')[2]}:{row.position}"
        process = processes.setdefault(sender, _Process())
        yield outcomes.IngestedMessage(
            id=name,
            sender=sender,
            to=(receiver,),
            time_ns=time_ns,
            after=_after(process, time_ns),
            payload_bytes=size,
            row=row,
        )
        yield outcomes.Accepted(row)
        process.last = name
        if receiver != sender:
            received = processes.setdefault(receiver, _Process()).received
            received.append((time_ns, sender, name))


def _after(process: _Process, time_ns: int) -> tuple[str, ...]:
    """The last message that a process sent, and the last one it has received from each sender since."""
    since: dict[str, str] = {}
    while process.received and process.received[0][0] < time_ns:
        _, sender, name = process.received.popleft()
        since[sender] = name
    return (*(() if process.last is None else (process.last,)), *since.values())
