"""A diagram as an interactive page of its own.

Any page that shows diagrams needs `SCRIPTS` and `STYLES`. A diagram is drawn into an element, from the
output of `columns`: `BeforehandDiagram.mount(element, data)`.
"""

from functools import cache
from typing import Final

from jinja2 import Environment, Template
from markupsafe import Markup

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.model import Diagram

# In the order of their dependencies.
SCRIPTS: Final = (
    "diagram-format.js",
    "diagram-model.js",
    "diagram-order.js",
    "diagram-view.js",
    "diagram-shapes.js",
    "diagram-layout.js",
    "diagram-arrows.js",
    "diagram-draw.js",
    "diagram-frame.js",
    "diagram-find.js",
    "diagram-details.js",
    "diagram-controls.js",
    "diagram-input.js",
    "diagram.js",
)
STYLES: Final = ("diagram.css",)

_PAGE: Final = ("theme.js", *SCRIPTS, "diagram-page.js")


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(bundle.asset("diagram.html.j2"))


def html(diagram: Diagram, svg_command: str = "") -> str:
    """One file that shows a diagram, without requests; without JavaScript it refers to a command."""
    script = bundle.script(*_PAGE)
    return _template().render(
        # Names from broken files may have lone surrogates, which UTF-8 cannot encode.
        title=diagram.run.encode("utf-8", "replace").decode("utf-8"),
        policy=bundle.policy([script]),
        style=Markup("\n".join(map(bundle.asset, ("theme.css", *STYLES)))),
        script=Markup(script.text),
        svg_command=svg_command,
        data=Markup(bundle.as_json(columns(diagram))),
    )
