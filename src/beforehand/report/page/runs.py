"""Runs for the page: the figures of each, as data from which a script fills the card that is opened."""

from __future__ import annotations

from typing import Any, get_args

from beforehand.report.model import RunView
from beforehand.report.page.formats import raw, shown, visible
from beforehand.report.page.overview import RunGroup
from beforehand.report.page.tables import records
from beforehand.results.schema import Unit

Names = dict[tuple[str, str, str], int]  # name, title and meaning of a figure -> its number


def data(groups: list[RunGroup]) -> dict[str, Any]:
    """The figures of all runs: what they are called once, and for each run what they are."""
    known: Names = {}
    cards = {
        run.anchor: {
            "figures": _figures(run, known),
            "table": run.figures.name,
            "scenario": visible(run.scenario),
        }
        for group in groups
        for run in group.runs
    }
    return {"names": [list(each) for each in known], "runs": cards}


def _figures(run: RunView, known: Names) -> list[list[Any]]:
    """For each figure the number of its name, its exact value, and how people read it."""
    found = []
    for row in records(run.figures):
        name = visible(row.text("figure"))
        title = visible(row.text("title")) or name.replace("_", " ")
        value = row.values.get("value")
        place = known.setdefault((name, title, visible(row.text("meaning"))), len(known))
        found.append([place, raw(value), shown(value, _unit(row.text("unit")))])
    return found


def _unit(name: str) -> Unit:
    return next((unit for unit in get_args(Unit) if unit == name), "number")
