"""Worker processes: started when there is enough work, ended with the engine."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_EXCEPTION,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar

from beforehand.pipeline.engine.engine import WorkerLostError

R = TypeVar("R")
_PRELOADED: Final = "beforehand.pipeline.engine.local"  # with Arrow, which takes longest to import


class Pool:
    """Processes for tasks."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.done = self.total = 0  # tasks of the current call
        self.has_lost = False  # whether a worker ended before its task, ever
        self._executor: ProcessPoolExecutor | None = None

    def run(self, calls: Sequence[Callable[[], R]]) -> list[R]:
        """The results of all calls, in their order; an exception in one ends the others."""
        self.done, self.total = 0, len(calls)
        try:
            # Signals raise in the main thread only: in another one, no process is left half started.
            with ThreadPoolExecutor(1, initializer=_block_interrupts) as starter:
                futures = starter.submit(self._submitted, calls).result()
            ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in ended:
                future.result()  # raises without waiting for the others
            return [future.result() for future in futures]
        except BrokenProcessPool:
            self.has_lost = True
            self.close()
            raise WorkerLostError(
                "a worker process was killed, probably for lack of memory; free some, or use fewer "
                "and smaller inputs"
            ) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all workers at once."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        workers: list[BaseProcess] = list((executor._processes or {}).values())
        for worker in workers:
            worker.terminate()
        executor.shutdown(wait=True, cancel_futures=True)

    def _submitted(self, calls: Sequence[Callable[[], R]]) -> list[Future[R]]:
        executor = self._started()
        futures = [executor.submit(call) for call in calls]
        for future in futures:
            future.add_done_callback(self._count)
        return futures

    def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(self.workers, mp_context=_context())
        return self._executor

    def _count(self, future: Future[Any]) -> None:
        self.done += 1


def _context() -> BaseContext:
    """Workers don't inherit threads or locks, and where possible start with Arrow imported."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    return context


def _block_interrupts() -> None:
    """Ctrl-C reaches the whole group of processes, and the parent decides: block it for its children.

    They inherit that from this thread, before they run a line of Python.
    """
    resource_tracker.ensure_running()  # first, because it unblocks the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
