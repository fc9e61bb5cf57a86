"""Tells how far a job is while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final

from beforehand.pipeline.sweep.job import RunCounters

EVERY: Final = 0.2  # seconds


class ProgressPoller:
    """Looks at the counters now and then, in a thread: the caller waits for Spark meanwhile."""

    def __init__(self, counters: RunCounters, tell: Callable[[int, int], None] | None) -> None:
        self._counters = counters
        self._tell = tell
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while self._tell is not None and not self._over.wait(EVERY):
            self._tell(*self._counters.read())

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
