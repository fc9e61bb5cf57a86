"""`beforehand report`: the results of the pipeline on one page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand import requirements
from beforehand.cli import command_lines
from beforehand.cli import options as shared
from beforehand.cli.options import OUTPUT, switch, value
from beforehand.cli.report_commands import report_commands
from beforehand.cli.ui.browser import open_page
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_text
from beforehand.cli.ui.progress import progress_line
from beforehand.results.layout import REPORT_PAGE

if TYPE_CHECKING:
    from beforehand.report import Provenance, ReportView


def command(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="The --out of study, sweep, audit, ingest or demo, or a folder with some of them.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        value("FILE", "The page. Default: report.html in the folder.", panel=OUTPUT),
    ] = None,
    opened: Annotated[
        bool, switch("--open", "Open the page in the browser.", panel=OUTPUT)
    ] = False,
    as_json: shared.Json = False,
) -> None:
    """Make one self-contained HTML page of all results in a folder.

    It shows what was run and what to choose, compares the protocols, and lists every violation. A part
    that is missing or damaged is named, and the others are shown. Exits with 0, or 2 if there is
    nothing to show.
    """
    file = out or Path(folder) / REPORT_PAGE
    with clear_errors():
        check_installed()
        from beforehand import report

        with progress_line("reading and drawing"):
            contents = report.write(folder, file, _provenance(folder, out), report_commands())
    if as_json:
        print_json({"file": str(file), **parts(contents)})
    else:
        _show(file, contents)
    if opened:
        open_page(file)
    if contents.is_empty:
        raise typer.Exit(ExitCode.WRONG_INPUT)


def check_installed() -> None:
    """Raise ResourceError for a missing package, before anything is read."""
    requirements.require("a report", "report")


def _provenance(folder: str, out: Path | None) -> Provenance:
    """The provenance of the report itself."""
    from beforehand.report import Provenance
    from beforehand.results.provenance import environment, now

    return Provenance(command_lines.report(folder, out), now(), environment())


def parts(contents: ReportView) -> dict[str, Any]:
    """The contents of a report, as JSON."""
    return {
        "comparisons": [_section(comparison) for comparison in contents.comparisons],
        "clusters": [_section(cluster) | {"clean": cluster.clean} for cluster in contents.clusters],
        "studies": [_section(study) | {"runs": len(study.runs)} for study in contents.studies],
        "sweeps": [_section(sweep) | {"runs": len(sweep.runs)} for sweep in contents.sweeps],
        "audits": [_section(audit) | {"violations": audit.counted} for audit in contents.audits],
        "missing": [asdict(gap) for gap in contents.missing],
    }


def _section(part: Any) -> dict[str, Any]:
    return {"folder": part.folder, "title": part.title}


def _show(file: Path, contents: ReportView) -> None:
    """Print the path of the page, what is on it, and what is missing."""
    typer.echo(str(file))
    for comparison in contents.comparisons:
        print_text(f"  comparison {comparison.title}")
    for cluster in contents.clusters:
        print_text(f"  cluster {cluster.title}")
    for study in contents.studies:
        print_text(f"  study {study.title}; {len(study.runs):,} runs")
    for sweep in contents.sweeps:
        print_text(f"  sweep {sweep.title}")
    for audit in contents.audits:
        print_text(f"  audit {audit.title}")
    for gap in contents.missing:
        typer.echo(f"missing: {gap.what}: {gap.why}", err=True)
