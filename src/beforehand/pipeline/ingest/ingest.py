"""Ingest as a whole: find the files, read and resolve them, write the tables, and say what was found."""

from __future__ import annotations

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

# A file comes to one task in one piece, through the memory of the JVM, of Arrow and of Python.
LARGEST: Final = 256 * 2**20

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
    found = find(storage, sources, out)
    claim(storage, out, force)
    resolved = stages.outcomes(_rows(spark, found, options)).persist(StorageLevel.DISK_ONLY)
    try:
        tallies = [Tally(*row) for row in stages.tallies(resolved).collect()]
        summary = summed(tallies, [each.path for each in found])
        _write(resolved, summary, out)
    finally:
        resolved.unpersist()
    storage.write_note(out, _NOTE, summary.to_dict())
    storage.delete(join(out, _UNFINISHED))
    return summary


def find(storage: Storage, sources: Sequence[str], out: str) -> list[File]:
    """The files of all sources, each once; those of the output itself are none."""
    own = {each.path for each in storage.glob(literal(out))}
    files: dict[str, File] = {}
    for source in sources:
        places = storage.glob(source) or storage.glob(literal(source))
        if not places:
            raise PipelineError(f"{source}: there is no such file or folder; check the path")
        for place in places:
            name = place.path.rpartition("/")[2]
            if not place.is_folder and name.startswith(_HIDDEN):
                if source.endswith(name):  # it was meant, and not just among what a pattern fits
                    raise PipelineError(
                        f"{place.path}: Spark passes over names with . or _ in front; leave it out, or "
                        "rename the file"
                    )
                continue
            inside = storage.files_under(place.path) if place.is_folder else [place]
            files |= {each.path: each for each in inside}
    found = [
        each
        for each in files.values()
        if not any(each.path.startswith(f"{folder}/") for folder in own)
    ]
    if not found:
        raise PipelineError(f"{', '.join(sources)}: there are no files in it; check the path")
    return sorted(found, key=lambda each: each.path)


def claim(storage: Storage, out: str, force: bool) -> None:
    """Make sure that the output may be written, and say that it is not complete yet."""
    if storage.exists(out):
        inside = {each.path.rpartition("/")[2] for each in storage.glob(f"{literal(out)}/*")}
        ours = {_NOTE, _UNFINISHED, *_TABLES}
        other = {each for each in inside - ours if not each.startswith(".")}
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


def _rows(spark: SparkSession, found: list[File], options: Options) -> DataFrame:
    """The rows of all files; those that cannot be read in one piece are refused here."""
    format_name = UNKNOWN if options.format == AUTO else options.format
    readable: list[str] = []
    told: list[dict[str, Any]] = []
    for each in found:
        if reason := _refusal(each):
            told += tasks.refused(each.path, format_name, BadRow(0, "", reason))
        else:
            readable.append(each.path)
    values = [tuple(one.get(name) for name in stages.ROWS.names) for one in told]
    refused = spark.createDataFrame(values, stages.ROWS)
    if not readable:
        return refused
    rows = stages.rows_of_files(spark, readable, options)
    return rows.union(refused) if told else rows


def _refusal(file: File) -> str | None:
    if file.size > LARGEST:
        return f"{file.size:,} bytes, more than {LARGEST:,}; split it into several files"
    return None if file.size else EMPTY  # Spark passes over empty files without a word


def _write(resolved: DataFrame, summary: Summary, out: str) -> None:
    stages.messages(resolved, summary.names).write.parquet(join(out, IngestFolder.MESSAGES))
    if any(each.events for each in summary.runs):
        stages.events(resolved, summary.names).write.parquet(join(out, IngestFolder.EVENTS))
    stages.rejects(resolved).write.parquet(join(out, IngestFolder.REJECTS))
    files = [tuple(asdict(each).values()) for each in summary.files]
    table = resolved.sparkSession.createDataFrame(files, FILES)
    table.coalesce(1).write.parquet(join(out, IngestFolder.FILES))
