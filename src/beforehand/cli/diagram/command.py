"""`beforehand diagram`: a trace as a picture of processes, messages and waiting times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from beforehand.cli import options as shared
from beforehand.cli.diagram.request import ON_PAPER, STANDARD_OUTPUT, Request, written
from beforehand.cli.options import switch, takes, value
from beforehand.cli.ui.browser import open_page
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.errors import BeforehandError, ReportError
from beforehand.results.format import counted

if TYPE_CHECKING:
    from beforehand.report.diagram.compare import RunComparison
    from beforehand.report.diagram.model import Diagram


def _complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """The runs of the trace that precedes the option, for the shell."""
    from beforehand.cli.diagram.events import runs

    # While an option lacks its value, the arguments before it are not parsed.
    source = context.params.get("source") or next(iter(context.args), None)
    try:
        names = runs(Path(source)) if source else []
    except (BeforehandError, OSError):
        return []  # a shell cannot show errors
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class DiagramOptions:
    """What to draw, and where."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="A trace: a file that ends in .parquet, .jsonl or .jsonl.gz, a folder of them, or a "
            "folder above, such as that of a study.",
            show_default=False,
        ),
    ]
    run: Annotated[
        str | None,
        value(
            "RUN",
            "Which run, if the trace has several; without it, they are listed.",
            autocompletion=_complete_run,
        ),
    ] = None
    around: Annotated[
        str | None,
        value(
            "MESSAGE",
            "A message to show with its surroundings: its sender and its number, like alice#3. "
            "Default: the beginning of the run.",
        ),
    ] = None
    compare: Annotated[
        Path | None,
        value(
            "OTHER",
            "A trace of the same workload, to compare with: both next to each other, with the "
            "deliveries marked that come in a different order.",
        ),
    ] = None
    compare_run: Annotated[
        str | None,
        value(
            "RUN",
            "Which run to compare with, if OTHER has several; without --compare, of the same trace.",
        ),
    ] = None
    as_svg: Annotated[bool, switch("--svg", "A static picture, for documents.")] = False
    as_html: Annotated[bool, switch("--html", "An interactive page (the default).")] = False
    out: Annotated[
        str | None,
        value(
            "FILE",
            "Where to write it, - for standard output. Default: diagram.html or diagram.svg.",
        ),
    ] = None
    events: Annotated[
        int | None,
        value(
            "N",
            "How many events to show at most. "
            f"Default: 20,000 on a page and {ON_PAPER} in a picture.",
        ),
    ] = None
    by: Annotated[
        Literal["time", "order"] | None,
        value(
            "time|order",
            "What the distance between events means. Default: time if the clocks agree.",
        ),
    ] = None
    open_page: Annotated[
        bool, switch("--open", "Open it in the default browser when it is written.")
    ] = False
    as_json: shared.Json = False


@takes(DiagramOptions)
def command(options: DiagramOptions) -> None:
    """Draw a trace: processes as lines, messages as arrows, waiting times as bars.

    On the page, a click on a message highlights its causal past and future. Deliveries that break
    causal order are marked. With --compare, two runs of the same workload are shown side by side.
    """
    with clear_errors():
        request = _request(options)
        request.check()
        result = written(request)
    if options.as_json:
        print_json({"file": request.file, **_figures(result.diagram, result.comparison)})
    elif request.file != STANDARD_OUTPUT:
        _show(result.diagram, result.comparison, request.file)
    if options.open_page:
        open_page(Path(request.file))


def _request(options: DiagramOptions) -> Request:
    if options.out == "":
        raise ReportError("--out is empty; name a file, or - for standard output")
    if options.as_svg and options.as_html:
        raise ReportError("--svg and --html: two formats; choose one")
    is_named_svg = options.out is not None and options.out.lower().endswith(".svg")
    is_svg = options.as_svg or (is_named_svg and not options.as_html)
    form: Literal["html", "svg"] = "svg" if is_svg else "html"
    file = f"diagram.{form}" if options.out is None else options.out
    if options.as_json and file == STANDARD_OUTPUT:
        raise ReportError("--json and --out -: both use standard output; name a file")
    if options.open_page and file == STANDARD_OUTPUT:
        raise ReportError("--open and --out -: there is no file to open; name one")
    other = options.compare
    if other is None and options.compare_run is not None:
        other = options.source
    if other is not None and is_svg:
        raise ReportError(
            "--compare draws a page; leave out --svg, or name a file that ends in .html"
        )
    return Request(
        source=options.source,
        run=options.run,
        other=other,
        other_run=options.compare_run,
        around=_message(options.around),
        events=options.events,
        axis=options.by,
        form=form,
        file=file,
    )


def _message(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    sender, _, number = text.rpartition("#")
    if not sender or not (number.isascii() and number.isdecimal()):
        raise ReportError(f"--around {text}: write the sender and the number, like alice#3")
    return sender, int(number)


def _figures(diagram: Diagram, comparison: RunComparison | None) -> dict[str, object]:
    figures = {
        "run": diagram.run,
        "events": len(diagram.marks),
        "processes": len(diagram.processes),
        "messages": len(diagram.messages),
        "flags": [flag.sentence for flag in diagram.flags],
        "note": diagram.note,
    }
    if comparison is None:
        return figures
    return figures | {
        "compared_run": comparison.right.run,
        "common_deliveries": comparison.common,
        "moved_deliveries": comparison.moved,
        "only_left": comparison.only_left,
        "only_right": comparison.only_right,
        "wrong_left": list(comparison.wrong_left),
        "wrong_right": list(comparison.wrong_right),
    }


def _show(diagram: Diagram, comparison: RunComparison | None, file: str) -> None:
    processes = counted(len(diagram.processes), "process")
    messages = counted(len(diagram.messages), "message")
    typer.echo(f"{file}: {processes}, {messages}, {counted(len(diagram.marks), 'event')}")
    if diagram.note:
        typer.echo(diagram.note)
    if comparison is not None:
        typer.echo(comparison.summary)
    if diagram.flags:
        count = len(diagram.flags)
        what = "1 wrong delivery is" if count == 1 else f"{count:,} wrong deliveries are"
        typer.echo(f"{what} marked; the first: {diagram.flags[0].sentence}")
