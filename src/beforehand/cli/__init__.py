"""The `beforehand` command: one module or folder per subcommand, each importing what it needs lazily.

- `options` declares the options that commands share, and how commands declare theirs.
- `demo/`, `study`, `protocols`, `doctor/`, `ingest`, `characterise`, `sweep/`, `audit`, `report`,
  `diagram/`, `node/`, `cluster/`, `keygen`, `simulate/` and `check/` are the commands. In a folder,
  `options` declares, `command` runs, and `view` prints the result for people and converts it for
  programs.
- `command_lines` and `report_commands` compose what notes and reports quote; `engine` opens the engine
  of the pipeline.
- `ui/` is for all commands: output, progress, help pages with their examples, completion, failure.

The walk of one call: Typer parses the arguments into the options of a command; the command passes them
to a library, shows its progress, prints the result and exits with a code. `clear_errors` turns the
errors of libraries into one sentence with the flags of the command line.
"""

from collections.abc import Callable
from typing import Annotated

import typer

from beforehand import __version__
from beforehand.cli import audit, characterise, ingest, keygen, protocols, report, study
from beforehand.cli.check import command as check
from beforehand.cli.cluster import command as cluster
from beforehand.cli.demo import command as demo
from beforehand.cli.diagram import command as diagram
from beforehand.cli.doctor import command as doctor
from beforehand.cli.node import command as node
from beforehand.cli.options import Debug, with_debug
from beforehand.cli.simulate import command as simulate
from beforehand.cli.sweep import command as sweep
from beforehand.cli.ui import interrupts
from beforehand.cli.ui.examples import EXAMPLES, FRONT, FRONT_PAGE, PAGES
from beforehand.cli.ui.help import HelpCommand, HelpGroup, epilog, wrapped

app = typer.Typer(
    name="beforehand",
    help="Causal message delivery: no process sees an answer before the question.\n\n"
    "Try protocols on your own workload, run them on real machines, and check that they hold.",
    cls=HelpGroup,
    epilog=epilog(FRONT, FRONT_PAGE),
    pretty_exceptions_show_locals=False,  # payloads are private
)

# In the order of the front page: the order in which people need them.
PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Start here": {
        "demo": demo.command,
        "study": study.command,
        "protocols": protocols.command,
        "doctor": doctor.command,
    },
    "Your workload, step by step": {
        "ingest": ingest.command,
        "characterise": characterise.command,
        "sweep": sweep.command,
        "audit": audit.command,
    },
    "Pictures and pages": {"report": report.command, "diagram": diagram.command},
    "Real nodes": {"node": node.command, "cluster": cluster.command, "keygen": keygen.command},
    "One protocol under the microscope": {"simulate": simulate.command, "check": check.command},
}

for _panel, _commands in PANELS.items():
    for _name, _function in _commands.items():
        app.command(
            _name,
            cls=HelpCommand,
            help=wrapped(_function.__doc__),
            epilog=epilog(EXAMPLES[_name], PAGES[_name]),
            rich_help_panel=_panel,
        )(with_debug(_function))


def _show_version(wanted: bool) -> None:
    if wanted:
        from beforehand import _build

        typer.echo(f"beforehand {__version__} ({_build.describe()})")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and how it was built, then exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Options of the `beforehand` command itself; without a command it shows the front page."""
    if context.invoked_subcommand is None:
        context.get_help()  # which prints it


def main() -> None:
    """Run the command line of this process; never returns."""
    interrupts.install()
    app(prog_name="beforehand")
