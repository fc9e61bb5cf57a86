"""How a command says that it cannot do what was asked: one sentence, and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from beforehand.errors import BeforehandError

BAD_INPUT = 2  # also what the command line itself exits with for unknown options


@contextmanager
def clear_errors() -> Iterator[None]:
    """Errors that we raise on purpose explain themselves, and so do full disks: no traceback."""
    try:
        yield
    except (BeforehandError, OSError) as problem:
        typer.echo(f"beforehand: {problem}", err=True)
        raise typer.Exit(BAD_INPUT) from None
