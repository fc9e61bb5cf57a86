"""Values as people read them, and as they are: a page shows the one, and carries the other."""

from __future__ import annotations

import math
from typing import Final

from beforehand.report.model import Value
from beforehand.results.format import UNKNOWN, duration, number, percent, size, timestamp
from beforehand.results.schema import Unit

# What HTML cannot hold, or what would be seen as nothing: shown as a picture of it.
_PICTURES: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
}


def shown(value: Value, unit: Unit) -> str:
    """A value for people: three digits and a unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return visible(value)
    if not math.isfinite(value):
        return str(value)
    match unit:
        case "time":
            text = duration(value)
        case "bytes":
            text = size(value)
        case "share":
            text = percent(value)
        case "exponent":
            text = f"{value:.2f}"
        case _:
            text = number(value)
    return signed(text)


def raw(value: Value) -> str:
    """A value exactly: what is read back from this is what the pipeline wrote."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(value) if isinstance(value, str) else repr(value)


def signed(text: str) -> str:
    """With a minus sign that is one, and none before a zero."""
    if text.startswith("-"):
        return f"\u2212{text[1:]}" if text.strip("-0., ") else text[1:]
    return text


def visible(text: str) -> str:
    """Text from somewhere, with nothing in it that a page cannot hold."""
    clean = text.translate(_PICTURES)
    return clean.encode("utf-8", "backslashreplace").decode("utf-8")


def moment(text: str) -> str:
    """A time of day as people write it, if it is one."""
    return visible(timestamp(text))
