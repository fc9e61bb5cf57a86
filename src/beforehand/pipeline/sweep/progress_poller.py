"""Reports the progress of a job while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final

from beforehand.pipeline.sweep.job import RunCounters

INTERVAL: Final = 0.2  # seconds


class ProgressPoller:
    """Polls the counters in a thread, while the caller waits for Spark."""

    def __init__(self, counters: RunCounters, report: Callable[[int, int], None] | None) -> None:
        self._counters = counters
        self._report = report
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def _poll(self) -> None:
        while self._report is not None and not self._stopped.wait(INTERVAL):
            self._report(*self._counters.read())

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()
