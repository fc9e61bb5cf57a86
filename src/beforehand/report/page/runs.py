"""Runs for the page: the figures of each, as data from which a script fills the card that is opened."""

from typing import Any, get_args

from beforehand.report.model import RunView
from beforehand.report.page.formats import raw, shown, visible
from beforehand.report.page.overview import RunGroup
from beforehand.report.page.tables import records
from beforehand.results.schema import Unit

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
        figures.append([index, raw(value), shown(value, _unit(row.text("unit")))])
    return figures


def _unit(name: str) -> Unit:
    return next((unit for unit in get_args(Unit) if unit == name), "number")
