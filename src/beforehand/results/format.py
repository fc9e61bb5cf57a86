"""Figures, names and lists as people read them: the same on terminals, in notes and on pages."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

UNKNOWN: Final = "\u2013"
NANOSECONDS: Final = 10**9  # of a second
LONG_NAME: Final = 60  # characters of a name in a sentence or a table
_SOME: Final = 3  # names in a sentence

_SHORT: Final = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))
_LONG: Final = (("years", 365 * 86_400), ("days", 86_400), ("h", 3_600), ("min", 60))
# Unit, smallest amount it is used for, its size: 1,585 B says more than 1.58 kB.
_SIZES: Final = (("GB", 10**9, 10**9), ("MB", 10**6, 10**6), ("kB", 10**4, 10**3))


def number(value: float | None, digits: int = 3) -> str:
    """Three digits, or whole: 0.0123, 8.58, 1,585."""
    if value is None:
        return UNKNOWN
    # With three digits, 999.7 would be 1e+03.
    if abs(value) >= 10**digits - 0.5 or value == int(value):
        return f"{value + 0.0:,.0f}"
    text = f"{value:.{digits}g}"
    return f"{value:.{digits - 1}e}" if "e" in text else text


_precise: Final = partial(number, digits=4)


def duration(nanoseconds: float, write: Callable[[float], str] = number) -> str:
    """In the unit that fits: 461 µs, 15 ms, 2 days; `write` formats the amount."""
    if nanoseconds < 0:
        return f"-{duration(-nanoseconds, write)}"
    for unit, seconds in _LONG:
        if nanoseconds >= 2 * seconds * NANOSECONDS:
            return f"{write(nanoseconds / seconds / NANOSECONDS)} {unit}"
    return elapsed(nanoseconds, write)


def elapsed(nanoseconds: float, write: Callable[[float], str] = _precise) -> str:
    """In seconds or less, with four digits: for axes, whose ticks are multiples of ten."""
    for unit, scale in _SHORT:
        # 999,600 ns would be 1e+03 µs with three digits.
        if nanoseconds >= 0.9995 * scale:
            return f"{write(nanoseconds / scale)} {unit}"
    return f"{write(nanoseconds)} ns" if nanoseconds else "0 s"


def size(count: float) -> str:
    """Bytes: 1,585 B, 12.4 kB."""
    for unit, least, scale in _SIZES:
        if abs(count) >= least:
            return f"{number(count / scale)} {unit}"
    return f"{number(count)} B"


def rate(per_second: float) -> str:
    """In the unit that fits: 12 per second, 3.5 per hour."""
    for unit, seconds in (("second", 1), ("minute", 60), ("hour", 3_600)):
        if per_second * seconds >= 1:
            return f"{number(per_second * seconds)} per {unit}"
    return f"{number(per_second * 86_400)} per day"


def percent(share: float | None) -> str:
    """With three digits; with four if it is nearly all."""
    if share is None:
        return UNKNOWN
    return f"{100 * share:.4g} %" if share > 0.99 else f"{100 * share:.3g} %"


def counted(count: int, noun: str, plural: str = "") -> str:
    """1 run, 27 runs; 1 process, 27 processes."""
    plural = plural or f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{count:,} {noun if count == 1 else plural}"


def listed(names: Sequence[str]) -> str:
    """All of them: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def some(names: Sequence[str], most: int = _SOME) -> str:
    """The first few: a, b, c and 7 more."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def shortened(text: str, most: int = LONG_NAME) -> str:
    """At most so many characters, with an ellipsis if there were more."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def printable(text: str) -> str:
    """Text from outside, with an escape for each character that a terminal could act on."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def timestamp(text: str) -> str:
    """An ISO time to the minute: 2026-11-16 18:05 UTC; other text as it is."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):  # OverflowError: beyond the year 9999 in UTC
        return text
