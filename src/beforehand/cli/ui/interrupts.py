"""Ctrl-C and SIGTERM: every command ends soon, in one sentence, and leaves nothing half-written.

The signal raises `Interrupted`, a KeyboardInterrupt, so that `with` and `finally` clean up as always;
`end` then exits without freeing the heap object by object, which can take longer than the work took.
What doesn't unwind within GRACE seconds, such as a long call into compiled code, is ended by a thread,
after the clean-ups that `on_interrupt` registered. Compiled code that holds the GIL delays both.
"""

import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import util
from types import FrameType
from typing import Final, NoReturn

import typer

from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import say

GRACE: Final = 1.0  # seconds to unwind: a second is what people wait before they press Ctrl-C again
CHILD_SECONDS: Final = 0.2  # for a killed process to end; more than one end at the same time
_CODES: Final = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
_WORDS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_NOTHING: Final = "nothing was kept"


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _State:
    """What this process knows about its end."""

    def __init__(self) -> None:
        self.installed = False
        self.ending = threading.Lock()  # whoever gets it says the sentence and ends the process
        self.signal: int | None = None  # the one that ends this process
        self.kept: list[str] = []  # what would be kept, the innermost block last
        self.cleanups: list[Callable[[], None]] = []


_state = _State()


def install() -> None:
    """Handle the signals of this process; call it once, in the main thread."""
    _state.installed = True
    for number in _CODES:
        signal.signal(number, _interrupt)
    # Python runs handlers between two of its instructions only; the interpreter writes to this
    # descriptor at once.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader, writer), name="signals", daemon=True).start()
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def on_interrupt(
    *, kept: str | None = None, cleanup: Callable[[], None] | None = None
) -> Iterator[None]:
    """During the block: what the sentence says is kept, and what to clean up if it is interrupted.

    If the block doesn't unwind, the clean-up runs in another thread, while the block still runs.
    """
    if kept is not None:
        _state.kept.append(kept)
    if cleanup is not None:
        _state.cleanups.append(cleanup)
    try:
        yield
    except KeyboardInterrupt:
        _clean_up(cleanup)
        raise  # with the note still in place, for `end`
    except BaseException:
        if _state.signal is not None:  # what the clean-up has broken
            _clean_up(cleanup)
            raise Interrupted(_state.signal) from None
        _forget(kept, cleanup)
        raise
    _forget(kept, cleanup)


def end(problem: KeyboardInterrupt) -> NoReturn:
    """Say that the command was interrupted, and exit."""
    number = problem.number if isinstance(problem, Interrupted) else signal.SIGINT
    if not _state.installed:  # in somebody else's process: a test, or an application
        _say(number)
        raise typer.Exit(_CODES[signal.Signals(number)]) from None
    _end_process(number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for handled in _CODES:  # once is enough: the next one would interrupt the clean-up
        signal.signal(handled, signal.SIG_IGN)
    _count_down(number)
    gc.freeze()  # collecting the heap of a large run takes seconds, and it will not be used again
    raise Interrupted(number)


def _watch(reader: socket.socket, writer: socket.socket) -> None:
    while byte := reader.recv(1):
        if byte[0] in _CODES:
            _count_down(byte[0])


def _count_down(number: int) -> None:
    """End the process by force after a while, unless it has ended by then."""
    if _state.signal is not None:
        return
    _state.signal = number

    def force() -> None:
        time.sleep(GRACE)
        for cleanup in reversed(_state.cleanups.copy()):
            _clean_up(cleanup)
        _end_process(number)

    threading.Thread(target=force, name="end by force", daemon=True).start()


def _clean_up(cleanup: Callable[[], None] | None) -> None:
    """Run a clean-up, unless another thread does."""
    with suppress(ValueError):
        if cleanup is not None:
            _state.cleanups.remove(cleanup)
            with suppress(Exception):
                cleanup()


def _end_process(number: int) -> NoReturn:
    _state.ending.acquire()  # never released: the first one ends the process
    _say(number)
    children = multiprocessing.active_children()
    for child in children:
        child.kill()
    for child in children:
        child.join(CHILD_SECONDS)
    _remove_semaphores()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_CODES[signal.Signals(number)])


def _remove_semaphores() -> None:
    """Remove what multiprocessing keeps in the system and in a temporary folder, if it doesn't block."""
    run = util._run_finalizers  # type: ignore[attr-defined]  # what atexit would run
    finalizers = threading.Thread(target=run, name="finalizers", daemon=True)
    finalizers.start()
    finalizers.join(CHILD_SECONDS)


def _say(number: int) -> None:
    kept = _state.kept.pop() if _state.kept else _NOTHING
    _state.kept.clear()
    say(f"{_WORDS[signal.Signals(number)]}; {kept}")


def _forget(kept: str | None, cleanup: Callable[[], None] | None) -> None:
    if kept is not None:
        _state.kept.remove(kept)
    if cleanup is not None:
        _state.cleanups.remove(cleanup)


def _leave_to_parent() -> None:
    """In a forked child: Ctrl-C reaches the whole group, and the parent decides."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
