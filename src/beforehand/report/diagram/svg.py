"""A diagram as an SVG picture, for documents: on paper it stays as it is.

Plain shapes with plain attributes, no script, style or font of its own, so that every viewer, GitHub and
converters for LaTeX show the same. All text goes through `texts.clean` and an XML writer.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import tostring

from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.picture import Picture

NARROWEST: Final = 320  # pixels; below that nothing is legible


def svg(diagram: Diagram, *, width: int = 960) -> str:
    """The picture, as wide as this in pixels, and as high as the number of processes asks for."""
    return tostring(Picture(diagram, max(width, NARROWEST)).draw(), "unicode") + "\n"
