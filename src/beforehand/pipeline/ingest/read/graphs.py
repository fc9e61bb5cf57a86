"""Causal graphs as in the editing traces: transactions with their parents and their agents."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from beforehand.pipeline.ingest.read.json_documents import canonical, document
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.values import entry, integer, process
from beforehand.trace.checks import shown

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_AGENTS = 100_000  # each message names all of them


def read_graph(data: bytes) -> Iterator[Row | BadRow]:
    """The transactions of a file; the first field of each row is the number of agents it declares."""
    content = document(data)
    txns = content.get("txns") if isinstance(content, dict) else None
    if not isinstance(txns, list):
        raise FileError(
            'not a causal graph: it should be like {"txns": [{"parents": [], "agent": 0}]}'
        )
    declared = content.get("numAgents", 0)
    if type(declared) is not int or not 0 <= declared <= _MOST_AGENTS:
        raise FileError(f"numAgents is {shown(declared)}, not a number from 0 to {_MOST_AGENTS}")
    for index, txn in enumerate(txns):
        raw = canonical(txn)
        try:
            yield Row(index + 1, raw, (declared, index, *_txn(txn)), order=index)
        except RowError as problem:
            yield BadRow(index + 1, raw, str(problem))


def _txn(fields: Any) -> tuple[str, list[int], int, int | None]:
    """Agent, parents, time, and the bytes that it inserts."""
    if not isinstance(fields, dict):
        raise RowError("not an object with the fields of a transaction")
    parents = entry(fields, "parents")
    if not isinstance(parents, list):
        raise RowError(f"parents is {shown(parents)}, not a list of indices")
    agent = entry(fields, "agent")
    name = str(agent) if type(agent) is int else agent
    return (
        process(name, "agent"),
        [integer(parent, "a parent", 0) for parent in parents],
        _time(fields.get("time")),
        _inserted(fields.get("patches")),
    )


def _time(value: object) -> int:
    """Nanoseconds since 1970 of a time like 2023-05-01T12:00:00Z; 0 if there is none."""
    if value is None:
        return 0
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise RowError(f"time is {shown(value)}, not like 2023-05-01T12:00:00Z") from None
    since = time.replace(tzinfo=time.tzinfo or UTC) - _EPOCH
    return integer((since // timedelta(microseconds=1)) * 1000, "time")


def _inserted(patches: object) -> int | None:
    if patches is None:
        return None
    if not isinstance(patches, list):
        raise RowError(f"patches is {shown(patches)}, not a list")
    total = 0
    for patch in patches:
        if not isinstance(patch, list) or len(patch) != 3 or not isinstance(patch[2], str):
            raise RowError(f"the patch {shown(patch)} is not like [position, deleted, inserted]")
        total += len(patch[2].encode("utf-8", "surrogatepass"))
    return total
