"""Lists with a message per line: sender, receiver, time; separated by spaces, tabs or commas.

Lines that start with `#` are comments. The columns may have a header, and the user can name them,
by their titles or by their numbers from 1 on.
"""

from __future__ import annotations

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
_LOOKED_AT: Final = 20  # lines, to see whether a file is such a list


def read_list(data: bytes, options: Options) -> Iterator[Row | BadRow]:
    """The messages of a file."""
    columns = {**_COLUMNS, **({} if options.maps_spans else options.columns)}
    places: dict[str, int] | None = None
    seen: Counter[tuple[str, str, int]] = Counter()
    for number, line in lines_of(data):
        if isinstance(line, BadRow):
            yield line
            continue
        cells = _cells(line)
        if not cells:
            continue
        if places is None:
            places = _places(cells, columns)
            if not _is_row(cells, places, columns) and _is_header(cells):
                continue
        try:
            found = _message(cells, places, columns)
        except RowError as problem:
            yield BadRow(number, line, str(problem))
            continue
        # A list has no ids: an equal line of the same file is one more message, and the second such
        # line of another file is the same as the second one here.
        key = (found[0], found[1], found[2])
        seen[key] += 1
        yield Row(number, line, (*found, seen[key]), order=found[2])


def looks_like_a_list(data: bytes) -> bool:
    """Whether most of the first lines of a file have two names and a number: some may be damaged."""
    rows = [
        cells for _, line in lines_of(data) if isinstance(line, str) and (cells := _cells(line))
    ]
    rows = rows[: _LOOKED_AT + 1]
    places = {name: int(column.name) - 1 for name, column in _COLUMNS.items()}
    if rows and not _is_row(rows[0], places, _COLUMNS) and _is_header(rows[0]):
        rows = rows[1:]
    good = [len(each) == len(_COLUMNS) and _is_row(each, places, _COLUMNS) for each in rows]
    return sum(good) > len(good) // 2


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [] if not line or line.startswith("#") else re.split(r"\s*,\s*|\s+", line)


def _is_header(cells: list[str]) -> bool:
    """Titles hold no numbers, so a first row that is only damaged is not taken for them."""
    return len(cells) >= len(_COLUMNS) and not any(re.search("[0-9]", cell) for cell in cells)


def _places(first: list[str], columns: Mapping[str, SourceColumn]) -> dict[str, int]:
    places = {}
    for ours, column in columns.items():
        if column.name in first and not column.name.isdecimal():
            places[ours] = first.index(column.name)
        elif column.name.isdecimal() and len(column.name) < 4 and int(column.name) > 0:
            places[ours] = int(column.name) - 1
        else:
            raise FileError(
                f"the first line has no column {column.name!a}; name the columns by their titles or "
                "numbers with `columns`, like sender=from,receiver=to,time=3:ms"
            )
    return places


def _is_row(cells: list[str], places: dict[str, int], columns: Mapping[str, SourceColumn]) -> bool:
    try:
        _message(cells, places, columns)
    except RowError:
        return False
    return True


def _message(
    cells: list[str], places: dict[str, int], columns: Mapping[str, SourceColumn]
) -> tuple[str, str, int, int | None]:
    """Sender, receiver, time, and bytes if there is such a column."""
    needed = max(places.values()) + 1
    if len(cells) < needed:
        raise RowError(f"has {len(cells)} columns, fewer than {needed}; is it cut off?")
    size = integer(cells[places["bytes"]], "bytes", 0) if "bytes" in places else None
    return (
        process(cells[places["sender"]], "sender"),
        process(cells[places["receiver"]], "receiver"),
        nanoseconds(cells[places["time"]], "time", columns["time"].unit or _UNIT),
        size,
    )
