"""A page as a test reads it: its elements, its tables with their exact values, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Element:
    """An element that was opened, and the text right inside of it."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]  # ids of the elements around it
    text: str = ""


@dataclass
class Page(HTMLParser):
    """What a page holds."""

    elements: list[Element] = field(default_factory=list)
    # table -> rows -> column -> the content of `data-value`
    tables: dict[str, list[dict[str, str | None]]] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(
        default_factory=list
    )  # each with the element right around it

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self._table = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; of a table also its cells."""
        around = tuple(name for element in self._open if (name := element.attributes.get("id")))
        element = Element(tag, dict(attrs), around)
        assert len(element.attributes) == len(attrs), f"an attribute twice: {attrs}"
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)
        if "data-table" in element.attributes:
            self._table = element.attributes["data-table"] or ""
            assert self._table not in self.tables, "one of its kind"
            self.tables[self._table] = []
        if tag == "tr" and self._table:
            self.tables[self._table].append({})
        if "data-value" in element.attributes:
            value = (
                None if "data-missing" in element.attributes else element.attributes["data-value"]
            )
            self.tables[self._table][-1][element.attributes["data-column"] or ""] = value

    def handle_endtag(self, tag: str) -> None:
        """Every element is closed in its turn."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()
        if tag == "table":
            rows = self.tables[self._table]
            self.tables[self._table] = [row for row in rows if row]  # headers have no values
            self._table = ""

    def handle_data(self, data: str) -> None:
        """Text belongs to the elements around it."""
        self.texts.append((self._open[-1].tag if self._open else "", data))
        for element in self._open[-3:]:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        """The elements with this tag."""
        return [element for element in self.elements if element.tag == tag]

    def by_id(self, name: str) -> Element:
        """The element with this id."""
        [match] = [element for element in self.elements if element.attributes.get("id") == name]
        return match


def read(text: str) -> Page:
    """A page from its source."""
    page = Page()
    page.feed(text)
    page.close()
    assert not page._open
    return page
