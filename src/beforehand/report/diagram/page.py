"""A diagram as a page of its own, to look around in.

`SCRIPTS` and `STYLES` are what any page needs that shows diagrams. There a diagram is drawn into an
element, from what `columns` makes of it: `BeforehandDiagram.mount(element, data)`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from jinja2 import Environment, Template
from markupsafe import Markup

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.model import Diagram

# In the order in which they need each other.
SCRIPTS: Final = (
    "diagram-words.js",
    "diagram-model.js",
    "diagram-order.js",
    "diagram-view.js",
    "diagram-shapes.js",
    "diagram-place.js",
    "diagram-arrows.js",
    "diagram-draw.js",
    "diagram-frame.js",
    "diagram-find.js",
    "diagram-tell.js",
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


def html(diagram: Diagram) -> str:
    """One file that shows a diagram and asks for nothing else."""
    script = bundle.script(*_PAGE)
    return _template().render(
        # Names from broken files may have halves of characters, which no file can hold.
        title=diagram.run.encode("utf-8", "replace").decode("utf-8"),
        policy=bundle.policy([script]),
        style=Markup("\n".join(bundle.asset(each) for each in ("theme.css", *STYLES))),
        script=Markup(script.text),
        data=Markup(bundle.as_json(columns(diagram))),
    )
