"""The report as one page: `html` renders the templates `assets/report*.j2`.

- `first_screen.py` has what everybody sees; `unmeasured.py` says why a figure is missing.
- `findings.py`, `comparison.py`, `claims.py` and `growth.py` derive statements and charts from figures.
- `charts.py` and `axes.py` describe charts as plain values for Plotly.
- `overview.py`, `runs.py` and `violations.py` arrange what was run, and its violations.
- `tables.py` reads rows by column name; `formats.py` formats values.
"""

from functools import cache
from itertools import chain
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.page import SCRIPTS as DIAGRAM_SCRIPTS
from beforehand.report.diagram.page import STYLES as DIAGRAM_STYLES
from beforehand.report.model import ReportView
from beforehand.report.page import claims, comparison, growth, runs, unmeasured, violations
from beforehand.report.page.findings import findings
from beforehand.report.page.first_screen import choice, shown_comparisons
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


def html(report: ReportView) -> str:
    """The whole report in one file without requests; the same report gives the same bytes."""
    scripts = [bundle.script("theme.js"), bundle.plotly(), bundle.script(*SCRIPTS)]
    page = _environment().get_template("report.html.j2")
    text = page.render(
        report=report,
        policy=bundle.policy(scripts),
        style=Markup("\n".join(map(bundle.asset, STYLES))),
        scripts=[Markup(script.text) for script in scripts],
        **_derived(report),
    )
    # Names from broken files may have characters that UTF-8 cannot encode.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _derived(report: ReportView) -> dict[str, Any]:
    """What the templates show that is not in the report itself."""
    groups = run_groups(report)
    compared = {study.name: comparison.charts(study) for study in report.studies}
    claimed = {sweep.name: claims.charts(sweep) for sweep in report.sweeps}
    grown = {sweep.name: growth.charts(sweep) for sweep in report.sweeps}
    charts = chain(*compared.values(), *claimed.values(), *grown.values())
    audited = violations.grouped(report)
    return {
        **findings(report),
        "comparisons": shown_comparisons(report),
        "choice": choice(report),
        "parts": list(parts(report)),
        "run_groups": groups,
        "environments": environments(report),
        "compared": compared,
        "claimed": claimed,
        "grown": grown,
        "audited": audited,
        "only_controls": {
            study.audit.name: comparison.only_controls(study)
            for study in report.studies
            if study.audit is not None
        },
        "kinds": violations.kinds(audited),
        "data": {
            "charts": {chart.name: chart.plotly() for chart in charts},
            "runs": runs.data(groups),
            "violations": violations.packed(report),
            "printed": violations.printed_diagrams(report),
            "diagrams": {
                cluster.name: columns(cluster.diagram)
                for cluster in report.clusters
                if cluster.diagram is not None
            },
        },
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(bundle.asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters = (shown, raw, visible, shortened, counted, listed, moment)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["after"] = str.removeprefix
    environment.filters["absent"] = unmeasured.absent
    environment.filters["trusted"] = Markup  # pictures that we have drawn, with their texts escaped
    environment.filters["json"] = lambda value: Markup(bundle.as_json(value))
    environment.globals |= {"claims": claims, "comparison": comparison, "records": records}
    environment.globals |= {"distinct": distinct, "unmeasured": unmeasured, "zip": zip}
    return environment
