"""`beforehand diagram`: a trace as a picture of processes, messages and waiting times."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from beforehand.cli import options as shared
from beforehand.cli.command_lines import line
from beforehand.cli.options import switch, takes, value
from beforehand.cli.ui.browser import open_page
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_line
from beforehand.errors import BeforehandError, ReportError
from beforehand.results.format import counted

if TYPE_CHECKING:
    from beforehand.report.diagram.model import Diagram

STANDARD_OUTPUT: Final = "-"
ON_PAPER: Final = 120  # events that remain distinguishable on the width of a page

Format = Literal["html", "svg"]


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
    causal order are marked.
    """
    with clear_errors():
        chosen = _format(options.as_svg, options.as_html, options.out)
        file = f"diagram.{chosen}" if options.out is None else options.out
        if options.as_json and file == STANDARD_OUTPUT:
            raise ReportError("--json and --out -: both use standard output; name a file")
        if options.open_page and file == STANDARD_OUTPUT:
            raise ReportError("--open and --out -: there is no file to open; name one")
        usual = ON_PAPER if chosen == "svg" else None
        limit = usual if options.events is None else options.events
        diagram = _build(options.source, options.run, _message(options.around), limit)
        if options.by is not None:
            diagram = replace(diagram, axis=options.by)
        _write(diagram, chosen, file)
    if options.as_json:
        print_json({"file": file, **_figures(diagram)})
    elif file != STANDARD_OUTPUT:
        _show(diagram, file)
    if options.open_page:
        open_page(Path(file))


def _format(as_svg: bool, as_html: bool, out: str | None) -> Format:
    if out == "":
        raise ReportError("--out is empty; name a file, or - for standard output")
    if as_svg and as_html:
        raise ReportError("--svg and --html: two formats; choose one")
    if as_svg or as_html:
        return "svg" if as_svg else "html"
    return "svg" if out is not None and out.lower().endswith(".svg") else "html"


def _message(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    sender, _, number = text.rpartition("#")
    if not sender or not (number.isascii() and number.isdecimal()):
        raise ReportError(f"--around {text}: write the sender and the number, like alice#3")
    return sender, int(number)


def _build(
    source: Path, run: str | None, around: tuple[str, int] | None, limit: int | None
) -> Diagram:
    from beforehand.cli.diagram.events import events
    from beforehand.cli.diagram.judge import DeliveryJudge
    from beforehand.report.diagram.build import MOST, build

    judge = DeliveryJudge()
    with progress_line("reading the trace") as report:
        diagram = build(
            events(source, run, report),
            run=run,
            around=around,
            most=MOST if limit is None else limit,
            judge=judge,
        )
    return replace(diagram, note=" ".join(filter(None, (diagram.note, judge.note))))


def _write(diagram: Diagram, chosen: Format, file: str) -> None:
    if chosen == "svg":
        from beforehand.report.diagram.svg import svg

        text = svg(diagram)
    else:
        from beforehand.report.diagram.page import html

        text = html(diagram, line("diagram", "--svg"))
    if file == STANDARD_OUTPUT:
        sys.stdout.buffer.write(text.encode())
        return
    path = Path(file)
    if path.is_dir():
        raise ReportError(f"--out {file} is a folder; name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ReportError(
            f"{file}: cannot be written ({problem.strerror}); choose another path for --out"
        ) from problem


def _figures(diagram: Diagram) -> dict[str, object]:
    return {
        "run": diagram.run,
        "events": len(diagram.marks),
        "processes": len(diagram.processes),
        "messages": len(diagram.messages),
        "flags": [flag.sentence for flag in diagram.flags],
        "note": diagram.note,
    }


def _show(diagram: Diagram, file: str) -> None:
    processes = counted(len(diagram.processes), "process")
    messages = counted(len(diagram.messages), "message")
    typer.echo(f"{file}: {processes}, {messages}, {counted(len(diagram.marks), 'event')}")
    if diagram.note:
        typer.echo(diagram.note)
    if diagram.flags:
        count = len(diagram.flags)
        what = "1 wrong delivery is" if count == 1 else f"{count:,} wrong deliveries are"
        typer.echo(f"{what} marked; the first: {diagram.flags[0].sentence}")
