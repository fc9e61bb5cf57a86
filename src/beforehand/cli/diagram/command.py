"""`beforehand diagram`: a trace as a picture of processes, messages and waiting times."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_line
from beforehand.errors import BeforehandError, ReportError

if TYPE_CHECKING:
    from beforehand.report.diagram.model import Diagram

STANDARD_OUTPUT: Final = "-"
ON_PAPER: Final = 120  # events that can be told apart on the width of a page

Format = Literal["html", "svg"]


def _offered_runs(context: typer.Context, incomplete: str) -> list[str]:
    """The runs of the trace that was typed before, for the shell."""
    from beforehand.cli.diagram.trace import runs

    # An option without its value cannot be parsed, and what comes before it stays where it was.
    typed = context.params.get("source") or next(iter(context.args), None)
    try:
        found = runs(Path(typed)) if typed else []
    except (BeforehandError, OSError):
        return []  # a shell has no place for errors
    return [name for name in found if name.startswith(incomplete)]


def command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="A trace: a file that ends in .parquet, .jsonl or .jsonl.gz, a folder of them, or a "
            "folder above, such as that of a study.",
            show_default=False,
        ),
    ],
    run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Which run, if the trace has several; without it, they are listed.",
            show_default=False,
            autocompletion=_offered_runs,
        ),
    ] = None,
    around: Annotated[
        str | None,
        typer.Option(
            metavar="MESSAGE",
            help="A message to show with what is around it: its sender and its number, like alice#3. "
            "Without it, the beginning of the run is shown.",
            show_default=False,
        ),
    ] = None,
    as_svg: Annotated[
        bool, typer.Option("--svg", help="A picture for documents, that stays as it is.")
    ] = False,
    as_html: Annotated[
        bool, typer.Option("--html", help="A page to look around in (the default).")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write it, - for standard output. Without it, diagram.html or diagram.svg.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"How many events to show at most. Without it, 20,000 on a page and {ON_PAPER} in a "
            "picture.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        Literal["time", "order"] | None,
        typer.Option(
            help="What the distance between events means. Without it, time if clocks agree.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON, for programs.")
    ] = False,
) -> None:
    """Draw a trace: processes as lines, messages as arrows, waiting times as bars.

    On the page, a click on a message shows its causal past and future. Deliveries that break causal
    order are marked.
    """
    with clear_errors():
        chosen = _format(as_svg, as_html, out)
        file = f"diagram.{chosen}" if out is None else out
        if as_json and file == STANDARD_OUTPUT:
            raise ReportError("--json and --out - both want standard output; name a file")
        most = events if events is not None else ON_PAPER if chosen == "svg" else None
        diagram = _build(source, run, _message(around), most)
        if by is not None:
            diagram = replace(diagram, axis=by)
        _write(diagram, chosen, file)
    if as_json:
        print_json({"file": file, **_figures(diagram)})
    elif file != STANDARD_OUTPUT:
        _show(diagram, file)


def _format(as_svg: bool, as_html: bool, out: str | None) -> Format:
    if out == "":
        raise ReportError("--out is empty; name a file, or - for standard output")
    if as_svg and as_html:
        raise ReportError("--svg and --html are two formats; choose one")
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
    source: Path, run: str | None, around: tuple[str, int] | None, most: int | None
) -> Diagram:
    from beforehand.cli.diagram.flags import Judging
    from beforehand.cli.diagram.trace import events
    from beforehand.report.diagram.build import MOST, build

    judging = Judging()
    with progress_line("reading the trace") as tell:
        diagram = build(
            events(source, run, tell),
            run=run,
            around=around,
            most=MOST if most is None else most,
            judge=judging,
        )
    return replace(diagram, note=" ".join(filter(None, (diagram.note, judging.note))))


def _write(diagram: Diagram, chosen: Format, file: str) -> None:
    if chosen == "svg":
        from beforehand.report.diagram.svg import svg

        text = svg(diagram)
    else:
        from beforehand.report.diagram.page import html

        text = html(diagram)
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
            f"{file}: cannot be written ({problem.strerror}); choose another place with --out"
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
    counts = {
        "process": len(diagram.processes),
        "message": len(diagram.messages),
        "event": len(diagram.marks),
    }
    typer.echo(f"{file}: " + ", ".join(_counted(*each) for each in counts.items()))
    if diagram.note:
        typer.echo(diagram.note)
    if diagram.flags:
        wrong = len(diagram.flags)
        what = "1 delivery is" if wrong == 1 else f"{wrong:,} deliveries are"
        typer.echo(f"{what} wrong, and marked; the first: {diagram.flags[0].sentence}")


def _counted(noun: str, number: int) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"
