"""The Spark engine: the same tasks as those of the local one, in Spark's workers.

The session starts when something first needs it, so wrong paths are refused before. A table of one task
needs no shuffle, and what it yields is collected and written here: little data causes one small job.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyspark
from pyspark import SparkContext, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from beforehand.pipeline.engine import session
from beforehand.pipeline.engine.balance import PER_SLOT, SMALL, balanced, task_count
from beforehand.pipeline.engine.batches import composed, typed
from beforehand.pipeline.engine.class_archive import ClassArchive
from beforehand.pipeline.engine.engine import Batches, Counter, Source, Table, Work
from beforehand.pipeline.engine.failures import clear_failures
from beforehand.pipeline.engine.local import (
    NO_PROBLEMS,
    READ_RATE,
    LocalEngine,
    each,
    opened,
    sorted_work,
)
from beforehand.pipeline.storage import File, Storage, is_near
from beforehand.pipeline.storage.hadoop import HadoopStorage, literal
from beforehand.requirements import find_java

T = TypeVar("T")

PACKED: Final = pa.schema([pa.field("batch", pa.binary(), nullable=False)])
SHORT: Final = 60.0  # seconds of work up to which the session is tuned for little of it


class SparkEngine:
    """Spark, here or on a cluster."""

    name = "spark"
    is_distributed = True

    def __init__(
        self,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        small: float = SMALL,
    ) -> None:
        self.small = small
        self._master = master
        self._conf = dict(conf or {})
        self._expected = 0.0
        self._archive: ClassArchive | None = None
        self._session: SparkSession | None = None
        self._is_ours = False  # whether this engine has started the JVM
        self.storage = Storage(lambda: self._hadoop)
        self.driver = LocalEngine(workers=1, storage=self.storage)  # for what is small

    @classmethod
    def of(cls, running: SparkSession, small: float = SMALL) -> SparkEngine:
        """An engine on a session that somebody else has started, and will stop."""
        engine = cls(small=small)
        engine._session = running
        return engine

    def expect(self, seconds: float) -> None:
        """Announce how much work there will be; counts until the session has started."""
        self._expected = max(self._expected, seconds)

    @property
    def seconds(self) -> float:
        """The most work that one stage was expected to have."""
        return self._expected

    @property
    def is_archiving(self) -> bool:
        """Whether closing takes a while, because the JVM writes the archive of its classes."""
        return self._session is not None and self._archive is not None and self._archive.is_written

    @property
    def session(self) -> SparkSession:
        """The session, started now if it wasn't."""
        if self._session is None:
            self._is_ours = SparkSession.getActiveSession() is None
            if self._is_ours and session.is_local(self._master):
                self._archive = ClassArchive(find_java().release, pyspark.__version__)
            self._session = session.start(
                self._master,
                self._conf,
                short=self._expected < SHORT,
                archive=self._archive,
            )
        return self._session

    @property
    def slots(self) -> int:
        """Tasks that run at the same time."""
        return self.session.sparkContext.defaultParallelism

    def tasks(
        self, items: Iterable[tuple[float, T]], work: Callable[[T], Batches], schema: pa.Schema
    ) -> SparkTable:
        """Apply a function to items, each given with its seconds of work, in balanced tasks."""
        loads = list(items)
        seconds = sum(load for load, _ in loads)
        self.expect(seconds)
        assigned = [mine for _, mine in balanced(loads, self.slots, self.small)]
        numbers = self.session.range(0, len(assigned), 1, len(assigned))
        do = partial(_assigned, tasks=assigned, work=work)
        return SparkTable(self, numbers, do, schema, len(assigned), seconds)

    def files(
        self,
        files: Sequence[File],
        work: Callable[[Source], Batches],
        schema: pa.Schema,
        bytes_per_second: float,
        problems: Mapping[str, str] = NO_PROBLEMS,
    ) -> Table:
        """Apply a function to files; those with known problems aren't touched."""
        far = [file for file in files if not is_near(file.path) and file.path not in problems]
        near = [file for file in files if file not in far]
        items = [(file.size / bytes_per_second, file.path) for file in near]
        here = self.tasks(items, partial(opened, work=work, problems=problems), schema)
        if not far:
            return here
        paths = [literal(file.path) for file in far]
        seconds = sum(file.size for file in far) / bytes_per_second
        # A file that cannot be read is missing then, which the caller notices.
        reader = self.session.read.format("binaryFile").option("ignoreCorruptFiles", "true")
        content = reader.load(paths).select("path", "content")
        do = partial(_loaded, work=work)
        loaded = SparkTable(self, content, do, schema, content.rdd.getNumPartitions(), seconds)
        return here.union(loaded) if near else loaded

    def read(self, paths: Sequence[str], schema: pa.Schema) -> Table:
        """The rows of Parquet files, and of folders of them."""
        files = self.storage.files_of(paths)
        if all(is_near(file.path) for file in files):
            here = self.driver.read(paths, schema)
            if sum(task.seconds for task in here.tasks) < self.small:
                return here
        seconds = sum(file.size for file in files) / READ_RATE
        self.expect(seconds)
        reader = self.session.read.schema(spark_schema(schema))
        rows = reader.parquet(*map(literal, paths)).select(schema.names)
        do = partial(typed, schema=schema)  # Spark reads every column as nullable
        return SparkTable(self, rows, do, schema, PER_SLOT * self.slots, seconds)

    def table(self, rows: pa.Table) -> Table:
        """Rows that are in memory."""
        return self.driver.table(rows)

    def counter(self) -> Counter:
        """A new counter."""
        return AccumulatorCounter(self.session.sparkContext.accumulator(0))

    def share(self, value: T) -> Callable[[], T]:
        """A function by which tasks get at a value, which is sent to each worker once."""
        return partial(_value, self.session.sparkContext.broadcast(value))

    def environment(self) -> Mapping[str, str]:
        """What results depend on besides the packages, for their notes."""
        return {"engine": self.name, "Java": find_java().release}

    def progress(self) -> str:
        """What the engine is doing, in a few words."""
        if self._session is None:
            return "starting Spark"
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        active = [stage for stage in stages if stage is not None]
        if not active:
            return ""
        done = sum(stage.numCompletedTasks for stage in active)
        return f"{done:,} of {sum(stage.numTasks for stage in active):,} tasks of this stage"

    def close(self) -> None:
        """Release everything; the JVM ends with this process, or now if it has an archive to write."""
        self.driver.close()
        archive, running, self._session = self._archive, self._session, None
        if running is None or archive is None or not archive.is_written:
            return
        running.stop()
        process = _forgotten_jvm()
        process.stdin.close()  # the JVM exits when its input ends
        process.wait()
        archive.put_in_place()

    def kill(self) -> None:
        """End the JVM at once, without waiting for its jobs, if this engine has started it."""
        self.driver.close()
        running, self._session = self._session, None
        if not self._is_ours:
            return
        if running is None:
            session.kill_starting_jvm()
        else:
            process = _forgotten_jvm()
            process.kill()
            process.wait()

    @cached_property
    def _hadoop(self) -> HadoopStorage:
        return HadoopStorage(self.session)


class SparkTable:
    """A DataFrame, and what to do with its batches in Python."""

    def __init__(
        self,
        engine: SparkEngine,
        frame: DataFrame,
        work: Work | None,
        schema: pa.Schema,
        tasks: int,
        seconds: float,
    ) -> None:
        self.schema = schema
        self._engine = engine
        self._frame = frame
        self._work = work
        self._tasks = tasks
        self._seconds = seconds

    def frame(self) -> DataFrame:
        """All of it as a DataFrame."""
        if self._work is None:
            return self._frame
        return self._frame.mapInArrow(self._work, spark_schema(self.schema))

    def map(self, work: Work, schema: pa.Schema) -> SparkTable:
        """Apply a function to the batches of each task."""
        whole = work if self._work is None else partial(composed, first=self._work, second=work)
        return self._like(self._frame, whole, schema)

    def grouped(
        self, keys: Sequence[str], work: Work, schema: pa.Schema, order: Sequence[str] = ()
    ) -> SparkTable:
        """Apply a function to the batches of tasks that have all rows with the same keys."""
        by = (*keys, *order) if order else ()
        if self._tasks == 1:
            do = partial(sorted_work, work=work, by=by, schema=self.schema)
            return self.map(do, schema)
        count = task_count(self._seconds, self._engine.slots, self._engine.small)
        together = self.frame().repartition(count, *keys)
        if by:
            together = together.sortWithinPartitions(*by)
        return self._like(together, work, schema)

    def union(self, other: Table) -> SparkTable:
        """The rows of both."""
        assert isinstance(other, SparkTable)
        both = self.frame().union(other.frame())
        tasks, seconds = self._tasks + other._tasks, self._seconds + other._seconds
        return SparkTable(self._engine, both, None, self.schema, tasks, seconds)

    @contextmanager
    def kept(self) -> Iterator[Table]:
        """The same rows, computed once, for as long as the block lasts."""
        if self._tasks == 1:
            yield self._engine.table(self.collect())
            return
        frame = self._packed().persist(StorageLevel.DISK_ONLY)
        try:
            yield self._like(frame, _unpack, self.schema)
        finally:
            frame.unpersist()

    def collect(self) -> pa.Table:
        """All rows, in the memory of this process."""
        with clear_failures():
            packed = self._packed().toArrow()
        return pa.Table.from_batches(_unpack(packed.to_batches()), self.schema)

    def first(self, count: int, by: Sequence[str]) -> pa.Table:
        """The first rows, sorted by these columns."""
        rows = self._like(self.frame().orderBy(*by).limit(count), None, self.schema)
        return rows.collect()

    def write(self, path: str) -> None:
        """Write a folder of Parquet files, in place of one that is there."""
        if self._tasks == 1:
            self._engine.table(self.collect()).write(path)
            return
        with clear_failures():
            self.frame().write.mode("overwrite").parquet(path)

    def _packed(self) -> DataFrame:
        """The same with the bytes of a batch in each row, which Spark moves without converting them."""
        return self.map(_pack, PACKED).frame()

    def _like(self, frame: DataFrame, work: Work | None, schema: pa.Schema) -> SparkTable:
        return SparkTable(self._engine, frame, work, schema, self._tasks, self._seconds)


class AccumulatorCounter:
    """Spark updates it whenever a task ends."""

    def __init__(self, accumulator: Any) -> None:
        self._accumulator = accumulator

    def add(self, amount: int) -> None:
        """Increase it; called in tasks."""
        self._accumulator.add(amount)

    def read(self) -> int:
        """Its value so far."""
        return int(self._accumulator.value)


def spark_schema(schema: pa.Schema) -> StructType:
    """A schema of Arrow as Spark declares it."""
    return from_arrow_schema(schema)


def arrow_schema(schema: StructType) -> pa.Schema:
    """The opposite, for tables that only Spark makes."""
    return to_arrow_schema(schema, timezone="UTC")


def _forgotten_jvm() -> Any:
    """The process of the JVM, which pyspark will not use again: the next session starts another."""
    gateway: Any = SparkContext._gateway
    context: Any = SparkContext._active_spark_context
    if context is not None:  # a thread that would print a traceback when its connection ends
        context._accumulatorServer.handle_error = lambda request, client: None
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    return gateway.proc


# ---- in tasks ----


def _pack(batches: Batches) -> Batches:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], schema=PACKED)


def _unpack(batches: Iterable[pa.RecordBatch]) -> Batches:
    for batch in batches:
        for packed in batch.column(0):
            yield from pa.ipc.open_stream(packed.as_buffer())


def _assigned(batches: Batches, tasks: list[list[T]], work: Callable[[T], Batches]) -> Batches:
    """Do the tasks whose numbers come in."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            yield from each(tasks[number], work)


def _loaded(batches: Batches, work: Callable[[Source], Batches]) -> Batches:
    """Files that Spark has read, each copied to this machine."""
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            name = unquote(path.as_py()).rpartition("/")[2]
            with tempfile.TemporaryDirectory(prefix="beforehand-") as folder:
                local = Path(folder, name[-100:].lstrip("._") or "file")
                local.write_bytes(memoryview(content.as_buffer()))
                yield from work(Source(path.as_py(), str(local)))


def _value(broadcast: Any) -> Any:
    return broadcast.value
