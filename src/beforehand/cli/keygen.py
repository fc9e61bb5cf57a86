"""`beforehand keygen`: a key for a cluster."""

from pathlib import Path
from typing import Annotated

import typer

from beforehand.cli import options as shared
from beforehand.cli.options import OUTPUT, value
from beforehand.cli.ui.output import print_json


def command(
    out: Annotated[
        Path | None,
        value(
            "FILE",
            "A new file for the key, which only you may read. Default: print it.",
            panel=OUTPUT,
        ),
    ] = None,
    as_json: shared.Json = False,
) -> None:
    """Generate the secret key of a cluster, with which its nodes encrypt their messages."""
    from beforehand.runtime.identity import keys

    key = keys.keygen()
    if out is not None:
        keys.save(key, out)
    if as_json:
        print_json({"key": key.hex()} if out is None else {"file": str(out)})
    elif out is None:
        typer.echo(key.hex())
    else:
        typer.echo(f"Wrote a new cluster key to {out}; give it to every node, and keep it secret.")
