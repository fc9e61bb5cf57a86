"""Results as one self-contained HTML page; needs neither Spark nor the simulator.

    from beforehand import report

    view = report.read("study")                            # plain values, see model.py
    report.write("study", "study/report.html")       # the same as a page

In reading order:

- `model.py`: the contents of a report; `commands.py`: the command lines in it, supplied by the caller.
- `reading/`: from folders to the model; `page/`: from the model to HTML.
- `diagram/`: from events to space-time diagrams, in a page of their own or in a report.
- `bundle.py`: scripts, styles and data in one file; `assets/`: templates, scripts and styles.

A folder's way to a page: `reading/discover.py` finds its outputs, `reading/read.py` has each read into a
view, `page.html` renders them, `writing.py` puts the file in place.
"""

from pathlib import Path

from beforehand.report.commands import Commands, Suggestions
from beforehand.report.model import Provenance, ReportView

__all__ = ["Commands", "Provenance", "ReportView", "Suggestions", "read", "write"]


def read(
    folder: str | Path, made: Provenance | None = None, commands: Commands | None = None
) -> ReportView:
    """Read all outputs in a folder or below it; `made` is how the report itself is made.

    Missing and damaged parts are listed in the view. A folder without any output raises ReportError.
    """
    from beforehand.report.reading.read import read as read_folder

    return read_folder(folder, made, commands or Commands())


def write(
    folder: str | Path,
    file: str | Path,
    made: Provenance | None = None,
    commands: Commands | None = None,
) -> ReportView:
    """Read a folder and write the page, which appears under its name when it is complete."""
    from beforehand.report import page, writing

    path = Path(file)
    writing.check_target(path)
    view = read(folder, made, commands)
    writing.write_page(path, page.html(view))
    return view
