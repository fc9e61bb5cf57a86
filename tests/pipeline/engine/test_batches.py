"""Steps from batches to batches: no row is lost, none changes place unless it is meant to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from beforehand.pipeline.engine import batches as steps
from beforehand.pipeline.engine.engine import Batches

TEXT = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field("number", pa.int64())])


def batches_of(*parts: list[dict[str, Any]], schema: pa.Schema = TEXT) -> Batches:
    """A batch for each list of rows."""
    return iter([pa.RecordBatch.from_pylist(part, schema=schema) for part in parts])


def rows(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    """All rows."""
    return [row for batch in batches for row in batch.to_pylist()]


def row(key: str, number: int = 0) -> dict[str, Any]:
    """A row of the schema."""
    return {"key": key, "number": number}


def test_rows_are_cut_into_batches() -> None:
    """Full ones, and the rest."""
    given = [row("a", n) for n in range(7)]
    batches = list(steps.record_batches(iter(given), TEXT, 3))
    assert [batch.num_rows for batch in batches] == [3, 3, 1]
    assert rows(iter(batches)) == given
    assert list(steps.record_batches([], TEXT, 3)) == []


def test_steps_are_composed_in_their_order() -> None:
    """The second gets what the first yields."""
    first = partial(steps.replaced, column="key", names={"a": "b", "c": "d"})
    second = partial(steps.selected, column="key", value="b")
    given = [row("a", 1), row("c", 2)]
    assert rows(steps.composed(batches_of(given), first, second)) == [row("b", 1)]


def test_structs_become_rows_without_nulls() -> None:
    """Batches with nothing else are skipped; nulls inside of rows stay."""
    schema = pa.schema([pa.field("one", pa.struct(list(TEXT))), pa.field("two", pa.int64())])
    only_two: list[dict[str, Any]] = [{"one": None, "two": 1}]
    mixed: list[dict[str, Any]] = [
        {"one": row("a", 5), "two": None},
        *only_two,
        {"one": {"key": "b"}, "two": None},
    ]
    batches = list(steps.unnested(batches_of(only_two, mixed, [], schema=schema), "one"))
    assert [batch.schema for batch in batches] == [TEXT]
    assert rows(iter(batches)) == [row("a", 5), {"key": "b", "number": None}]


def test_a_slice_of_structs_keeps_its_own_rows() -> None:
    """A batch may be a part of a larger one, whose other rows must not appear."""
    schema = pa.schema([pa.field("one", pa.struct(list(TEXT)))])
    given = [{"one": row("a", n)} if n % 3 else {"one": None} for n in range(10)]
    [whole] = batches_of(given, schema=schema)
    assert rows(steps.unnested(iter([whole.slice(4, 4)]), "one")) == [
        row("a", n) for n in (4, 5, 7)
    ]


def test_values_are_replaced() -> None:
    """Only those of the column, whose place among the columns stays."""
    names = {"a": "x", "b": "a"}
    assert rows(steps.replaced(batches_of([row("a", 1), row("b", 2)], []), "key", names)) == [
        row("x", 1),
        row("a", 2),
    ]


def test_rows_are_selected_by_a_value() -> None:
    """Batches without any are skipped."""
    given = batches_of([row("a", 1)], [row("b", 2), row("a", 3)], [row("b", 4)])
    selected = list(steps.selected(given, "key", "a"))
    assert [batch.num_rows for batch in selected] == [1, 1]
    assert rows(iter(selected)) == [row("a", 1), row("a", 3)]


def test_columns_get_the_declared_types() -> None:
    """Whatever a reader made of them; other columns are left out."""
    read = pa.schema([("other", pa.int64()), ("number", pa.int32()), ("key", pa.large_string())])
    given = [{"other": 1, "number": 2, "key": "a"}]
    [batch] = steps.typed(batches_of(given, schema=read), TEXT)
    assert batch.schema == TEXT and batch.to_pylist() == [row("a", 2)]


NAMES = ["", "!", "Z", "a", "a/", "aa", "z", "é", "ß", "￿", "𝄞", "\U0010ffff", "\0"]


def test_text_is_sorted_by_its_bytes() -> None:
    """Like in Spark: neither by locale nor by UTF-16, where characters beyond 16 bits come early."""
    given = [row(name, number) for name in NAMES for number in (2, 1)]
    random.Random(1).shuffle(given)
    batches = list(steps.arranged(batches_of(given[:9], given[9:]), TEXT, ("key", "number")))
    expected = sorted(given, key=lambda r: (r["key"].encode(), r["number"]))
    assert rows(iter(batches)) == expected
    utf16 = sorted(NAMES, key=lambda name: name.encode("utf-16-be"))
    assert utf16 != [r["key"] for r in expected[::2]], "the sample should tell them apart"


def test_sorting_nothing_gives_nothing() -> None:
    """A task may have no rows."""
    assert list(steps.arranged(iter([]), TEXT, ("key",))) == []


def test_many_sorted_rows_come_in_pieces() -> None:
    """No piece is larger than a batch should be, and no row is lost at their borders."""
    numbers = list(range(150_000))
    random.Random(2).shuffle(numbers)
    table = pa.table({"key": ["k"] * len(numbers), "number": numbers}, schema=TEXT)
    batches = list(steps.arranged(iter(table.to_batches()), TEXT, ("key", "number")))
    assert max(batch.num_rows for batch in batches) <= 1 << 16 and len(batches) > 2
    assert [n for batch in batches for n in batch["number"].to_pylist()] == sorted(numbers)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_the_rows_of_a_key_come_together_across_batches(size: int) -> None:
    """However the sorted rows are cut into batches."""
    given = [row(key, n) for key, count in (("a", 1), ("b", 4), ("c", 3)) for n in range(count)]
    parts = [given[begin : begin + size] for begin in range(0, len(given), size)]
    tables = list(steps.by_key(batches_of(*parts), TEXT, "key"))
    assert [table.to_pylist() for table in tables] == [given[:1], given[1:5], given[5:]]
    assert all(table.schema == TEXT for table in tables)


def test_keys_of_nothing() -> None:
    """No rows, no tables; an empty batch in between changes nothing."""
    assert list(steps.by_key(iter([]), TEXT, "key")) == []
    tables = list(steps.by_key(batches_of([row("a", 1)], [], [row("a", 2)]), TEXT, "key"))
    assert [table.num_rows for table in tables] == [2]
