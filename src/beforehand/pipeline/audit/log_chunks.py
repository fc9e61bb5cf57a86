"""Pieces of a log: what the auditor needs of some events of one run, as small as it gets.

A chunk is made of one Arrow batch of events, whatever their order, and travels as a few blocks of bytes.
So Spark moves hundreds of rows where there were millions of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beforehand._kernel import Ints
from beforehand.errors import TraceError
from beforehand.pipeline.audit.run_log import CUT_SHORT, GONE, JOINED, STARTED, STOPPED
from beforehand.trace import KINDS as EVERY_KIND

SEND: Final = 1
DELIVER: Final = 2
EVICT: Final = 3
START: Final = 4
STOP: Final = 5
KINDS: Final = {"send": SEND, "deliver": DELIVER, "evict": EVICT, "start": START, "stop": STOP}
CODES: Final = {kind: KINDS.get(kind, 0) for kind in EVERY_KIND}
UNKNOWN: Final = -1

# How a process may stop without being missed, and how a run is ended before everything has arrived.
ENDED: Final = ("", "end of the run")
CUT: Final = "cut short"


@dataclass(frozen=True)
class LogChunk:
    """Some causal-sends and deliveries; processes are places in `names`."""

    names: list[str]
    rows: Ints  # int64: of each process, how many events of any kind there are
    last: Ints  # int64: and the greatest `seq` of them, 0 if there are none
    flags: Ints  # uint8: see log.py
    process: Ints  # int32: of each causal-send and delivery
    seq: Ints  # int64
    is_send: Ints  # uint8
    sender: Ints  # int32
    number: Ints  # int64
    to_size: Ints  # int32: of each causal-send, how many receivers it has; -1: everybody
    to: Ints  # int32: all of these

    def pack(self) -> dict[str, Any]:
        """The chunk as values that Arrow can hold, with as few bytes for a number as it needs."""
        packed: dict[str, Any] = {"names": self.names}
        for name in ARRAYS:
            values = getattr(self, name)
            width = next(kind for kind in _WIDTHS if _fits(values, kind))
            packed[name] = values.astype(width, copy=False).tobytes()
        return packed

    @staticmethod
    def unpack(row: dict[str, Any]) -> LogChunk:
        """The opposite of `pack`."""
        counts = {"rows": len(row["names"])}
        counts |= dict.fromkeys(("last", "flags"), counts["rows"])
        is_send = np.frombuffer(row["is_send"], np.uint8)
        counts |= dict.fromkeys(("process", "seq", "is_send", "sender", "number"), len(is_send))
        counts["to_size"] = int(is_send.sum())
        arrays: dict[str, Ints] = {}
        for name, kind in ARRAYS.items():
            if name == "to":
                counts["to"] = int(np.maximum(arrays["to_size"], 0).sum())
            bytes_each = len(row[name]) // counts[name] if counts[name] else 1
            stored = np.frombuffer(row[name], f"i{bytes_each}")
            arrays[name] = stored.astype(kind, copy=False)
        return LogChunk(row["names"], **arrays)


ARRAYS: Final[dict[str, type[np.generic]]] = {
    "rows": np.int64,
    "last": np.int64,
    "flags": np.uint8,
    "process": np.int32,
    "seq": np.int64,
    "is_send": np.uint8,
    "sender": np.int32,
    "number": np.int64,
    "to_size": np.int32,
    "to": np.int32,
}
_WIDTHS: Final = (np.int8, np.int16, np.int32, np.int64)


def _fits(values: Ints, kind: type[np.signedinteger[Any]]) -> bool:
    limits = np.iinfo(kind)
    return not len(values) or (limits.min <= values.min() and values.max() <= limits.max)


def cut(batch: Any) -> Iterator[tuple[str, LogChunk]]:
    """The chunks of a batch with the columns run, process, seq, kind (as in KINDS, 0 for others, -1
    for what there is not), sender, mid, to and detail; one for each run in it.

    Text may be plain or a dictionary.
    """
    _check(batch)
    runs = _dictionary(batch.column("run"))
    names = runs.dictionary.to_pylist()
    if len(names) == 1:
        yield names[0], _chunk(batch)
        return
    owners = runs.indices.to_numpy()
    if not (owners != owners[:1]).any():
        yield names[owners[0]], _chunk(batch)
        return
    order = np.argsort(owners, kind="stable")
    sorted_batch = batch.take(pa.array(order))
    edges = np.searchsorted(owners[order], np.arange(len(names) + 1))
    for place, name in enumerate(names):
        if edges[place] < edges[place + 1]:
            yield name, _chunk(sorted_batch.slice(edges[place], edges[place + 1] - edges[place]))


def _dictionary(column: Any) -> Any:
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _check(batch: Any) -> None:
    """Raise TraceError if a row makes no sense; the reader of traces can say which, and why."""
    for name in ("run", "process", "seq", "kind"):
        if batch.column(name).null_count:
            raise TraceError(f"there are events without `{name}`")
    kind = batch.column("kind").to_numpy()
    about = (kind == SEND) | (kind == DELIVER)
    mid = batch.column("mid").fill_null(0).to_numpy(zero_copy_only=False)
    named = batch.column("sender").is_valid().to_numpy(zero_copy_only=False)
    if (
        (kind < 0).any()
        or (batch.column("seq").to_numpy() < 1).any()
        or (mid[about] < 1).any()
        or not named[about | (kind == EVICT)].all()
    ):
        raise TraceError("there are events that make no sense")


def _chunk(batch: Any) -> LogChunk:
    kind = batch.column("kind").to_numpy()
    lists = batch.column("to")
    names, process, sender, to = _encoded(
        batch.column("process"), batch.column("sender"), lists.flatten()
    )
    seq = batch.column("seq").to_numpy()
    rows = np.bincount(process, minlength=len(names))
    last = np.zeros(len(names), np.int64)
    np.maximum.at(last, process, seq)
    is_send = kind == SEND
    wanted = is_send | (kind == DELIVER)
    sizes = lists.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False)
    if not is_send[sizes > 0].all():  # other kinds may name somebody too
        to = to[np.repeat(is_send[sizes > 0], sizes[sizes > 0])]
    return LogChunk(
        names,
        rows,
        last,
        _flags(batch, kind, process, sender, len(names)),
        process[wanted],
        seq[wanted],
        is_send[wanted].astype(np.uint8),
        sender[wanted],
        batch.column("mid").fill_null(0).to_numpy(zero_copy_only=False)[wanted],
        sizes[is_send].astype(np.int32),
        to,
    )


def _encoded(process: Any, sender: Any, to: Any) -> tuple[list[str], Ints, Ints, Ints]:
    """All names that occur, and three columns of them as places; -1 for null."""
    places: dict[str, int] = {}
    columns = []
    for column in map(_dictionary, (process, sender, to)):
        values = [places.setdefault(name, len(places)) for name in column.dictionary.to_pylist()]
        index = np.array([*values, -1], np.int32)  # the last is for null
        columns.append(index[column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)])
    # A dictionary may have the names of other runs too.
    used = np.zeros(len(places) + 1, bool)
    for column in columns:
        used[column] = True
    used[-1] = False
    index = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    names = [name for name, place in places.items() if used[place]]
    return names, index[columns[0]], index[columns[1]], index[columns[2]]


def _flags(batch: Any, kind: Ints, process: Ints, sender: Ints, count: int) -> Ints:
    flags = np.zeros(count, np.uint8)
    for place in np.flatnonzero(kind >= EVICT).tolist():
        detail = batch.column("detail")[place].as_py()
        if kind[place] == EVICT:
            flags[sender[place]] |= GONE
        elif kind[place] == START:
            flags[process[place]] |= STARTED | (JOINED if detail else 0)
        elif detail == CUT:
            flags[process[place]] |= STOPPED | CUT_SHORT
        else:
            flags[process[place]] |= STOPPED | (0 if detail in ENDED else GONE)
    return flags
