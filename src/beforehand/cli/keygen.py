"""`beforehand keygen`: a key for a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json


def command(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A new file for the key, which only you may read. Default: print it.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs: the key, or its file.")
    ] = False,
) -> None:
    """Make a secret key for a cluster: its nodes encrypt with it, and nobody else may have it."""
    from beforehand.runtime.identity import keys

    key = keys.keygen()
    if out is not None:
        with clear_errors():
            keys.save(key, out)
    if as_json:
        print_json({"key": key.hex()} if out is None else {"file": str(out)})
    elif out is None:
        typer.echo(key.hex())
    else:
        typer.echo(f"wrote a new cluster key to {out}; give it to every node, and to nobody else")
