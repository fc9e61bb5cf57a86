"""The report as one page: `html` renders the templates `assets/report*.j2`.

- `findings.py`, `comparison.py`, `claims.py` and `growth.py` derive statements and charts from figures.
- `charts.py` and `axes.py` describe charts as plain values for Plotly.
- `overview.py`, `runs.py` and `violations.py` arrange what was run, and what was found.
- `tables.py` reads rows by column name; `formats.py` formats values.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.page import SCRIPTS as DIAGRAM_SCRIPTS
from beforehand.report.diagram.page import STYLES as DIAGRAM_STYLES
from beforehand.report.model import ReportView
from beforehand.report.page import claims, comparison, growth, runs, violations
from beforehand.report.page.findings import findings
from beforehand.report.page.formats import moment, raw, shown, visible
from beforehand.report.page.overview import environments, parts, run_groups
from beforehand.report.page.tables import distinct, records
from beforehand.results.format import counted, listed, shortened

STYLES: Final = (
    "theme.css",
    *DIAGRAM_STYLES,
    "report.css",
    "report-tables.css",
    "report-figures.css",
    "report-print.css",
)
SCRIPTS: Final = (
    *DIAGRAM_SCRIPTS,
    "report-make.js",
    "report-tables.js",
    "report-tabs.js",
    "report-charts.js",
    "report-runs.js",
    "report-violations.js",
    "report.js",
)


def html(contents: ReportView) -> str:
    """The whole report, in one file that asks for nothing else; the same contents, the same bytes."""
    scripts = [bundle.script("theme.js"), bundle.plotly(), bundle.script(*SCRIPTS)]
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            contents=contents,
            policy=bundle.policy(scripts),
            style=Markup("\n".join(bundle.asset(each) for each in STYLES)),
            scripts=[Markup(each.text) for each in scripts],
            **_worked_out(contents),
        )
    )
    # Names from broken files may hold what UTF-8 cannot.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _worked_out(contents: ReportView) -> dict[str, Any]:
    """What the templates show that is not in the contents themselves."""
    groups = run_groups(contents)
    compared = {study.name: comparison.charts(study) for study in contents.studies}
    claimed = {sweep.name: claims.charts(sweep) for sweep in contents.sweeps}
    grown = {sweep.name: growth.charts(sweep) for sweep in contents.sweeps}
    charts = [
        *(chart for found in compared.values() for chart in found),
        *(chart for found in claimed.values() for chart in found),
        *(chart for found in grown.values() for chart in found),
    ]
    audited = violations.grouped(contents)
    drawn = {each.name: each.diagram for each in contents.clusters if each.diagram is not None}
    return {
        "findings": findings(contents),
        "parts": parts(contents),
        "run_groups": groups,
        "environments": environments(contents),
        "compared": compared,
        "claimed": claimed,
        "grown": grown,
        "audited": audited,
        "only_controls": {
            study.audit.name: comparison.only_controls(study)
            for study in contents.studies
            if study.audit is not None
        },
        "kinds": violations.kinds(audited),
        "data": {
            "charts": {chart.name: chart.plotly() for chart in charts},
            "runs": runs.data(groups),
            "violations": violations.packed(contents),
            "diagrams": {name: columns(diagram) for name, diagram in drawn.items()},
        },
    }


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FunctionLoader(bundle.asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {
        "shown": shown,
        "raw": raw,
        "visible": visible,
        "shortened": shortened,
        "counted": counted,
        "listed": listed,
        "moment": moment,
        "after": str.removeprefix,
        "json": lambda value: Markup(bundle.as_json(value)),
    }
    found.globals |= {"claims": claims, "comparison": comparison, "records": records}
    found.globals |= {"distinct": distinct, "zip": zip}
    return found
