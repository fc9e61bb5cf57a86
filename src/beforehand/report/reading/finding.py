"""What a folder holds: the outputs of the pipeline in it, and below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from beforehand.report.reading.files import check_columns, parquet
from beforehand.report.reading.register import Gap, Register
from beforehand.report.reading.traces import NEEDED, files_of

DEEP: Final = 3  # folders below the one that was named

Kind = Literal["study", "sweep", "audit", "traffic", "cluster"]

# What tells each kind, the first that fits. Notes come first; the folders tell one that lacks its note.
MARKS: Final[tuple[tuple[Kind, tuple[str, ...]], ...]] = (
    ("study", ("_study.json", "_source.json", "study/protocols")),
    ("sweep", ("_sweep.json", "waves", "metrics/table1")),
    ("audit", ("_audit.json", "_audited.json", "verdicts")),
    ("traffic", ("_ingest.json", "_ingest-unfinished.json", "_characteristics.json")),
    ("cluster", ("_cluster.json",)),
)


class Found(NamedTuple):
    """An output of the pipeline."""

    kind: Kind
    folder: Path


def kind_of(folder: Path) -> Kind | None:
    """What a folder is, if it is one of ours."""
    for kind, names in MARKS:
        if any((folder / name).exists() for name in names):
            return kind
    return None


def find(folder: Path, register: Register, deep: int = DEEP) -> Iterator[Found]:
    """All outputs in a folder, by name; what is in one of them belongs to it."""
    part = register.part(f"the folder {register.label(folder)}", "check that you may read it")
    looked = part.attempt("all", lambda: (kind_of(folder), _folders_in(folder)))
    if looked is None:
        return
    kind, inside = looked
    if kind is not None:
        yield Found(kind, folder)
        return
    for each in inside if deep else ():
        if each.name[0] not in "._":
            yield from find(each, register, deep - 1)


def _folders_in(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_dir())


def looked_for() -> str:
    """The notes that tell an output, in words."""
    return ", ".join(names[0] for _, names in MARKS)


def is_trace(path: Path) -> bool:
    """Whether a file, or the first in this folder, is a trace, as far as its columns tell."""
    files = files_of([path] if path.is_file() else sorted(path.glob("*")))
    if not files or not files[0].name.endswith(".parquet"):
        return bool(files)
    try:
        check_columns(path, parquet(files[:1]).schema, NEEDED)
    except Gap:
        return False
    return True
