"""Names as text in a picture: short, and without control characters or what XML forbids."""

import re
import unicodedata
from typing import Final

# Control characters, lone surrogates, noncharacters, and those that change the direction of all
# following text.
_UNSEEN: Final = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_FROM_RIGHT: Final = frozenset({"R", "AL"})
_WIDE: Final = frozenset("WF")

# Widths of letters as a share of their size, in the widest of the common sans-serif typefaces.
_LETTER: Final = 0.64
_NARROW: Final = 0.4
_BROAD: Final = 1.0
_NARROW_LETTERS: Final = frozenset("fijlrtI.,:;|!'()[]{}/ -1")
_BROAD_LETTERS: Final = frozenset("mwMW@%\u2026\ufffd")
_BOLD: Final = 1.1  # times as wide


def clean(text: str, most: int | None = None) -> str:
    """A text that can be shown, of at most so many characters."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "\u2026"
    return _UNSEEN.sub("\ufffd", text)


def isolated(text: str) -> str:
    """The same, so that a name in a right-to-left script does not reverse the text around it."""
    if any(unicodedata.bidirectional(letter) in _FROM_RIGHT for letter in text):
        return f"\u2068{text}\u2069"
    return text


def width(text: str, size: float, bold: bool = False) -> float:
    """The approximate width of a text, rather too much than too little."""
    return size * sum(map(_letter, text)) * (_BOLD if bold else 1)


def _letter(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return _NARROW
    if letter in _BROAD_LETTERS or unicodedata.east_asian_width(letter) in _WIDE:
        return _BROAD
    return _LETTER


def fitting(text: str, room: float, size: float, bold: bool = False) -> str:
    """As much of a text as there is room for."""
    shown = clean(text, max(2, int(room / size / _NARROW)))
    while width(shown, size, bold) > room and len(shown) > 2:
        shown = shown[:-2] + "\u2026"
    return shown
