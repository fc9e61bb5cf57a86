"""The local engine: tasks in this process or in a pool of processes, tables as Arrow batches and files.

A table is a list of tasks, each a function that yields batches. What is small stays in this process and
in memory; between stages, the rest is in files of Arrow batches in a temporary folder.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beforehand.pipeline.engine.balance import SMALL, balanced, task_count
from beforehand.pipeline.engine.batches import arranged, typed
from beforehand.pipeline.engine.engine import Batches, Source, Table, Work
from beforehand.pipeline.engine.pool import Pool
from beforehand.pipeline.storage import File, Storage, join, local_path
from beforehand.results.layout import SUCCESS

T = TypeVar("T")
R = TypeVar("R")

NO_PROBLEMS: Final[Mapping[str, str]] = {}
READ_RATE: Final = 50e6  # bytes of Parquet per second
_ROWS: Final = 1 << 16


@dataclass(frozen=True)
class Task:
    """Part of a table."""

    seconds: float
    produce: Callable[[], Batches]


class LocalEngine:
    """This machine, with as many worker processes as it has cores.

    A single task, or less than `small` seconds of work, is done in this process; but not after a worker
    was lost, because what killed it must not kill this one.
    """

    name = "local"
    is_distributed = False

    def __init__(
        self, workers: int | None = None, storage: Storage | None = None, small: float = SMALL
    ) -> None:
        self.slots = workers or len(os.sched_getaffinity(0))
        self.small = small
        self.storage = storage or Storage()
        self._pool = Pool(self.slots)
        self._resources = ExitStack()
        self._spool = ""

    def tasks(
        self, items: Iterable[tuple[float, T]], work: Callable[[T], Batches], schema: pa.Schema
    ) -> LocalTable:
        """Apply a function to items, each given with its seconds of work, in balanced tasks."""
        tasks = [
            Task(seconds, partial(each, mine, work))
            for seconds, mine in balanced(items, self.slots, self.small)
        ]
        return LocalTable(self, tasks, schema)

    def files(
        self,
        files: Sequence[File],
        work: Callable[[Source], Batches],
        schema: pa.Schema,
        bytes_per_second: float,
        problems: Mapping[str, str] = NO_PROBLEMS,
    ) -> LocalTable:
        """Apply a function to files; those with known problems aren't touched."""
        items = [(file.size / bytes_per_second, file.path) for file in files]
        return self.tasks(items, partial(opened, work=work, problems=problems), schema)

    def read(self, paths: Sequence[str], schema: pa.Schema) -> LocalTable:
        """The rows of Parquet files, and of folders of them."""
        files = self.storage.files_of(paths)
        items = [(file.size / READ_RATE, local_path(file.path)) for file in files]
        return self.tasks(items, partial(parquet_rows, schema=schema), schema)

    def table(self, rows: pa.Table) -> LocalTable:
        """Rows that are in memory."""
        batches = rows.to_batches()
        return LocalTable(self, [Task(0.0, partial(iter, batches))], rows.schema)

    def counter(self) -> FileCounter:
        """A new counter."""
        handle, path = tempfile.mkstemp(dir=self.spool())
        os.close(handle)
        return FileCounter(path)

    def share(self, value: T) -> Callable[[], T]:
        """A function by which tasks get at a value, which is sent to each worker once."""
        path = Path(self.spool(), f"shared-{len(os.listdir(self.spool()))}")
        path.write_bytes(pickle.dumps(value))
        return partial(_unpickled, str(path))

    def environment(self) -> Mapping[str, str]:
        """What results depend on besides the packages, for their notes."""
        return {"engine": self.name}

    def progress(self) -> str:
        """What the engine is doing, in a few words."""
        done, total = self._pool.done, self._pool.total
        return f"{done:,} of {total:,} tasks" if done < total else ""

    def close(self) -> None:
        """End the workers and remove the temporary files."""
        self._pool.close()
        self._resources.close()
        self._spool = ""

    def run(self, tasks: Sequence[Task], consume: Callable[[int, Batches], R]) -> list[R]:
        """Consume each task by its number: here if there is little to do, else in the pool."""
        is_little = len(tasks) == 1 or sum(task.seconds for task in tasks) < self.small
        if is_little and not self._pool.has_lost:
            return [consume(number, task.produce()) for number, task in enumerate(tasks)]
        return self._pool.run(
            [partial(_consume, number, task.produce, consume) for number, task in enumerate(tasks)]
        )

    def spool(self) -> str:
        """The temporary folder."""
        if not self._spool:
            folder = tempfile.TemporaryDirectory(prefix="beforehand-", ignore_cleanup_errors=True)
            self._spool = self._resources.enter_context(folder)
        return self._spool

    def spooled(self, tasks: Sequence[Task], schema: pa.Schema) -> list[Task]:
        """The same rows, computed: in memory if they are few, else in files."""
        if len(tasks) == 1 and tasks[0].seconds < self.small and not self._pool.has_lost:
            return [Task(task.seconds, partial(iter, list(task.produce()))) for task in tasks]
        folder = tempfile.mkdtemp(dir=self.spool())
        paths = self.run(tasks, partial(_to_file, folder=folder, schema=schema))
        return [
            Task(task.seconds / 2, partial(_from_files, [path]))
            for task, path in zip(tasks, paths, strict=True)
        ]


class LocalTable:
    """A list of tasks."""

    def __init__(self, engine: LocalEngine, tasks: Sequence[Task], schema: pa.Schema) -> None:
        self.schema = schema
        self.tasks = tasks
        self._engine = engine

    def map(self, work: Work, schema: pa.Schema) -> LocalTable:
        """Apply a function to the batches of each task."""
        tasks = [Task(t.seconds, partial(_mapped, t.produce, work)) for t in self.tasks]
        return LocalTable(self._engine, tasks, schema)

    def grouped(
        self, keys: Sequence[str], work: Work, schema: pa.Schema, order: Sequence[str] = ()
    ) -> LocalTable:
        """Apply a function to the batches of tasks that have all rows with the same keys."""
        by = (*keys, *order) if order else ()
        if len(self.tasks) == 1:
            return self.map(partial(sorted_work, work=work, by=by, schema=self.schema), schema)
        seconds = sum(task.seconds for task in self.tasks)
        count = task_count(seconds, self._engine.slots, self._engine.small)
        folder = tempfile.mkdtemp(dir=self._engine.spool())
        exchange = partial(_exchange, folder=folder, schema=self.schema, keys=keys, count=count)
        written = self._engine.run(self.tasks, exchange)
        return LocalTable(
            self._engine,
            [
                Task(seconds / count, partial(_from_files, [paths[n] for paths in written]))
                for n in range(count)
            ],
            self.schema,
        ).map(partial(sorted_work, work=work, by=by, schema=self.schema), schema)

    def union(self, other: Table) -> LocalTable:
        """The rows of both."""
        assert isinstance(other, LocalTable)
        return LocalTable(self._engine, [*self.tasks, *other.tasks], self.schema)

    @contextmanager
    def kept(self) -> Iterator[LocalTable]:
        """The same rows, computed once, for as long as the block lasts."""
        yield LocalTable(self._engine, self._engine.spooled(self.tasks, self.schema), self.schema)

    def collect(self) -> pa.Table:
        """All rows, in the memory of this process."""
        tasks = self._engine.spooled(self.tasks, self.schema)
        return pa.Table.from_batches(
            (batch for task in tasks for batch in task.produce()), self.schema
        )

    def first(self, count: int, by: Sequence[str]) -> pa.Table:
        """The first rows, sorted by these columns."""
        return self.collect().sort_by([(name, "ascending") for name in by]).slice(0, count)

    def write(self, path: str) -> None:
        """Write a folder of Parquet files, in place of one that is there."""
        storage = self._engine.storage
        storage.delete(path)
        write = partial(_to_parquet, storage=storage, folder=path, schema=self.schema)
        self._engine.run(self.tasks, write)
        storage.write_text(join(path, SUCCESS), "")


@dataclass(frozen=True)
class FileCounter:
    """A file whose size is the number: appending is atomic, whoever does it."""

    path: str

    def add(self, amount: int) -> None:
        """Increase it; called in tasks."""
        with open(self.path, "ab", buffering=0) as file:
            file.write(b"." * amount)

    def read(self) -> int:
        """Its value so far."""
        return os.path.getsize(self.path)


# ---- in tasks, also in those of Spark ----


def each(items: Iterable[T], work: Callable[[T], Batches]) -> Batches:
    """The batches of each item, one after the other."""
    for item in items:
        yield from work(item)


def opened(path: str, work: Callable[[Source], Batches], problems: Mapping[str, str]) -> Batches:
    """Pass a near file on."""
    return work(Source(path, local_path(path), problems.get(path, "")))


def parquet_rows(path: str, schema: pa.Schema) -> Batches:
    """The columns of a schema, from a Parquet file of ours."""
    with pq.ParquetFile(path) as file:
        yield from typed(file.iter_batches(_ROWS, columns=schema.names), schema)


def sorted_work(batches: Batches, work: Work, by: Sequence[str], schema: pa.Schema) -> Batches:
    """Work on rows that are together in one task, sorted if need be."""
    return work(arranged(batches, schema, by) if by else batches)


def _mapped(produce: Callable[[], Batches], work: Work) -> Batches:
    return work(produce())


def _consume(
    number: int, produce: Callable[[], Batches], consume: Callable[[int, Batches], R]
) -> R:
    return consume(number, produce())


def _to_file(number: int, batches: Batches, folder: str, schema: pa.Schema) -> str:
    path = os.path.join(folder, f"{number}.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


def _from_files(paths: Sequence[str]) -> Batches:
    for path in paths:
        with pa.memory_map(path) as file:
            reader = pa.ipc.open_file(file)
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)


def _exchange(
    number: int, batches: Batches, folder: str, schema: pa.Schema, keys: Sequence[str], count: int
) -> list[str]:
    """Distribute the rows of a task over files, one for each of the next tasks."""
    paths = [os.path.join(folder, f"{number}-{part}.arrow") for part in range(count)]
    with ExitStack() as stack:
        writers = []
        for path in paths:
            file = stack.enter_context(pa.OSFile(path, "wb"))
            writers.append(stack.enter_context(pa.ipc.new_file(file, schema)))
        for batch in batches:
            part = _part_of(batch, keys, count)
            order = np.argsort(part, kind="stable")
            edges = np.searchsorted(part[order], np.arange(count + 1))
            rows = batch.take(pa.array(order))
            for writer, begin, end in zip(writers, edges[:-1], edges[1:], strict=True):
                if begin < end:
                    writer.write_batch(rows.slice(begin, end - begin))
    return paths


def _part_of(batch: pa.RecordBatch, keys: Sequence[str], count: int) -> Any:
    """For each row the number of its next task: equal keys, equal numbers."""
    mixed = np.zeros(batch.num_rows, np.uint64)
    for key in keys:
        encoded = batch.column(key).dictionary_encode()
        hashes = [crc32(value.encode()) for value in encoded.dictionary.to_pylist()]
        mixed = mixed * np.uint64(31) + np.array(hashes, np.uint64)[encoded.indices.to_numpy()]
    return (mixed % np.uint64(count)).astype(np.int64)


def _to_parquet(
    number: int, batches: Batches, storage: Storage, folder: str, schema: pa.Schema
) -> None:
    path = join(folder, f"part-{number:05}.parquet")
    with storage.local_file(path) as local, pq.ParquetWriter(local, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


@cache
def _unpickled(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())
