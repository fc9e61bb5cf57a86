"""How a command reports that it cannot do its work: one sentence on standard error, and exit code 2."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from beforehand.errors import BeforehandError

BAD_INPUT: Final = 2  # also the exit code of the argument parser, for unknown options

_SAME: Final = "conf delimiter force format kill master multicast pattern protocol run timeout"
_FLAGS: Final = {"columns": "--map"} | {name: f"--{name}" for name in _SAME.split()}
_PARAMETER: Final = re.compile(f"`({'|'.join(_FLAGS)})`")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Report our own errors, and those of the file system, without a traceback."""
    try:
        yield
    except (BeforehandError, OSError) as problem:
        typer.echo(f"beforehand: {with_flags(str(problem))}", err=True)
        raise typer.Exit(BAD_INPUT) from None


def with_flags(text: str) -> str:
    """An error of a library, which names parameters like `force`, with the flags of the command line."""
    return _PARAMETER.sub(lambda match: _FLAGS[match[1]], text)
