"""What the pipeline asks of an engine.

Work is measured in seconds of one core, estimated: less than a second or two isn't worth a second
process, a pool or a shuffle, and both engines decide by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pyarrow as pa

from beforehand.errors import ResourceError
from beforehand.pipeline.storage import File, Storage

T = TypeVar("T")
Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]


class WorkerLostError(ResourceError):
    """A worker process ended before its task."""


@dataclass(frozen=True)
class Source:
    """A file for a task; or why it cannot be read."""

    path: str
    local: str = (
        ""  # its path on the worker's machine, or that of a copy, valid while the task runs
    )
    problem: str = ""


class Table(Protocol):
    """Rows, of which nothing is computed before they are collected, written, kept or grouped."""

    schema: pa.Schema

    def map(self, work: Work, schema: pa.Schema) -> Table:
        """Apply a function to the batches of each task."""

    def grouped(
        self, keys: Sequence[str], work: Work, schema: pa.Schema, order: Sequence[str] = ()
    ) -> Table:
        """Apply a function to the batches of tasks that have all rows with the same keys.

        The keys are text. With `order`, the rows of a task are sorted by them and then by these columns.
        """

    def union(self, other: Table) -> Table:
        """The rows of both."""

    def kept(self) -> AbstractContextManager[Table]:
        """The same rows, computed once, for as long as the block lasts."""

    def collect(self) -> pa.Table:
        """All rows, in the memory of this process."""

    def first(self, count: int, by: Sequence[str]) -> pa.Table:
        """The first rows, sorted by these columns."""

    def write(self, path: str) -> None:
        """Write a folder of Parquet files, in place of one that is there."""


class Counter(Protocol):
    """A number that tasks increase and the caller reads while they run."""

    def add(self, amount: int) -> None:
        """Increase it; called in tasks."""

    def read(self) -> int:
        """Its value so far."""


class PipelineEngine(Protocol):
    """Where stages run."""

    name: str
    is_distributed: bool  # whether a run too large for one task can be split
    storage: Storage

    @property
    def slots(self) -> int:
        """Tasks that run at the same time."""

    def tasks(
        self, items: Iterable[tuple[float, T]], work: Callable[[T], Batches], schema: pa.Schema
    ) -> Table:
        """Apply a function to items, each given with its seconds of work, in balanced tasks."""

    def files(
        self,
        files: Sequence[File],
        work: Callable[[Source], Batches],
        schema: pa.Schema,
        bytes_per_second: float,
        problems: Mapping[str, str] = ...,
    ) -> Table:
        """Apply a function to files; those with known problems aren't touched."""

    def read(self, paths: Sequence[str], schema: pa.Schema) -> Table:
        """The rows of Parquet files, and of folders of them."""

    def table(self, rows: pa.Table) -> Table:
        """Rows that are in memory."""

    def counter(self) -> Counter:
        """A new counter."""

    def share(self, value: T) -> Callable[[], T]:
        """A function by which tasks get at a value, which is sent to each worker once."""

    def environment(self) -> Mapping[str, str]:
        """What results depend on besides the packages, for their notes."""

    def progress(self) -> str:
        """What the engine is doing, in a few words."""

    def close(self) -> None:
        """Release everything."""
