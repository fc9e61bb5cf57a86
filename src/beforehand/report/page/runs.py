"""Runs for the page: the figures of each, as data from which a script fills the card that is opened."""

from typing import Any, get_args

from beforehand.report.model import RunView
from beforehand.report.page.formats import raw, shown, visible
from beforehand.report.page.overview import RunGroup
from beforehand.report.page.tables import records
from beforehand.report.page.unmeasured import absent
from beforehand.results.format import UNKNOWN
from beforehand.results.schema import Field, Unit

Names = dict[tuple[str, str, str], int]  # name, title and meaning of a figure -> its index


def data(groups: list[RunGroup]) -> dict[str, Any]:
    """The figures of all runs: their names once, and their values for each run."""
    names: Names = {}
    cards = {
        run.anchor: {
            "figures": _figures(run, names),
            "table": run.figures.name,
            "scenario": visible(run.scenario),
        }
        for group in groups
        for run in group.runs
    }
    return {"names": [list(name) for name in names], "runs": cards}


def _figures(run: RunView, names: Names) -> list[list[Any]]:
    """For each figure the index of its name, its exact value, and how people read it."""
    figures = []
    for row in records(run.figures):
        name = visible(row.text("figure"))
        title = visible(row.text("title")) or name.replace("_", " ")
        value = row.values.get("value")
        index = names.setdefault((name, title, visible(row.text("meaning"))), len(names))
        unit = _unit(row.text("unit"))
        text = shown(value, unit) if value is not None else absent(Field(name, unit=unit))
        figures.append([index, raw(value), text or UNKNOWN])
    return figures


def _unit(name: str) -> Unit:
    return next((unit for unit in get_args(Unit) if unit == name), "number")
