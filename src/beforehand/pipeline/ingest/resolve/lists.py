"""Settling a list of messages: a message follows what its sender sent before, and what it received
at an earlier time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from beforehand.pipeline.ingest.resolve.outcomes import (
    MESSAGE,
    Accepted,
    Duplicate,
    IngestedMessage,
    Outcome,
    ReadRow,
)


@dataclass
class _Person:
    """What somebody has done and heard so far."""

    last: str | None = None  # sent
    heard: deque[tuple[int, str, str]] = field(
        default_factory=deque
    )  # time, sender, id; since then


def resolve_list(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages of one list, whose rows come by time, then by file and place."""
    people: dict[str, _Person] = {}
    now: int | None = None
    same_time: dict[tuple[object, ...], str] = {}  # the rows of this instant, and their files
    for row in rows:
        sender, receiver, time_ns, size, _ = row.fields
        if time_ns != now:
            now = time_ns
            same_time.clear()
        if same_time.setdefault(row.fields, row.file) != row.file:
            yield Duplicate(row)  # files that overlap; see read/lists.py
            continue
        name = f"{row.file.rpartition('/')[2]}:{row.position}"
        one = people.setdefault(sender, _Person())
        yield IngestedMessage(
            name, sender, (receiver,), time_ns, _after(one, time_ns), size, MESSAGE, (), row
        )
        yield Accepted(row)
        one.last = name
        if receiver != sender:
            people.setdefault(receiver, _Person()).heard.append((time_ns, sender, name))


def _after(one: _Person, time_ns: int) -> tuple[str, ...]:
    """The last that somebody sent, and what he heard since: of each sender the last implies the rest."""
    since: dict[str, str] = {}
    while one.heard and one.heard[0][0] < time_ns:
        _, sender, name = one.heard.popleft()
        since[sender] = name
    return (*(() if one.last is None else (one.last,)), *since.values())
