"""A diagram as an interactive page of its own, or two on one page.

Any page that shows diagrams needs `SCRIPTS` and `STYLES`. A diagram is drawn into an element, from the
output of `columns`: `BeforehandDiagram.mount(element, data)`.
"""

from functools import cache
from typing import Final

from jinja2 import Environment, Template
from markupsafe import Markup

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.compare import RunComparison
from beforehand.report.diagram.model import Diagram

# In the order of their dependencies.
SCRIPTS: Final = (
    "diagram-format.js",
    "diagram-elements.js",
    "diagram-gaps.js",
    "diagram-model.js",
    "diagram-order.js",
    "diagram-rows.js",
    "diagram-view.js",
    "diagram-shapes.js",
    "diagram-layout.js",
    "diagram-arrows.js",
    "diagram-draw.js",
    "diagram-frame.js",
    "diagram-find.js",
    "diagram-details.js",
    "diagram-search.js",
    "diagram-processes.js",
    "diagram-keys.js",
    "diagram-controls.js",
    "diagram-log.js",
    "diagram-print.js",
    "diagram-tour.js",
    "diagram-input.js",
    "diagram.js",
    "diagram-mount.js",
)
STYLES: Final = ("diagram.css",)

_PAGE: Final = ("theme.js", *SCRIPTS, "diagram-page.js")


_COMPARISON: Final = ("theme.js", *SCRIPTS, "diagram-compare.js")


@cache
def _template(name: str) -> Template:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(bundle.asset(name))


def html(diagram: Diagram, svg_command: str = "") -> str:
    """One file that shows a diagram, without requests; without JavaScript it refers to a command."""
    script = bundle.script(*_PAGE)
    return _template("diagram.html.j2").render(
        title=_text(diagram.run),
        subtitle=": ".join(filter(None, (diagram.protocol, diagram.verdict))),
        policy=bundle.policy([script]),
        style=_style(),
        script=Markup(script.text),
        svg_command=svg_command,
        data=Markup(bundle.as_json(columns(diagram))),
    )


def comparison_html(comparison: RunComparison) -> str:
    """One file that shows two diagrams next to each other."""
    script = bundle.script(*_COMPARISON)
    left, right = comparison.left, comparison.right
    names = [_text(diagram.protocol or diagram.run) for diagram in (left, right)]
    sides = [
        {
            "id": side,
            "title": " \u00b7 ".join(dict.fromkeys(filter(None, (name, _text(diagram.run))))),
            "verdict": diagram.verdict,
            "data": Markup(bundle.as_json(columns(diagram))),
        }
        for side, name, diagram in zip(("left", "right"), names, (left, right), strict=True)
    ]
    return _template("diagram-compare.html.j2").render(
        title=f"{names[0]} and {names[1]}",
        summary=comparison.summary,
        policy=bundle.policy([script]),
        style=_style(),
        script=Markup(script.text),
        sides=sides,
    )


def _style() -> Markup:
    return Markup("\n".join(map(bundle.asset, ("theme.css", *STYLES))))


def _text(name: str) -> str:
    """Names from broken files may have lone surrogates, which UTF-8 cannot encode."""
    return name.encode("utf-8", "replace").decode("utf-8")
