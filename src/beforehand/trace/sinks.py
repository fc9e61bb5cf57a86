"""A file that exists under its name only when it is complete.

It is written under a temporary name in the same folder and renamed at the end, which is atomic. So a
run that is killed leaves no trace that looks finished. There must be only one writer per path at a time.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from beforehand.errors import TraceError
from beforehand.trace.checks import Table, first_problem, shown
from beforehand.trace.recorder import Columns, Sink


class FileSink(Sink):
    """What the sinks of all formats share: temporary name, completion, and validation of each group."""

    def __init__(self, path: str | os.PathLike[str], endings: tuple[str, ...]) -> None:
        self.path = Path(path)
        if not self.path.name.endswith(endings):
            raise TraceError(
                f"{self.path}: the suffix determines the format of a trace; "
                f"give the file a name that ends in {' or '.join(endings)}"
            )
        # Starts with a dot because Spark, like `read`, skips such files in a folder.
        self.unfinished = self.path.with_name(f".{self.path.name}.unfinished")
        self.rows = 0
        self.file: BinaryIO
        try:
            self.file = open(self.unfinished, "wb")  # noqa: SIM115 (closed in close and abort)
        except OSError as error:
            raise TraceError(
                f"{self.path}: cannot be written ({error.strerror}); "
                "create its folder, or choose one that you may write to"
            ) from error

    def write(self, columns: Columns) -> None:
        """Validate the events and append them to the file."""
        table = table_of(columns)
        invalid = first_problem(table)
        if invalid is not None:
            row, problem = invalid
            raise TraceError(
                f"{self.path}: row {self.rows + row + 1}, recorded by "
                f"{shown(columns.process[row])}: {problem}"
            )
        self.append(table)
        self.rows += len(columns)

    def close(self) -> None:
        """Complete the file and give it its final name."""
        try:
            self.finish()
            self.file.flush()
            os.fsync(self.file.fileno())  # or a crash could leave the name without content
            self.file.close()
            os.replace(self.unfinished, self.path)
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove the file."""
        # Flushing buffers may fail here again; their content is not needed anyway.
        with suppress(Exception):
            self.discard()
        with suppress(OSError):
            self.file.close()
        self.unfinished.unlink(missing_ok=True)

    def append(self, table: Table) -> None:
        """Write one group of valid events in the format of the file."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what the format requires at the end."""

    def discard(self) -> None:
        """Release resources without finishing the file."""


def table_of(columns: Columns) -> Table:
    """The columns in the order of the fields of an event."""
    return (
        [columns.run] * len(columns),
        columns.process,
        columns.seq,
        columns.kind,
        columns.sender,
        columns.mid,
        columns.to,
        columns.time_ns,
        columns.payload_bytes,
        columns.meta_bytes,
        columns.detail,
    )
