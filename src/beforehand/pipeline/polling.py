"""Polling in a thread, while the caller waits for Spark."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def polling(poll: Callable[[], bool], seconds: float) -> Iterator[None]:
    """Call a function periodically, until it returns False or the block ends."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(seconds) and poll():
            pass

    thread = threading.Thread(target=loop, name="polling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
