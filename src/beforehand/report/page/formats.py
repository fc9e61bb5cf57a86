"""Values as people read them, and exact ones: a page shows the former and carries the latter."""

import math
from typing import Final

from beforehand.report.model import Value
from beforehand.results.format import (
    NANOSECONDS,
    UNKNOWN,
    duration,
    number,
    percent,
    size,
    timestamp,
)
from beforehand.results.schema import Unit

# Characters that HTML cannot hold, or that are invisible: shown as a picture of them.
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
        case "seconds":
            text = duration(value * NANOSECONDS)
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
    """A value exactly: parsing it returns what the pipeline wrote."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(value) if isinstance(value, str) else repr(value)


def signed(text: str) -> str:
    """With a typographic minus sign, and none before a zero."""
    if text.startswith("-"):
        return f"\u2212{text[1:]}" if text.strip("-0., ") else text[1:]
    return text


def visible(text: str) -> str:
    """Text from outside, without characters that a page cannot hold."""
    clean = text.translate(_PICTURES)
    return clean.encode("utf-8", "backslashreplace").decode("utf-8")


def moment(text: str) -> str:
    """A time of day as people write it, if it is one."""
    return visible(timestamp(text))
