"""Finds the outputs of the pipeline in a folder, and below it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from beforehand.report.reading.context import Gap, ReadingContext
from beforehand.report.reading.files import check_columns, parquet
from beforehand.report.reading.traces import files_of
from beforehand.results.layout import MARKS, OutputKind, kind_of
from beforehand.results.tables.ingest import EVENTS

DEEP: Final = 3  # folders below the one that was named


class Output(NamedTuple):
    """An output of the pipeline."""

    kind: OutputKind
    folder: Path


def find(folder: Path, context: ReadingContext, deep: int = DEEP) -> Iterator[Output]:
    """All outputs in a folder, by name; what is in one of them belongs to it."""
    part = context.part(f"the folder {context.label(folder)}", "check that you may read it")
    listing = part.attempt(
        "all", lambda: (kind_of(folder), sorted(filter(Path.is_dir, folder.iterdir())))
    )
    kind, folders = listing or (None, [])
    if kind is not None:
        yield Output(kind, folder)
        return
    for inner in folders if deep else ():
        if inner.name[0] not in "._":
            yield from find(inner, context, deep - 1)


def looked_for() -> str:
    """The notes that identify outputs, for an error."""
    return ", ".join(names[0] for _, names in MARKS)


def is_trace(path: Path) -> bool:
    """Whether a file, or the first in this folder, is a trace, judging by its columns."""
    files = files_of([path] if path.is_file() else sorted(path.glob("*")))
    if not files or not files[0].name.endswith(".parquet"):
        return bool(files)
    try:
        check_columns(path, parquet(files[:1]).schema, EVENTS)
    except Gap:
        return False
    return True
