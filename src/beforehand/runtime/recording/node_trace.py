"""The trace of a node: the events of one process, recorded without blocking it.

The node records one event or a run of messages at a time: numbers are appended to lists, and the
labels of an event (kind, sender, ...) go into a small table, since they rarely change. A thread
(`runtime/trace_writer.py`) writes the groups to disk in parts that are complete files, so that a
process that is killed loses only its last seconds.

A trace must never slow the node down or exhaust its memory. If it cannot be written, or not as fast as
events occur, the trace ends there, `failed` is called with the reason, and the node carries on.
"""

import os
import time
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.runtime.recording.event_group import EventGroup
from beforehand.runtime.trace_writer import TraceWriter

# Large enough to amortise the fixed cost of a group; converting it takes about a millisecond, for
# which the node may have to wait.
ROWS_PER_GROUP: Final = 4_096

ROWS_PER_PART: Final = 200_000
PART_NS: Final = 2_000_000_000  # of the clock passed to `poke`: what a crash may lose

# Rows, about 100 bytes each, that may wait for the disk before the trace is abandoned.
MAX_BACKLOG: Final = 1_000_000

END: Final = "end of the run"


class NodeTrace:
    """Records the events of one process in a folder; other processes may use the same one.

    `failed` is called at most once, with a sentence, from any thread.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        run: str,
        process: str,
        failed: Callable[[str], None],
        clock: Callable[[], int] = time.time_ns,
        max_backlog: i64 = MAX_BACKLOG,
    ) -> None:
        self._open: bool = True
        self._next: i64 = 1  # the seq of the next event
        self._part_rows: i64 = 0  # rows of the current part, in the group or handed over
        self._part_since: i64 = 0  # when `poke` first saw rows in this part, 0 for never
        self._writer = TraceWriter(folder, run, process, failed)
        self._clock = clock
        self._max_backlog = max_backlog
        self._group = EventGroup(1)
        self.record("start", None, 0, None, 0, 0, "")

    def record(
        self,
        kind: str,
        sender: str | None,
        mid: i64,
        to: tuple[str, ...] | None,
        payload_bytes: i64,
        meta_bytes: i64,
        detail: str,
    ) -> None:
        """Add one event; a `mid` of 0 means none. The fields are those of `trace.Event`."""
        if not self._open:
            return
        group = self._group
        group.codes.append(group.code(kind, sender, mid != 0, to, detail))
        if mid == 0:
            group.mids.append(None)
        else:
            group.mids.append(mid)
        group.times.append(self._clock())
        group.payloads.append(payload_bytes)
        group.metas.append(meta_bytes)
        self._count(1)

    def record_run(
        self, kind: str, sender: str, first: i64, to: tuple[str, ...] | None, sizes: list[int]
    ) -> None:
        """Add an event for each of several consecutive messages, given the sizes of their payloads."""
        rows = len(sizes)
        if rows == 1:  # the bulk path pays off only for more
            self.record(kind, sender, first, to, sizes[0], 0, "")
        if not self._open or rows <= 1:
            return
        group = self._group
        group.codes.extend([group.code(kind, sender, True, to, "")] * rows)
        group.mids.extend(range(first, first + rows))
        group.times.extend([self._clock()] * rows)
        group.payloads.extend(sizes)
        group.metas.extend([0] * rows)
        self._count(rows)

    def poke(self, now: i64) -> None:
        """Complete a part that is old enough; call this about once a second."""
        if not self._open or self._part_rows == 0:
            return
        if self._part_since == 0:
            self._part_since = now
        elif now - self._part_since >= PART_NS:
            self._hand_over(True)

    def close(self, detail: str = END, timeout: float = 30.0) -> None:
        """Record the stop of the process, write everything, and wait for that; idempotent.

        This blocks on the disk, so call it in a thread. If it takes longer than `timeout` seconds,
        `failed` is called, and the last part may be missing.
        """
        self.record("stop", None, 0, None, 0, 0, detail)
        if self._open:
            self._hand_over(True)
            self._open = False
        self._writer.close(timeout)

    def backlog(self) -> int:
        """Rows that wait for the disk."""
        return self._writer.backlog()

    def _count(self, rows: i64) -> None:
        self._next += rows
        self._part_rows += rows
        if len(self._group.codes) >= ROWS_PER_GROUP:
            self._hand_over(self._part_rows >= ROWS_PER_PART)

    def _hand_over(self, end_of_part: bool) -> None:
        group = self._group
        self._group = EventGroup(self._next)
        group.end_of_part = end_of_part
        if end_of_part:
            self._part_rows = 0
            self._part_since = 0
        if self._writer.ended:
            self._open = False  # the writer has reported the reason
            self._group = EventGroup(0)
            return
        self._writer.put(group)
        if self.backlog() > self._max_backlog:
            self._open = False
            self._writer.give_up()
