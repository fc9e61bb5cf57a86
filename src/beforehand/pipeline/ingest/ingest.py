"""Ingest as a whole: find the files, read and resolve them, write the tables, return a summary."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.ingest import stages
from beforehand.pipeline.ingest.read.options import Options
from beforehand.pipeline.ingest.read.read import EMPTY
from beforehand.pipeline.ingest.summary import Summary, Tally, summed
from beforehand.pipeline.schemas import FILES
from beforehand.pipeline.storage import File, Storage, is_near, join, replacing
from beforehand.results.layout import IngestFolder

# One task gets a whole file, through the memory of Arrow and of Python.
LARGEST: Final = 256 * 2**20  # bytes

_HIDDEN: Final = (".", "_")
_UNREADABLE: Final = (
    "cannot be read; check its permissions"  # of remote files, Spark gives no reason
)
_OURS: Final = {IngestFolder.NOTE, *IngestFolder.TABLES, IngestFolder.CHARACTERISTICS}


def ingest(
    engine: PipelineEngine,
    sources: Sequence[str],
    out: str,
    options: Options | None = None,
    *,
    force: bool = False,
) -> Summary:
    """Read the sources and write the tables into the folder `out`, which appears when it is complete."""
    storage = engine.storage
    files = find(storage, sources, out)
    check_output(storage, out, force)
    problems = {file.path: reason for file in files if (reason := _problem(file))}
    while True:
        rows = stages.rows_of_files(engine, files, problems, options or Options())
        with stages.outcomes(rows).kept() as resolved:
            tallies = [Tally(**row) for row in stages.tallies(resolved).collect().to_pylist()]
            unread = {file.path for file in files} - {tally.file for tally in tallies}
            if not unread:
                summary = summed(tallies)
                write(engine, _tables(resolved, summary), summary, out)
                return summary
        problems |= dict.fromkeys(unread, _UNREADABLE)


def find(storage: Storage, sources: Sequence[str], out: str) -> list[File]:
    """The files of all sources, without duplicates and without those of the output itself."""
    own = {folder.path for folder in storage.find(out)} if storage.exists(out) else set()
    files: dict[str, File] = {}
    for source in sources:
        matches = storage.find(source)
        if not matches:
            raise PipelineError(f"{source}: there is no such file or folder; check the path")
        for match in matches:
            if not match.is_folder and match.name.startswith(_HIDDEN):
                if source.endswith(match.name):  # it was named, rather than matched by a pattern
                    raise PipelineError(
                        f"{match.path}: names that start with . or _ are ignored; rename the file, or "
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


def check_output(storage: Storage, out: str, force: bool) -> None:
    """Raise an error unless the output may be written."""
    storage.check_output(out)
    if not storage.exists(out):
        return
    inside = {file.name for file in storage.inside(out)}
    other = {name for name in inside - _OURS if not name.startswith(".")}
    if other or (inside and IngestFolder.NOTE not in inside):
        first = min(other or inside)
        raise PipelineError(f"{out} holds other files ({first}); choose another folder")
    if inside and not force:
        raise PipelineError(
            f"{out} holds a finished ingest; choose another folder, or pass `force` to replace it"
        )


def write(engine: PipelineEngine, tables: Mapping[str, Table], summary: Summary, out: str) -> None:
    """Write all tables, and then the note."""
    files = pa.Table.from_pylist([asdict(file) for file in summary.files], schema=FILES)
    with replacing(engine.storage, out) as folder:
        for name, table in {**tables, IngestFolder.FILES: engine.table(files)}.items():
            table.write(join(folder, name))
        engine.storage.write_note(folder, IngestFolder.NOTE, summary.to_dict())


def _tables(resolved: Table, summary: Summary) -> dict[str, Table]:
    tables = {
        IngestFolder.MESSAGES: stages.messages(resolved, summary.names),
        IngestFolder.EVENTS: stages.events(resolved, summary.names),
        IngestFolder.REJECTS: stages.rejects(resolved),
    }
    if not any(run.events for run in summary.runs):
        del tables[IngestFolder.EVENTS]
    return tables


def _problem(file: File) -> str | None:
    if file.size > LARGEST:
        return f"{file.size:,} bytes, more than {LARGEST:,}; split it into several files"
    return EMPTY if not file.size and not is_near(file.path) else None  # which Spark skips
