"""Results as one self-contained HTML page. Knows nothing of Spark: it reads what the pipeline has left.

from beforehand import report

contents = report.read("study")                        # plain values, see contents.py
report.write("study", "study/report/index.html")       # the same as a page
"""

from __future__ import annotations

import os
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
    from beforehand.report.page import html

    contents = read(folder, made)
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    # Names from broken files may hold what is no text; they are shown, not refused.
    unfinished.write_text(html(contents), encoding="utf-8", errors="backslashreplace")
    os.replace(unfinished, path)
    return contents
