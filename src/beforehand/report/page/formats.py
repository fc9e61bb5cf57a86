"""Values as people read them, and as they are: a page shows the one, and carries the other."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

from beforehand.report.contents import Kind, Value

UNKNOWN: Final = "\u2013"
LONG: Final = 60  # characters of a name that a table shows at once

_TIMES: Final = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))
_LONG_TIMES: Final = (("days", 86_400), ("h", 3_600), ("min", 60))
# Unit, from where it is used, what it is: 1,585 B says more than 1.58 kB.
_SIZES: Final = (("GB", 10**9, 10**9), ("MB", 10**6, 10**6), ("kB", 10**4, 10**3))

# What HTML cannot hold, or what would be seen as nothing: shown as a picture of it.
_PICTURES: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
}


def shown(value: Value, kind: Kind) -> str:
    """A value for people: three digits and a unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return visible(value)
    if not math.isfinite(value):
        return str(value)
    match kind:
        case "time":
            return duration(value)
        case "bytes":
            return size(value)
        case "share":
            return f"{number(100 * value)} %"
        case "exponent":
            return signed(f"{value:.2f}")
        case _:
            return number(value)


def raw(value: Value) -> str:
    """A value exactly: what is read back from this is what the pipeline wrote."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(value) if isinstance(value, str) else repr(value)


def number(value: float) -> str:
    """Three digits, or whole: 0.0123, 8.58, 1,585."""
    if abs(value) >= 999.5 or value == int(value):  # with three digits, 999.7 would be 1e+03
        return signed(f"{value:,.0f}")
    text = f"{value:.3g}"
    return signed(f"{value:.2e}" if "e" in text else text)


def duration(nanoseconds: float) -> str:
    """Such as 461 µs."""
    if nanoseconds < 0:
        return signed(f"-{duration(-nanoseconds)}")
    for unit, seconds in _LONG_TIMES:
        if nanoseconds >= 2 * seconds * 10**9:
            return f"{number(nanoseconds / seconds / 10**9)} {unit}"
    for unit, scale in _TIMES:
        # 999,600 ns would be 1e+03 µs with three digits.
        if nanoseconds >= 0.9995 * scale:
            return f"{number(nanoseconds / scale)} {unit}"
    return "0 s" if nanoseconds == 0 else f"{number(nanoseconds)} ns"


def size(count: float) -> str:
    """Such as 1,585 B."""
    for unit, least, scale in _SIZES:
        if abs(count) >= least:
            return f"{number(count / scale)} {unit}"
    return f"{number(count)} B"


def signed(text: str) -> str:
    """With a minus sign that is one, and none before a zero."""
    if text.startswith("-"):
        return f"\u2212{text[1:]}" if text.strip("-0., ") else text[1:]
    return text


def visible(text: str) -> str:
    """Text from somewhere, with nothing in it that a page cannot hold."""
    clean = text.translate(_PICTURES)
    return clean.encode("utf-8", "backslashreplace").decode("utf-8")


def shortened(text: str, most: int = LONG) -> str:
    """The beginning, where there is more than fits."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def moment(text: str) -> str:
    """A time of day as people write it, if it is one: 2026-11-16 18:05 UTC."""
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            return f"{found:%Y-%m-%d %H:%M}"
        return f"{found.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):  # also a moment that is past the end of all years in UTC
        return visible(text)


def counted(count: int, noun: str, plural: str = "") -> str:
    """Such as 1 run, 27 runs."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(names: list[str]) -> str:
    """Such as a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
