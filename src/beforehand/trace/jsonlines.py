"""Traces as lines of JSON: for people, for small runs, and for languages without Parquet.

Each line is one object with the fields of an event, most of which are optional. A header line
`{"beforehand-trace": 1}` gives the version; without one it is 1. It may be repeated, so that files can
be concatenated with `cat`.
"""

import difflib
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from beforehand.errors import TraceError
from beforehand.trace.checks import Table, problem, problem_of_version, shown
from beforehand.trace.schema import VERSION, VERSION_KEY, Event
from beforehand.trace.sinks import FileSink

PLAIN: Final = ".jsonl"
COMPRESSED: Final = ".jsonl.gz"

# Enough for the names of 50,000 receivers of full length; without a limit, a file that isn't text
# would be read into memory as one line.
LONGEST_LINE: Final = 16 * 1024 * 1024

_DEFAULTS: Final[dict[str, object]] = {
    "run": "",
    "sender": None,
    "mid": None,
    "to": None,
    "time_ns": 0,
    "payload_bytes": 0,
    "meta_bytes": 0,
    "detail": "",
}

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class JsonLinesSink(FileSink):
    """Writes `.jsonl`, or with gzip `.jsonl.gz`; the same rows give the same bytes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, (PLAIN, COMPRESSED))
        self.lines: BinaryIO = self.file
        if self.path.name.endswith(COMPRESSED):
            # Without name and time, which would make equal traces differ.
            self.lines = cast(
                BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=self.file, mtime=0)
            )
        self.lines.write(_ENCODER.encode({VERSION_KEY: VERSION}).encode() + b"\n")

    def append(self, table: Table) -> None:
        """Write one line per event, with all of its fields."""
        for fields in zip(*table, strict=True):
            event = dict(zip(Event._fields, fields, strict=True))
            self.lines.write(_ENCODER.encode(event).encode() + b"\n")

    def finish(self) -> None:
        """Write the end of the compressed stream."""
        if self.lines is not self.file:
            self.lines.close()

    def discard(self) -> None:
        """Close the compressed stream, which would otherwise warn when it is collected."""
        self.finish()


def read_json_lines(path: Path) -> Iterator[Event]:
    """The events of a file, one line at a time."""
    counts: dict[tuple[object, object], int] = {}  # events so far, by run and process
    number = 0
    with open(path, "rb") as raw:
        compressed = path.name.endswith(COMPRESSED)
        file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
        while True:
            number += 1
            try:
                line = file.readline(LONGEST_LINE + 1)
            except (OSError, EOFError, zlib.error) as error:
                raise TraceError(
                    f"{path}: line {number}: the compressed data is damaged or cut off ({error}); "
                    "copy or write the file again"
                ) from error
            if not line:
                return
            try:
                event = event_of(line, number, counts)
            except TraceError as error:
                raise TraceError(f"{path}: line {number}: {error}") from error.__cause__
            if event is not None:
                yield event


def event_of(line: bytes, number: int, counts: dict[tuple[object, object], int]) -> Event | None:
    """The event of a line; None for a header and for an empty line."""
    if len(line) > LONGEST_LINE:
        raise TraceError(
            f"longer than {LONGEST_LINE} bytes; is this text? write one event per line"
        )
    fields = _object(line, number)
    if fields is None:
        return None
    if VERSION_KEY in fields:
        if invalid := problem_of_version(fields[VERSION_KEY]):
            raise TraceError(invalid)
        return None
    _check_names(fields)
    fields = {**_DEFAULTS, **fields}
    key = (str(fields["run"]), str(fields["process"]))
    counts[key] = counts.get(key, 0) + 1
    fields.setdefault("seq", counts[key])
    receivers = fields["to"]
    if isinstance(receivers, list):
        fields["to"] = tuple(receivers)
    event = Event(**fields)  # type: ignore[arg-type]  # problem() checks the types
    if invalid := problem(event):
        raise TraceError(invalid)
    return event


def _object(line: bytes, number: int) -> dict[str, object] | None:
    try:
        # Some editors start a text file with a byte order mark.
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        value = json.loads(text) if text else None
    except UnicodeDecodeError as error:
        raise TraceError(f"not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else "; the file seems to be cut off here"
        raise TraceError(
            f"not JSON ({error}){cut}; write one JSON object per line, like "
            '{"process": "alice", "kind": "start"}'
        ) from error
    if not text:
        return None
    if not isinstance(value, dict):
        raise TraceError(
            f"{shown(value)} is not a JSON object; write the fields of one event in braces"
        )
    return value


def _check_names(fields: dict[str, object]) -> None:
    """Reject unknown fields: as most are optional, a misspelt one would otherwise go unnoticed."""
    for name in fields:
        if name not in Event._fields:
            close = difflib.get_close_matches(name, Event._fields, 1)
            remedy = f"did you mean `{close[0]}`?" if close else "put its value into `detail`"
            raise TraceError(f"there is no field {shown(name)}; {remedy}")
    for name in ("process", "kind"):
        if name not in fields:
            raise TraceError(f"`{name}` is missing; every event needs one")
