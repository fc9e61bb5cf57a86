"""Traces on disk: the suffix of the name determines the format.

| `.parquet` | large runs, the pipeline; needs `beforehand[trace]` |
| `.jsonl`, `.jsonl.gz` | written by hand or in any language |
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from beforehand.errors import TraceError
from beforehand.trace.jsonlines import COMPRESSED, PLAIN, JsonLinesSink, read_json_lines
from beforehand.trace.parquet import ENDING, ParquetSink, read_parquet
from beforehand.trace.schema import Event
from beforehand.trace.sinks import FileSink

__all__ = ["JsonLinesSink", "ParquetSink", "create", "read"]

_READERS: dict[str, Callable[[Path], Iterator[Event]]] = {
    ENDING: read_parquet,
    PLAIN: read_json_lines,
    COMPRESSED: read_json_lines,
}
_ENDINGS = ", ".join(_READERS)


def create(path: str | os.PathLike[str]) -> FileSink:
    """A sink for a new file, in the format of its suffix."""
    name = os.fspath(path)
    if name.endswith(ENDING):
        return ParquetSink(path)
    if name.endswith((PLAIN, COMPRESSED)):
        return JsonLinesSink(path)
    raise TraceError(f"{name}: not the name of a trace; end it in one of {_ENDINGS}")


def read(path: str | os.PathLike[str]) -> Iterator[Event]:
    """The events of a file, or of all files of a folder sorted by name, in bounded memory.

    Iterating raises TraceError where a file is invalid.
    """
    source = Path(path)
    if source.is_dir():
        return _read_all(_files_of(source))
    if not source.exists():
        raise TraceError(f"{source}: there is no such file or folder; check the path")
    if _ending(source) is None:
        raise TraceError(f"{source}: not the name of a trace; it should end in one of {_ENDINGS}")
    return _read_all([source])


def _files_of(folder: Path) -> list[Path]:
    """The traces directly in a folder, without unfinished files and Spark's metadata."""
    files = [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith((".", "_")) and _ending(file) is not None
    ]
    if not files:
        raise TraceError(
            f"{folder}: there is no trace in this folder, no file that ends in {_ENDINGS}; "
            "check the path, or whether the run has finished"
        )
    return files


def _ending(path: Path) -> str | None:
    return next((ending for ending in _READERS if path.name.endswith(ending)), None)


def _read_all(paths: Iterable[Path]) -> Iterator[Event]:
    for path in paths:
        reader = _READERS[_ending(path) or PLAIN]
        try:
            yield from reader(path)
        except OSError as error:
            raise TraceError(
                f"{path}: cannot be read ({error.strerror}); check that you may read it"
            ) from error
