"""Rows as batches of Arrow, in Spark's tasks. Plain Python, no Spark."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa


def record_batches(rows: Iterable[dict[str, Any]], schema: Any, most: int) -> Iterator[Any]:
    """The rows in batches of at most this many."""
    remaining = iter(rows)
    while batch := list(islice(remaining, most)):
        yield pa.RecordBatch.from_pylist(batch, schema=schema)
