"""Parse a page into its elements, its tables with their exact values, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Element:
    """An element and the text inside it."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]  # ids of its ancestors
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A parsed page; parsing fails if elements aren't balanced."""

    elements: list[Element] = field(default_factory=list)
    # table -> rows -> column -> the content of `data-value`
    tables: dict[str, list[dict[str, str | None]]] = field(default_factory=dict)
    # (tag of the innermost element, text)
    texts: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self._table = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element, and the value of a table cell."""
        ancestors = tuple(name for element in self._open if (name := element.attributes.get("id")))
        element = Element(tag, dict(attrs), ancestors)
        assert len(element.attributes) == len(attrs), f"an attribute twice: {attrs}"
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)
        if "data-table" in element.attributes:
            self._table = element.attributes["data-table"] or ""
            assert self._table not in self.tables, f"two tables {self._table}"
            self.tables[self._table] = []
        if tag == "tr" and self._table:
            self.tables[self._table].append({})
        if "data-value" in element.attributes:
            value = (
                None if "data-missing" in element.attributes else element.attributes["data-value"]
            )
            self.tables[self._table][-1][element.attributes["data-column"] or ""] = value

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost element is the one that is closed."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()
        if tag == "table":
            rows = self.tables[self._table]
            self.tables[self._table] = [row for row in rows if row]  # headers have no values
            self._table = ""

    def handle_data(self, data: str) -> None:
        """Add text to the innermost elements."""
        self.texts.append((self._open[-1].tag if self._open else "", data))
        for element in self._open[-3:]:
            element.text += data

    def close(self) -> None:
        """Finish parsing, and check that every element was closed."""
        super().close()
        assert not self._open, f"<{self._open[-1].tag}> is never closed"

    def all(self, tag: str) -> list[Element]:
        """Return the elements with this tag."""
        return [element for element in self.elements if element.tag == tag]

    def by_id(self, name: str) -> Element:
        """Return the element with this id."""
        [match] = [element for element in self.elements if element.attributes.get("id") == name]
        return match


def read(text: str) -> Page:
    """Parse the source of a page."""
    page = Page()
    page.feed(text)
    page.close()
    return page
