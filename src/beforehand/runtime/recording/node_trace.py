"""The trace of a node: what happened in one process, recorded without holding it up.

The node says what happens, one event or a run of messages at a time, and that is all that it does:
numbers go into lists, and the words of an event (its kind, its sender, ...) into a small table, since
they are nearly always the same. A thread (`trace_parts`) writes the groups to disk, in parts that are
complete files, so that a process that is killed loses only its last seconds.

A trace must never slow the node down or fill its memory. If it cannot be written, or not as fast as
events come, it ends where it is, `failed` is told why, and the node goes on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.runtime.recording.event_group import Group
from beforehand.runtime.recording.part_writer import PartWriter

# Enough that the fixed costs of a group do not show; turning it into columns takes a millisecond,
# for which the node may have to wait once.
ROWS_PER_GROUP: Final = 4_096

ROWS_PER_PART: Final = 200_000
PART_NS: Final = 2_000_000_000  # of the clock that `poke` is told: what a crash may cost

# Rows that may wait for the disk, about 100 bytes each, before the trace gives up.
MOST_WAITING: Final = 1_000_000

END: Final = "end of the run"


class NodeTrace:
    """Records the events of one process in a folder; other processes may use the same one.

    `failed` is called at most once, with a sentence, from whatever thread finds out.
    """

    _group: Group
    _writer: PartWriter
    _clock: Callable[[], int]
    _most_waiting: i64
    _open: bool
    _next: i64  # the seq of the next event
    _part_rows: i64  # recorded in this part, in the group or handed over
    _part_since: i64  # when `poke` first saw something in this part; 0 if it did not

    def __init__(
        self,
        folder: str | os.PathLike[str],
        run: str,
        process: str,
        failed: Callable[[str], None],
        clock: Callable[[], int] = time.time_ns,
        most_waiting: i64 = MOST_WAITING,
    ) -> None:
        self._writer = PartWriter(folder, run, process, failed)
        self._clock = clock
        self._most_waiting = most_waiting
        self._open = True
        self._next = 1
        self._part_rows = 0
        self._part_since = 0
        self._group = Group(1)
        self._writer.start()
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
        """Add an event for each of some messages in a row, by the sizes of their payloads."""
        rows = len(sizes)
        if rows == 1:  # the rest pays only for more
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
        """Finish a part that is old enough; to be called about once a second."""
        if not self._open or self._part_rows == 0:
            return
        if self._part_since == 0:
            self._part_since = now
        elif now - self._part_since >= PART_NS:
            self._hand_over(True)

    def close(self, detail: str = END, timeout: float = 30.0) -> None:
        """Record that the process stops, write all, and wait for that; a second time is nothing.

        This waits for the disk, so call it in a thread. If that takes longer than `timeout` seconds,
        `failed` is told, and the last part may be missing.
        """
        self.record("stop", None, 0, None, 0, 0, detail)
        if self._open:
            self._hand_over(True)
            self._open = False
        self._writer.close(timeout)

    def _count(self, rows: i64) -> None:
        self._next += rows
        self._part_rows += rows
        if len(self._group.codes) >= ROWS_PER_GROUP:
            self._hand_over(self._part_rows >= ROWS_PER_PART)

    def _hand_over(self, end_of_part: bool) -> None:
        group = self._group
        self._group = Group(self._next)
        group.end_of_part = end_of_part
        if end_of_part:
            self._part_rows = 0
            self._part_since = 0
        if self._writer.ended:
            self._open = False  # it has told why
            self._group = Group(0)
            return
        self._writer.put(group)
        if self._writer.waiting() > self._most_waiting:
            self._open = False
            self._writer.give_up()
