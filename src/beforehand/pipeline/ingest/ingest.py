"""Ingest as a whole: find the files, read and resolve them, write the tables, return a summary."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.ingest import stages, tasks
from beforehand.pipeline.ingest.read.options import AUTO, Options
from beforehand.pipeline.ingest.read.read import EMPTY, UNKNOWN
from beforehand.pipeline.ingest.read.rows import BadRow
from beforehand.pipeline.ingest.summary import Summary, Tally, summed
from beforehand.pipeline.schemas import FILES
from beforehand.pipeline.storage import File, Storage, join, literal
from beforehand.results.layout import IngestFolder

# One task gets a whole file, through the memory of the JVM, of Arrow and of Python.
LARGEST: Final = 256 * 2**20  # bytes

_HIDDEN: Final = (".", "_")
_NOTE, _UNFINISHED = IngestFolder.NOTE, IngestFolder.UNFINISHED
_TABLES: Final = (*IngestFolder.TABLES, IngestFolder.CHARACTERISTICS)


def ingest(
    spark: SparkSession,
    sources: Sequence[str],
    out: str,
    options: Options | None = None,
    *,
    force: bool = False,
) -> Summary:
    """Read the sources and write the tables into the folder `out`."""
    options = options or Options()
    storage = Storage(spark)
    files = find(storage, sources, out)
    claim(storage, out, force)
    resolved = stages.outcomes(_rows(spark, files, options)).persist(StorageLevel.DISK_ONLY)
    try:
        tallies = [Tally(*row) for row in stages.tallies(resolved).collect()]
        summary = summed(tallies, [file.path for file in files])
        _write(resolved, summary, out)
    finally:
        resolved.unpersist()
    storage.write_note(out, _NOTE, summary.to_dict())
    storage.delete(join(out, _UNFINISHED))
    return summary


def find(storage: Storage, sources: Sequence[str], out: str) -> list[File]:
    """The files of all sources, without duplicates and without those of the output itself."""
    own = {folder.path for folder in storage.glob(literal(out))}
    files: dict[str, File] = {}
    for source in sources:
        matches = storage.glob(source) or storage.glob(literal(source))
        if not matches:
            raise PipelineError(f"{source}: there is no such file or folder; check the path")
        for match in matches:
            name = match.path.rpartition("/")[2]
            if not match.is_folder and name.startswith(_HIDDEN):
                if source.endswith(name):  # it was named, rather than matched by a pattern
                    raise PipelineError(
                        f"{match.path}: Spark ignores names that start with . or _; rename the file, or "
                        "leave it out"
                    )
                continue
            inside = storage.files_under(match.path) if match.is_folder else [match]
            files |= {file.path: file for file in inside}
    kept = [
        file
        for file in files.values()
        if not any(file.path.startswith(f"{folder}/") for folder in own)
    ]
    if not kept:
        raise PipelineError(f"{', '.join(sources)}: no files there; check the path")
    return sorted(kept, key=lambda file: file.path)


def claim(storage: Storage, out: str, force: bool) -> None:
    """Make sure that the output may be written, and mark it as incomplete."""
    if storage.exists(out):
        inside = {file.path.rpartition("/")[2] for file in storage.glob(f"{literal(out)}/*")}
        ours = {_NOTE, _UNFINISHED, *_TABLES}
        other = {name for name in inside - ours if not name.startswith(".")}
        if other or (inside and not inside & {_NOTE, _UNFINISHED}):
            first = min(other or inside)
            raise PipelineError(f"{out} holds other files ({first}); choose another folder")
        if _NOTE in inside and _UNFINISHED not in inside and not force:
            raise PipelineError(
                f"{out} holds a finished ingest; choose another folder, or pass `force` to replace it"
            )
    storage.write_note(out, _UNFINISHED, {"version": 1})
    for name in (_NOTE, *_TABLES):
        storage.delete(join(out, name))


def _rows(spark: SparkSession, files: list[File], options: Options) -> DataFrame:
    """The rows of all files; those that are empty or too large are rejected here."""
    format_name = UNKNOWN if options.format == AUTO else options.format
    readable: list[str] = []
    records: list[dict[str, Any]] = []
    for file in files:
        if reason := _rejection(file):
            records += tasks.rejected_file(file.path, format_name, BadRow(0, "", reason))
        else:
            readable.append(file.path)
    values = [tuple(record.get(name) for name in stages.ROWS.names) for record in records]
    rejected = spark.createDataFrame(values, stages.ROWS)
    if not readable:
        return rejected
    rows = stages.rows_of_files(spark, readable, options)
    return rows.union(rejected) if records else rows


def _rejection(file: File) -> str | None:
    if file.size > LARGEST:
        return f"{file.size:,} bytes, more than {LARGEST:,}; split it into several files"
    return None if file.size else EMPTY  # Spark silently skips empty files


def _write(resolved: DataFrame, summary: Summary, out: str) -> None:
    stages.messages(resolved, summary.names).write.parquet(join(out, IngestFolder.MESSAGES))
    if any(run.events for run in summary.runs):
        stages.events(resolved, summary.names).write.parquet(join(out, IngestFolder.EVENTS))
    stages.rejects(resolved).write.parquet(join(out, IngestFolder.REJECTS))
    files = [tuple(asdict(file).values()) for file in summary.files]
    table = resolved.sparkSession.createDataFrame(files, FILES)
    table.coalesce(1).write.parquet(join(out, IngestFolder.FILES))
