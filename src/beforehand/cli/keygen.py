"""`beforehand keygen`: a key for a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beforehand.cli.failure import clear_errors


def command(
    out: Annotated[
        Path | None,
        typer.Option(
            help="A new file for the key, which only you may read. Default: print it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a cluster key: all nodes of a cluster share it, and nobody else may have it."""
    from beforehand.runtime import keys

    key = keys.keygen()
    if out is None:
        typer.echo(key.hex())
        return
    with clear_errors():
        keys.save(key, out)
    typer.echo(f"wrote a new cluster key to {out}; give it to every node, and to nobody else")
