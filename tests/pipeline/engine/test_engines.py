"""What every engine promises, with little work in one task and with workers however little there is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from beforehand.errors import TraceError
from beforehand.pipeline.engine import LocalEngine, PipelineEngine, Table, WorkerLostError
from beforehand.pipeline.engine.balance import SMALL
from beforehand.pipeline.engine.batches import selected
from beforehand.pipeline.engine.spark import SparkEngine
from tests.pipeline.engine import work
from tests.pipeline.engine.work import SCHEMA

ITEMS = [(0.001, number) for number in range(20)]
SPARK = pytest.mark.spark


@pytest.fixture(
    params=[
        pytest.param(("spark", SMALL), marks=SPARK, id="spark"),
        pytest.param(("spark", 0.0), marks=SPARK, id="spark-eager"),
        pytest.param(("local", SMALL), id="local"),
        pytest.param(("local", 0.0), id="local-eager"),
    ]
)
def any_engine(request: pytest.FixtureRequest) -> Iterator[PipelineEngine]:
    """Both engines; the eager ones make tasks and start workers for everything."""
    name, small = request.param
    chosen: PipelineEngine
    if name == "local":
        chosen = LocalEngine(workers=2, small=small)
    else:
        session: SparkSession = request.getfixturevalue("spark")
        chosen = SparkEngine.of(session, small)
    yield chosen
    chosen.close()


def is_eager(engine: PipelineEngine) -> bool:
    """Whether the engine makes several tasks of little work."""
    assert isinstance(engine, LocalEngine | SparkEngine)
    return engine.small == 0.0


def pairs(table: pa.Table) -> list[tuple[str, int]]:
    """The rows without their processes, sorted."""
    assert table.schema == SCHEMA
    return sorted((row["key"], row["number"]) for row in table.to_pylist())


SPREAD = sorted((f"k{key}", number) for number in range(20) for key in range(10))


def spread(engine: PipelineEngine) -> Table:
    """Twenty items with ten rows each."""
    return engine.tasks(ITEMS, work.spread, SCHEMA)


def test_items_become_rows(any_engine: PipelineEngine) -> None:
    """Each item once; with enough work, in several processes."""
    table = spread(any_engine).collect()
    assert pairs(table) == SPREAD
    processes = set(table["process"].to_pylist())
    if any_engine.name == "local":
        assert (processes == {os.getpid()}) is not is_eager(any_engine)
    else:
        assert os.getpid() not in processes


def test_no_items_give_an_empty_table(any_engine: PipelineEngine, tmp_path: Path) -> None:
    """With its columns, in memory and in files."""
    table = any_engine.tasks([], work.spread, SCHEMA)
    assert table.collect() == SCHEMA.empty_table()
    grouped = table.grouped(("key",), work.summed, SCHEMA, order=("number",))
    grouped.write(str(tmp_path / "t"))
    assert any_engine.read([str(tmp_path / "t")], SCHEMA).collect() == SCHEMA.empty_table()


def test_rows_of_a_key_come_to_one_task(any_engine: PipelineEngine, tmp_path: Path) -> None:
    """All of them, from wherever they were made; other tasks get other keys."""
    sums = spread(any_engine).grouped(("key",), work.summed, SCHEMA)
    assert pairs(sums.collect()) == [(f"k{key}", sum(range(20))) for key in range(10)]
    sums.write(str(tmp_path / "sums"))
    files = [pq.read_table(file) for file in (tmp_path / "sums").glob("*.parquet")]
    assert (sum(file.num_rows > 0 for file in files) > 1) is is_eager(any_engine)


def test_grouped_rows_are_sorted(any_engine: PipelineEngine) -> None:
    """By the keys and then by the order, in each task."""
    rows = (
        spread(any_engine)
        .grouped(("key",), work.numbered, SCHEMA, order=("number",))
        .collect()
        .to_pylist()
    )
    by_key: dict[str, list[int]] = {}
    for row in rows:
        by_key.setdefault(row["key"], []).append(row["number"])
    assert by_key == {f"k{key}": list(range(20)) for key in range(10)}
    changes = sum(one["key"] != other["key"] for one, other in pairwise(rows))
    assert changes == 9, "rows of a key should be next to each other"


def test_several_keys_are_told_apart(any_engine: PipelineEngine) -> None:
    """A group has equal values in all of them."""
    table = spread(any_engine).grouped(("key", "group"), work.summed_by_group, SCHEMA)
    sums = {sum(range(0, 20, 2)), sum(range(1, 20, 2))}
    assert pairs(table.collect()) == sorted((f"k{n}", s) for n in range(10) for s in sums)


def test_tables_are_mapped_and_united(any_engine: PipelineEngine) -> None:
    """Steps follow each other, and a table can be used twice."""
    table = spread(any_engine)
    some = [
        table.map(partial(selected, column="key", value=key), SCHEMA) for key in ("k1", "k3", "no")
    ]
    both = some[0].union(some[1]).union(some[2]).map(work.numbered, SCHEMA)
    assert pairs(both.collect()) == sorted((k, n) for k in ("k1", "k3") for n in range(20))


def test_the_first_rows(any_engine: PipelineEngine) -> None:
    """Sorted by some columns, and as many as there are."""
    table = spread(any_engine)
    first = table.first(3, by=("number", "key")).to_pylist()
    assert [(row["number"], row["key"]) for row in first] == [(0, "k0"), (0, "k1"), (0, "k2")]
    assert table.first(10_000, by=("key", "number")).num_rows == len(SPREAD)


def test_tables_in_memory(any_engine: PipelineEngine) -> None:
    """They take part like any other."""
    batch = work.batch_of([{"key": "b", "number": 1}, {"key": "a", "number": 2}])
    table = any_engine.table(pa.Table.from_batches([batch, batch]))
    assert pairs(table.grouped(("key",), work.summed, SCHEMA).collect()) == [("a", 4), ("b", 2)]


def test_written_tables_are_read_back(any_engine: PipelineEngine, tmp_path: Path) -> None:
    """In place of an older one, under a name that is special in patterns."""
    folder = tmp_path / "a [table],{1}"
    any_engine.tasks(ITEMS[:2], work.one_row, SCHEMA).write(str(folder))
    spread(any_engine).write(str(folder))
    files = list(folder.glob("*.parquet"))
    assert (len(files) > 1) is is_eager(any_engine) and (folder / "_SUCCESS").exists()
    assert pairs(any_engine.read([str(folder)], SCHEMA).collect()) == SPREAD
    half = any_engine.read([str(file) for file in files[: len(files) // 2]], SCHEMA)
    assert (half.collect().num_rows > 0) is (len(files) > 1)
    sums = any_engine.read([str(folder)], SCHEMA).grouped(("key",), work.summed, SCHEMA)
    assert pairs(sums.collect()) == [(f"k{key}", 190) for key in range(10)]


def test_kept_rows_are_computed_once(any_engine: PipelineEngine) -> None:
    """However often they are used."""
    counter = any_engine.counter()
    table = any_engine.tasks(ITEMS, partial(work.counted, counter=counter), SCHEMA)
    with table.kept() as kept:
        for _ in range(3):
            assert len(pairs(kept.collect())) == 20
        assert len(pairs(kept.map(work.numbered, SCHEMA).collect())) == 20
    assert counter.read() == sum(range(20))


def test_counters_are_independent(any_engine: PipelineEngine) -> None:
    """Each counts its own calls."""
    one, other = any_engine.counter(), any_engine.counter()
    any_engine.tasks(ITEMS, partial(work.counted, counter=one), SCHEMA).collect()
    assert (one.read(), other.read()) == (190, 0)


def test_shared_values_reach_every_task(any_engine: PipelineEngine) -> None:
    """Two values stay apart."""
    values = [any_engine.share([number] * 1000) for number in (100, 200)]
    for value, offset in zip(values, (100, 200), strict=True):
        table = any_engine.tasks(ITEMS, partial(work.shared_plus, value=value), SCHEMA).collect()
        assert pairs(table) == [("k", offset + number) for number in range(20)]


def test_files_are_passed_to_tasks(any_engine: PipelineEngine, tmp_path: Path) -> None:
    """Those with known problems aren't touched, and may be gone."""
    for number in range(8):
        (tmp_path / f"{number} é%20").write_bytes(b"x" * number)
    files = any_engine.storage.inside(str(tmp_path))
    gone = files[3].path
    Path(gone.removeprefix("file:")).unlink()
    table = any_engine.files(files, work.size_of, SCHEMA, 1e3, {gone: "gone"}).collect()
    expected = [(f"file:{tmp_path}/{n} é%20", -1 if n == 3 else n) for n in range(8)]
    assert pairs(table) == expected


def test_an_error_of_ours_in_a_task_reaches_the_caller(any_engine: PipelineEngine) -> None:
    """With its type and its sentence, and the engine works on."""
    with pytest.raises(TraceError, match="^line 3: not a trace$"):
        any_engine.tasks(ITEMS, work.refuse, SCHEMA).collect()
    assert pairs(spread(any_engine).collect()) == SPREAD


def test_a_lost_worker_is_an_error_and_the_engine_works_on(any_engine: PipelineEngine) -> None:
    """It says what to do; where tasks run in this process, there is no worker to lose."""
    if any_engine.name == "local" and not is_eager(any_engine):
        return
    with pytest.raises(WorkerLostError, match="a worker process was killed, probably for lack of"):
        any_engine.tasks(ITEMS, work.die, SCHEMA).collect()
    table = any_engine.tasks(ITEMS[:1], work.spread, SCHEMA).collect()
    assert os.getpid() not in table["process"].to_pylist(), "a dangerous task must not run here"
    assert pairs(spread(any_engine).collect()) == SPREAD


def test_engines_describe_themselves(any_engine: PipelineEngine) -> None:
    """For the notes of outputs, and while they work."""
    environment: dict[str, Any] = dict(any_engine.environment())
    assert environment.pop("engine") == any_engine.name
    assert set(environment) == ({"Java"} if any_engine.name == "spark" else set())
    assert any_engine.slots == 2 and any_engine.progress() == ""
