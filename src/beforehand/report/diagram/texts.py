"""Names as text in a picture: short, with nothing in them that acts, and nothing that XML forbids."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Control characters, lone surrogates, what is no character at all, and what turns the direction of all
# the text after it.
_UNSEEN: Final = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_FROM_RIGHT: Final = frozenset({"R", "AL"})
_WIDE: Final = frozenset("WF")
_UNITS: Final = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))

# Widths of letters of a common sans-serif typeface, in parts of its size.
_LETTER: Final = 0.58
_WIDE_LETTER: Final = 1.0


def clean(text: str, most: int | None = None) -> str:
    """A text that can be shown, of at most so many characters."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "\u2026"
    return _UNSEEN.sub("\ufffd", text)


def isolated(text: str) -> str:
    """The same, so that a name that is read from the right does not turn what stands beside it."""
    if any(unicodedata.bidirectional(each) in _FROM_RIGHT for each in text):
        return f"\u2068{text}\u2069"
    return text


def width(text: str, size: float) -> float:
    """About how wide a text is."""
    wide = sum(unicodedata.east_asian_width(each) in _WIDE for each in text)
    return size * (_LETTER * (len(text) - wide) + _WIDE_LETTER * wide)


def fitting(text: str, room: float, size: float) -> str:
    """As much of a text as there is room for."""
    shown = clean(text, max(2, int(room / size / _LETTER)))
    while width(shown, size) > room and len(shown) > 2:
        shown = shown[:-2] + "\u2026"
    return shown


def duration(nanoseconds: int) -> str:
    """A time as people write it."""
    for unit, size in _UNITS:
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.4g} {unit}"
    return "0"
