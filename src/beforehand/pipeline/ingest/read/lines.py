"""The lines of a file, decoded one by one: a line that isn't text doesn't spoil the others."""

from collections.abc import Iterator

from beforehand.pipeline.ingest.read.rows import BadRow
from beforehand.trace.jsonlines import LONGEST_LINE


def lines_of(data: bytes) -> Iterator[tuple[int, str | BadRow]]:
    """Each line with its number, without its line ending; one that can't be decoded is a bad row."""
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        yield number, _decoded(data[start:end], number)
        start = end + 1


def _decoded(line: bytes, number: int) -> str | BadRow:
    if len(line) > LONGEST_LINE:
        return BadRow(
            number, display_text(line[:8000]), f"longer than {LONGEST_LINE} bytes; is this text?"
        )
    try:
        # Some editors write a byte order mark.
        return line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\r")
    except UnicodeDecodeError as problem:
        return BadRow(
            number, display_text(line), f"not UTF-8 ({problem.reason}); save the file as UTF-8"
        )


def display_text(data: bytes) -> str:
    """Any bytes as text for display."""
    return data.decode("utf-8", "replace")
