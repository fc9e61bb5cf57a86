"""How a command reports that it cannot do its work: one sentence on standard error, and an exit code.

The sentence reads *who: what; remedy*. Whoever calls gets the cause by type: errors of the caller exit
with 2, errors of the machine and of ours with 3. Only a finding exits with 1, and never an error.
With BEFOREHAND_DEBUG=1, which `--debug` sets, the traceback comes before the sentence.
"""

import errno
import os
import re
import select
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import typer

from beforehand import requirements
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.errors import BeforehandError, ResourceError

DEBUG_FLAG: Final = "--debug"
DEBUG_VARIABLE: Final = "BEFOREHAND_DEBUG"

_SAME: Final = (
    "conf delimiter engine force format kill master multicast out pattern protocol run timeout"
)
_FLAGS: Final = {"columns": "--map"} | {name: f"--{name}" for name in _SAME.split()}
_PARAMETER: Final = re.compile(f"`({'|'.join(_FLAGS)})`")

# The system's errors that a user corrects by another path or address; all others are the machine's.
_WRONG_VALUE: Final = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ENOTEMPTY,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.EINVAL,
        errno.EADDRINUSE,
        errno.EADDRNOTAVAIL,
        errno.ECONNREFUSED,
    }
)
_ARROW_DETAIL: Final = "Detail: [errno {}] "  # before the system's words, after many of Arrow's
_REMEDIES: Final = {
    errno.ENOSPC: "free some space, or choose a folder on another disk",
    errno.EDQUOT: "free some of your quota, or choose a folder on another disk",
    errno.EACCES: "change its permissions, or choose another path",
    errno.EPERM: "change its permissions, or choose another path",
    errno.EROFS: "choose a folder that can be written to",
    errno.EMFILE: "raise the limit on open files with `ulimit -n`",
    errno.ENFILE: "close other programs, or raise the system's limit on open files",
    errno.ENOMEM: "close other programs, or do less at a time",
    errno.EIO: "check the disk",
}


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn every error into one sentence and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.TyperException):
        raise  # a decision of the command, or of the parser of its arguments
    except Exception as problem:
        if isinstance(problem, BrokenPipeError) and _has_no_reader():
            _discard_output()
            raise typer.Exit(ExitCode.NO_READER) from None
        if is_debugging():
            traceback.print_exc()
        text, code = explained(problem)
        say(text)
        _discard_output()
        raise typer.Exit(code) from None


def enable_debugging(wanted: bool) -> None:
    """Show tracebacks from now on, in worker processes too."""
    if wanted:
        os.environ[DEBUG_VARIABLE] = "1"


def is_debugging() -> bool:
    """Whether tracebacks were asked for."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def say(text: str) -> None:
    """Print a sentence on standard error, on one line."""
    with suppress(OSError):  # standard error may be closed, or on a full disk, too
        typer.echo(f"beforehand: {' '.join(text.split())}", err=True)


def explained(problem: Exception) -> tuple[str, ExitCode]:
    """An error as a sentence, and its exit code."""
    if isinstance(problem, BeforehandError):
        # A library that rewords an error of the system raises its own from that, or from None.
        cause = problem.__context__ if problem.__suppress_context__ else None
        is_machine = isinstance(problem, ResourceError) or (
            isinstance(cause, OSError) and cause.errno is not None and not _is_wrong_value(cause)
        )
        code = ExitCode.MACHINE if is_machine else ExitCode.WRONG_INPUT
        return with_flags(str(problem)), code
    if isinstance(problem, OSError) and problem.errno is not None:
        return _of_the_system(problem)
    if isinstance(problem, MemoryError):
        return "there is not enough memory; close other programs, or do less", ExitCode.MACHINE
    if isinstance(problem, ModuleNotFoundError) and problem.name is not None:
        extra = requirements.extra_of(problem.name)
        if extra is not None:
            remedy = f"run {requirements.install(extra)}"
            return f"this needs {problem.name}, which is not installed; {remedy}", ExitCode.MACHINE
    if _is_of_arrow(problem):
        sentence = f"a table cannot be read or written: {problem}; check the disk"
        return sentence, ExitCode.MACHINE
    what = "".join(traceback.format_exception_only(problem))
    sentence = (
        f"this is a bug in beforehand: {what.strip()}; run the command again with {DEBUG_FLAG}"
    )
    return f"{sentence} for the traceback, and please report it", ExitCode.MACHINE


def with_flags(text: str) -> str:
    """An error of a library, which names parameters like `force`, with the flags of the command line."""
    return _PARAMETER.sub(lambda match: _FLAGS[match[1]], text)


def _of_the_system(problem: OSError) -> tuple[str, ExitCode]:
    number = problem.errno or 0
    what = problem.strerror or os.strerror(number)
    what = what.rpartition(_ARROW_DETAIL.format(number))[2]
    what = what[:1].lower() + what[1:]
    names = [os.fspath(name) for name in (problem.filename, problem.filename2) if name is not None]
    sentence = ": ".join([*(str(name) for name in names[-1:]), what])
    if _is_wrong_value(problem):
        return f"{sentence}; check the path", ExitCode.WRONG_INPUT
    remedy = _REMEDIES.get(number)
    return f"{sentence}; {remedy}" if remedy else sentence, ExitCode.MACHINE


def _is_wrong_value(problem: OSError) -> bool:
    """Whether another value helps; names of hosts that cannot be looked up have numbers below 0."""
    return problem.errno is not None and (problem.errno in _WRONG_VALUE or problem.errno < 0)


def _is_of_arrow(problem: Exception) -> bool:
    """Whether pyarrow raised it; asked without importing pyarrow, which is optional and slow."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(problem, arrow.ArrowException)


def _has_no_reader() -> bool:
    """Whether standard output is a pipe that nobody reads any more; a socket may break, too."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _discard_output() -> None:
    """Discard what standard output cannot take, or the interpreter complains when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
