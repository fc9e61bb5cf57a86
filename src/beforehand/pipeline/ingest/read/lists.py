"""Lists with a message per line: sender, receiver, time; separated by spaces, tabs or commas.

Lines that start with `#` are comments. The columns may have a header, and the user can name them,
by their titles or by their numbers from 1 on.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.options import Options, SourceColumn
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.values import integer, nanoseconds, process

_COLUMNS: Final = {
    "sender": SourceColumn("1"),
    "receiver": SourceColumn("2"),
    "time": SourceColumn("3"),
}
_UNIT: Final = "s"
_SAMPLE: Final = 20  # lines that decide whether a file is such a list


def read_list(data: bytes, options: Options) -> Iterator[Row | BadRow]:
    """The messages of a file."""
    columns = {**_COLUMNS, **({} if options.maps_spans else options.columns)}
    indices: dict[str, int] | None = None
    seen: Counter[tuple[str, str, int]] = Counter()
    for number, line in lines_of(data):
        if isinstance(line, BadRow):
            yield line
            continue
        cells = _cells(line)
        if not cells:
            continue
        if indices is None:
            indices = _indices(cells, columns)
            if not _is_row(cells, indices, columns) and _is_header(cells):
                continue
        try:
            message = _message(cells, indices, columns)
        except RowError as problem:
            yield BadRow(number, line, str(problem))
            continue
        # A list has no ids: an equal line in the same file is another message, but the second such
        # line in another file is the same message as the second one here.
        key = message[:3]
        seen[key] += 1
        yield Row(number, line, (*message, seen[key]), order=message[2])


def looks_like_a_list(data: bytes) -> bool:
    """Whether most of the first lines have two names and a number; some may be damaged."""
    rows = [
        cells for _, line in lines_of(data) if isinstance(line, str) and (cells := _cells(line))
    ]
    rows = rows[: _SAMPLE + 1]
    indices = {name: int(column.name) - 1 for name, column in _COLUMNS.items()}
    if rows and not _is_row(rows[0], indices, _COLUMNS) and _is_header(rows[0]):
        rows = rows[1:]
    good = [len(row) == len(_COLUMNS) and _is_row(row, indices, _COLUMNS) for row in rows]
    return sum(good) > len(good) // 2


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [] if not line or line.startswith("#") else re.split(r"\s*,\s*|\s+", line)


def _is_header(cells: list[str]) -> bool:
    """Titles contain no digits, so a damaged first row isn't mistaken for a header."""
    return len(cells) >= len(_COLUMNS) and not any(re.search("[0-9]", cell) for cell in cells)


def _indices(first: list[str], columns: Mapping[str, SourceColumn]) -> dict[str, int]:
    indices = {}
    for ours, column in columns.items():
        if column.name in first and not column.name.isdecimal():
            indices[ours] = first.index(column.name)
        elif column.name.isdecimal() and len(column.name) < 4 and int(column.name) > 0:
            indices[ours] = int(column.name) - 1
        else:
            raise FileError(
                f"the first line has no column {column.name!a}; name the columns by their titles or "
                "numbers with `columns`, like sender=from,receiver=to,time=3:ms"
            )
    return indices


def _is_row(cells: list[str], indices: dict[str, int], columns: Mapping[str, SourceColumn]) -> bool:
    try:
        _message(cells, indices, columns)
    except RowError:
        return False
    return True


def _message(
    cells: list[str], indices: dict[str, int], columns: Mapping[str, SourceColumn]
) -> tuple[str, str, int, int | None]:
    """Sender, receiver, time, and bytes if there is such a column."""
    needed = max(indices.values()) + 1
    if len(cells) < needed:
        raise RowError(f"has {len(cells)} columns, fewer than {needed}; is it truncated?")
    size = integer(cells[indices["bytes"]], "bytes", 0) if "bytes" in indices else None
    return (
        process(cells[indices["sender"]], "sender"),
        process(cells[indices["receiver"]], "receiver"),
        nanoseconds(cells[indices["time"]], "time", columns["time"].unit or _UNIT),
        size,
    )
