"""The `beforehand` command: one file per subcommand, each importing what it needs when it runs."""

from typing import Annotated

import typer

from beforehand import __version__
from beforehand.cli import (
    audit,
    characterise,
    check,
    cluster,
    ingest,
    keygen,
    node,
    protocols,
    simulate,
    study,
    sweep,
)

app = typer.Typer(
    name="beforehand",
    help="Causal message delivery: what there is, and what it does.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # payloads are nobody's business
)
app.command("ingest")(ingest.command)
app.command("characterise")(characterise.command)
app.command("protocols")(protocols.command)
app.command("simulate")(simulate.command)
app.command("sweep")(sweep.command)
app.command("study")(study.command)
app.command("audit")(audit.command)
app.command("check")(check.command)
app.command("keygen")(keygen.command)
app.command("node")(node.command)
app.command("cluster")(cluster.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from beforehand import _build

        typer.echo(f"beforehand {__version__} ({_build.describe()})")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and how it was built, then exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Options of the command itself; a callback also keeps a lone subcommand a subcommand."""


def main() -> None:
    """The entry point of the installed script."""
    app(prog_name="beforehand")
