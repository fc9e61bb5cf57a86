"""Steps from batches to batches that several stages share. Plain Arrow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline.engine.engine import Batches, Work


def record_batches(rows: Iterable[dict[str, Any]], schema: pa.Schema, most: int) -> Batches:
    """The rows in batches of at most this many."""
    remaining = iter(rows)
    while batch := list(islice(remaining, most)):
        yield pa.RecordBatch.from_pylist(batch, schema=schema)


def composed(batches: Batches, first: Work, second: Work) -> Batches:
    """One step after the other."""
    return second(first(batches))


def typed(batches: Batches, schema: pa.Schema) -> Batches:
    """The columns of a schema as it declares them; readers of files have types of their own."""
    for batch in batches:
        columns = [batch.column(name).cast(schema.field(name).type) for name in schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def unnested(batches: Batches, column: str) -> Batches:
    """The rows that a column of structs holds, without its nulls."""
    for batch in batches:
        structs = batch.column(column)
        if structs.null_count < len(structs):
            yield pa.RecordBatch.from_struct_array(structs.filter(structs.is_valid()))


def replaced(batches: Batches, column: str, names: Mapping[str, str]) -> Batches:
    """The same rows with other values in a column of text."""
    old, new = pa.array(names.keys(), pa.string()), pa.array(names.values(), pa.string())
    for batch in batches:
        index = batch.schema.get_field_index(column)
        values = new.take(pc.index_in(batch.column(index), value_set=old))
        yield batch.set_column(index, batch.schema.field(index), values)


def selected(batches: Batches, column: str, value: str) -> Batches:
    """The rows with this value in a column of text."""
    for batch in batches:
        rows = batch.filter(pc.equal(batch.column(column), value))
        if rows.num_rows:
            yield rows


def arranged(batches: Batches, schema: pa.Schema, by: Sequence[str]) -> Batches:
    """All rows, sorted; text by its bytes, as Spark does."""
    table = pa.Table.from_batches(batches, schema)
    # 32-bit offsets of text overflow at 2 GiB: sort indices first, then take piece by piece.
    order = pc.sort_indices(table, [(name, "ascending") for name in by])
    return _pieces(table, order)


def _pieces(table: pa.Table, order: Any, rows: int = 1 << 16) -> Iterator[pa.RecordBatch]:
    for begin in range(0, len(order), rows):
        yield from table.take(order.slice(begin, rows)).combine_chunks().to_batches()


def by_key(batches: Batches, schema: pa.Schema, key: str) -> Iterator[pa.Table]:
    """The rows of each value of a column of text, by which they are sorted, as a table of their own."""
    current: str | None = None
    mine: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        values = batch.column(key).dictionary_encode()
        edges = [0, *(np.flatnonzero(np.diff(values.indices.to_numpy())) + 1), batch.num_rows]
        for begin, end in pairwise(edges):
            value = batch.column(key)[begin].as_py()
            if value != current and mine:
                yield pa.Table.from_batches(mine, schema)
                mine = []
            current = value
            mine.append(batch.slice(begin, end - begin))
    if mine:
        yield pa.Table.from_batches(mine, schema)
