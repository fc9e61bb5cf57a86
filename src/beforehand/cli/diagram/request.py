"""What to draw and where to write it; whether that is possible is checked before anything is read."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from beforehand import requirements
from beforehand.cli.command_lines import line
from beforehand.cli.ui.progress import progress_line
from beforehand.errors import ReportError

if TYPE_CHECKING:
    from beforehand.report.diagram.compare import RunComparison
    from beforehand.report.diagram.model import Axis, Diagram

STANDARD_OUTPUT: Final = "-"
ON_PAPER: Final = 120  # events that remain distinguishable on the width of a page


@dataclass(frozen=True)
class Request:
    """A diagram of one run, or of two."""

    source: Path
    run: str | None
    other: Path | None  # to compare with
    other_run: str | None
    around: tuple[str, int] | None
    events: int | None  # at most
    axis: Axis | None
    form: Literal["html", "svg"]
    file: str

    def check(self) -> None:
        """Raise an error if it cannot be drawn or written."""
        from beforehand.cli.diagram.events import check_source
        from beforehand.report.writing import check_target

        for source in (self.source, self.other):
            if source is not None:
                check_source(source)
        if self.form == "html":
            requirements.require("an interactive diagram", "report")
        if self.file != STANDARD_OUTPUT:
            check_target(Path(self.file))


class Written(NamedTuple):
    """What was written: a diagram and, if there are two, how they compare."""

    diagram: Diagram
    comparison: RunComparison | None


def written(request: Request) -> Written:
    """Read, draw and write."""
    from beforehand.report.diagram.compare import compare

    diagram = _diagram(request, request.source, request.run)
    comparison = None
    if request.other is not None:
        comparison = compare(diagram, _diagram(request, request.other, request.other_run))
        if not comparison.common:
            raise ReportError(
                f"{request.source} and {request.other} have no delivery in common; compare two runs "
                "of the same workload, whose processes have the same names"
            )
    _write(_text(request, diagram, comparison), request.file)
    return Written(diagram, comparison)


def _diagram(request: Request, source: Path, run: str | None) -> Diagram:
    from beforehand.cli.diagram.events import events
    from beforehand.cli.diagram.heading import protocol_of, verdict_on
    from beforehand.cli.diagram.judge import DeliveryJudge
    from beforehand.report.diagram.build import MOST, build

    judge = DeliveryJudge()
    usual = ON_PAPER if request.form == "svg" else MOST
    with progress_line(f"reading {source}") as report:
        diagram = build(
            events(source, run, report),
            run=run,
            around=request.around,
            most=usual if request.events is None else request.events,
            judge=judge,
        )
    return replace(
        diagram,
        axis=request.axis or diagram.axis,
        note=" ".join(filter(None, (diagram.note, judge.note))),
        protocol=protocol_of(source),
        verdict=verdict_on(diagram, judge.has_judged),
    )


def _text(request: Request, diagram: Diagram, comparison: RunComparison | None) -> str:
    if request.form == "svg":
        from beforehand.report.diagram.svg import svg

        return svg(diagram)
    from beforehand.report.diagram.page import comparison_html, html

    if comparison is not None:
        return comparison_html(comparison)
    return html(diagram, line("diagram", "--svg"))


def _write(text: str, file: str) -> None:
    if file == STANDARD_OUTPUT:
        sys.stdout.buffer.write(text.encode())
        return
    from beforehand.report.writing import write_page

    write_page(Path(file), text)
