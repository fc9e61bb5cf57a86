"""Collects events in columns and passes them on in groups, so that memory stays bounded.

A run has millions of events, each recorded on the hot path of a core. So this is compiled with the
cores, allocates no object per event, and validates nothing: a sink can do that for a whole group at
once. Columns and not rows, because that is what Parquet needs.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final

from mypy_extensions import i64, mypyc_attr

from beforehand.errors import TraceError

# Few enough that a group stays in the processor's caches and its memory is reused by the next one:
# with 65,536, most of the time goes into allocating memory. Enough to amortise the fixed costs of a
# sink. Sinks that need larger groups combine some.
ROWS_PER_GROUP: Final = 4_096


class Columns:
    """Some events of one run, in the order of recording: event n is item n of each list."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.process: list[str] = []
        self.seq: list[int] = []
        self.kind: list[str] = []
        self.sender: list[str | None] = []
        self.mid: list[int | None] = []
        self.to: list[tuple[str, ...] | None] = []
        self.time_ns: list[int] = []
        self.payload_bytes: list[int] = []
        self.meta_bytes: list[int] = []
        self.detail: list[str] = []

    def __len__(self) -> int:
        return len(self.seq)


@mypyc_attr(allow_interpreted_subclasses=True)
class Sink:
    """Where columns go. The recorder ends with exactly one call of `close` or `abort`."""

    def write(self, columns: Columns) -> None:
        """Take a group of events, which the sink owns from now on."""
        raise NotImplementedError

    def close(self) -> None:
        """Everything was written: make it permanent."""
        raise NotImplementedError

    def abort(self) -> None:
        """The run did not finish: leave nothing behind that looks complete."""
        raise NotImplementedError


class Recorder:
    """Records the events of one run; as a context manager, it aborts on an exception."""

    def __init__(self, run: str, sink: Sink) -> None:
        self._rows: i64 = 0
        self._open: bool = True
        self._run = run
        self._sink = sink
        self._columns = Columns(run)

    def record(
        self,
        process: str,
        seq: i64,
        kind: str,
        sender: str | None,
        mid: i64,
        to: tuple[str, ...] | None,
        *,
        time_ns: i64,
        payload_bytes: i64,
        meta_bytes: i64,
        detail: str,
    ) -> None:
        """Add one event; a `mid` of 0 means none. The other fields are those of `schema.Event`."""
        if not self._open:
            raise TraceError(
                f"the trace of run {self._run!a} is finished, and {process} still records {kind}; "
                "close the recorder after the last event"
            )
        columns = self._columns
        columns.process.append(process)
        columns.seq.append(seq)
        columns.kind.append(kind)
        columns.sender.append(sender)
        if mid == 0:
            columns.mid.append(None)
        else:
            columns.mid.append(mid)
        columns.to.append(to)
        columns.time_ns.append(time_ns)
        columns.payload_bytes.append(payload_bytes)
        columns.meta_bytes.append(meta_bytes)
        columns.detail.append(detail)
        self._rows += 1
        if self._rows >= ROWS_PER_GROUP:
            self._flush()

    def close(self) -> None:
        """Pass on the remaining events and close the sink. Idempotent."""
        if not self._open:
            return
        if self._rows > 0:
            self._flush()
        self._open = False
        self._sink.close()

    def abort(self) -> None:
        """Discard what was recorded. No effect after `close`."""
        if not self._open:
            return
        self._open = False
        self._columns = Columns(self._run)
        self._rows = 0
        self._sink.abort()

    def _flush(self) -> None:
        columns = self._columns
        self._columns = Columns(self._run)
        self._rows = 0
        try:
            self._sink.write(columns)
        except BaseException:
            # These events are lost, so a later close() must not make the file look complete.
            self.abort()
            raise

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
