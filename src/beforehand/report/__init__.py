"""Results as one self-contained HTML page. Knows nothing of Spark: it reads what the pipeline has left.

from beforehand import report

contents = report.read("study")                        # plain values, see contents.py
report.write("study", "study/report/index.html")       # the same as a page
"""

from __future__ import annotations

from pathlib import Path

from beforehand.report.contents import Contents, Made

__all__ = ["Contents", "Made", "read", "write"]


def read(folder: str | Path, made: Made | None = None) -> Contents:
    """What the pipeline has left in a folder or below it; `made` tells how the report comes about.

    What is missing or damaged is told in the contents. Only a folder with nothing of ours in it raises
    ReportError.
    """
    from beforehand.report.reading.everything import read as read_everything

    return read_everything(folder, made)


def write(folder: str | Path, file: str | Path, made: Made | None = None) -> Contents:
    """Read a folder and write the page, which appears under its name when it is complete."""
    from beforehand.report import page, writing

    path = Path(file)
    writing.check_target(path)
    contents = read(folder, made)
    writing.write_page(path, page.html(contents))
    return contents
