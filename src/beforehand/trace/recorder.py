"""Collects events in columns and hands them on in groups, so that memory stays bounded.

A run has millions of events and each is recorded while a core works, so this is compiled with the
cores, makes no object per event, and checks nothing: whoever takes the columns can do that for
a whole group in one go. Columns and not rows, because that is what Parquet wants.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final

from mypy_extensions import i64, mypyc_attr

from beforehand.errors import TraceError

# Few enough that a group stays in the processor's caches and its memory is used again by the next
# one: with 65,536, most of the time goes into getting fresh memory. Enough that the fixed costs of
# a sink do not show. Sinks that want larger groups put some together.
ROWS_PER_GROUP: Final = 4_096


class Columns:
    """Some events of one run, in the order in which they were recorded: the n-th of each list."""

    run: str
    process: list[str]
    seq: list[int]
    kind: list[str]
    sender: list[str | None]
    mid: list[int | None]
    to: list[tuple[str, ...] | None]
    time_ns: list[int]
    payload_bytes: list[int]
    meta_bytes: list[int]
    detail: list[str]

    def __init__(self, run: str) -> None:
        self.run = run
        self.process = []
        self.seq = []
        self.kind = []
        self.sender = []
        self.mid = []
        self.to = []
        self.time_ns = []
        self.payload_bytes = []
        self.meta_bytes = []
        self.detail = []

    def __len__(self) -> int:
        return len(self.seq)


@mypyc_attr(allow_interpreted_subclasses=True)
class Sink:
    """Where columns go. Whoever writes one is told of the end by exactly one of close and abort."""

    def write(self, columns: Columns) -> None:
        """Take a group of events; they are the sink's from now on."""
        raise NotImplementedError

    def close(self) -> None:
        """All was written: make it last."""
        raise NotImplementedError

    def abort(self) -> None:
        """The run did not finish: leave nothing that looks as if it had."""
        raise NotImplementedError


class Recorder:
    """Records the events of one run; as a context manager, it aborts if there is an error."""

    _run: str
    _sink: Sink
    _columns: Columns
    _rows: i64
    _open: bool

    def __init__(self, run: str, sink: Sink) -> None:
        self._run = run
        self._sink = sink
        self._columns = Columns(run)
        self._rows = 0
        self._open = True

    def record(
        self,
        process: str,
        seq: i64,
        kind: str,
        sender: str | None,
        mid: i64,
        to: tuple[str, ...] | None,
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
            self._hand_over()

    def close(self) -> None:
        """Hand over the rest and close the sink. A second time changes nothing."""
        if not self._open:
            return
        if self._rows > 0:
            self._hand_over()
        self._open = False
        self._sink.close()

    def abort(self) -> None:
        """Drop what was recorded. After close() this changes nothing."""
        if not self._open:
            return
        self._open = False
        self._columns = Columns(self._run)
        self._rows = 0
        self._sink.abort()

    def _hand_over(self) -> None:
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
