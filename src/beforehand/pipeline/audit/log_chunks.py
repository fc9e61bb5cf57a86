"""Chunks of a log: what the auditor needs of some events of one run, packed tightly.

A chunk is built from one Arrow batch of events, whatever their order, and travels as a few byte strings.
So Spark moves hundreds of rows instead of millions of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beforehand._kernel import Ints
from beforehand.errors import TraceError
from beforehand.pipeline.audit.kernels.assembly import ChunkEvents
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

# Details of a `stop`: of a process that isn't gone, and of a run that ended before all had arrived.
ENDED: Final = ("", "end of the run")
CUT: Final = "cut short"


@dataclass(frozen=True)
class LogChunk:
    """Some causal-sends and deliveries; processes are indices into `names`."""

    names: list[str]
    rows: Ints  # int64: of each process, how many events of any kind there are
    last: Ints  # int64: and the greatest `seq` of them, 0 if there are none
    flags: Ints  # uint8: see run_log.py
    events: ChunkEvents

    def pack(self) -> dict[str, Any]:
        """The chunk as values that Arrow can hold, with as few bytes per number as possible."""
        packed: dict[str, Any] = {"names": self.names}
        arrays = {"rows": self.rows, "last": self.last, "flags": self.flags}
        for name, values in {**arrays, **self.events._asdict()}.items():
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
        rows, last, flags = (arrays.pop(name) for name in ("rows", "last", "flags"))
        return LogChunk(row["names"], rows, last, flags, ChunkEvents(**arrays))


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
    """The chunks of a batch, one for each run in it.

    Its columns are run, process, seq, kind (as in KINDS, 0 for other kinds, -1 for unknown ones),
    sender, mid, to and detail. Text may be plain or dictionary-encoded.
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
    for name, (begin, end) in zip(names, pairwise(edges), strict=True):
        if begin < end:
            yield name, _chunk(sorted_batch.slice(begin, end - begin))


def _dictionary(column: Any) -> Any:
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _check(batch: Any) -> None:
    """Raise TraceError if a row makes no sense; the trace reader then reports which one, and why."""
    for name in ("run", "process", "seq", "kind"):
        if batch.column(name).null_count:
            raise TraceError(f"some events have no `{name}`")
    kind = batch.column("kind").to_numpy()
    has_message = (kind == SEND) | (kind == DELIVER)
    mid = batch.column("mid").fill_null(0).to_numpy(zero_copy_only=False)
    has_sender = batch.column("sender").is_valid().to_numpy(zero_copy_only=False)
    if (
        (kind < 0).any()
        or (batch.column("seq").to_numpy() < 1).any()
        or (mid[has_message] < 1).any()
        or not has_sender[has_message | (kind == EVICT)].all()
    ):
        raise TraceError("some events make no sense")


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
    if not is_send[sizes > 0].all():  # other kinds may have receivers too
        to = to[np.repeat(is_send[sizes > 0], sizes[sizes > 0])]
    events = ChunkEvents(
        process=process[wanted],
        seq=seq[wanted],
        is_send=is_send[wanted].astype(np.uint8),
        sender=sender[wanted],
        number=batch.column("mid").fill_null(0).to_numpy(zero_copy_only=False)[wanted],
        to_size=sizes[is_send].astype(np.int32),
        to=to,
    )
    flags = _flags(batch, kind, process, sender, len(names))
    return LogChunk(names, rows, last, flags, events)


def _encoded(process: Any, sender: Any, to: Any) -> tuple[list[str], Ints, Ints, Ints]:
    """All names that occur, and three columns of them as indices; -1 for null."""
    positions: dict[str, int] = {}
    columns = []
    for column in map(_dictionary, (process, sender, to)):
        values = [
            positions.setdefault(name, len(positions)) for name in column.dictionary.to_pylist()
        ]
        index = np.array([*values, -1], np.int32)  # the last is for null
        columns.append(index[column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)])
    # A dictionary may contain the names of other runs too.
    used = np.zeros(len(positions) + 1, bool)
    for column in columns:
        used[column] = True
    used[-1] = False
    index = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    names = [name for name, position in positions.items() if used[position]]
    return names, index[columns[0]], index[columns[1]], index[columns[2]]


def _flags(batch: Any, kind: Ints, process: Ints, sender: Ints, count: int) -> Ints:
    flags = np.zeros(count, np.uint8)
    for event in np.flatnonzero(kind >= EVICT).tolist():
        detail = batch.column("detail")[event].as_py()
        if kind[event] == EVICT:
            flags[sender[event]] |= GONE
        elif kind[event] == START:
            flags[process[event]] |= STARTED | (JOINED if detail else 0)
        elif detail == CUT:
            flags[process[event]] |= STOPPED | CUT_SHORT
        else:
            flags[process[event]] |= STOPPED | (0 if detail in ENDED else GONE)
    return flags
