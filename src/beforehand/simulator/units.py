"""Parsers for durations, sizes and other values: `5ms`, `2.5s`, `100kB`, `50kB/s`.

All of them become integers, exactly: a value that isn't a whole number of nanoseconds or bytes is
rejected rather than rounded.
"""

import math
import re
from fractions import Fraction
from typing import Final, TypeGuard

from beforehand.errors import ScenarioError

NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # as our own output writes it
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
LONGEST: Final = 365 * 24 * NANOSECONDS["h"]  # a year: sums of several fit 64 bits
LARGEST: Final = 10**12  # bytes, or bytes per second
BYTES: Final = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}

_AMOUNT = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([a-zA-Zµμ]*)\s*")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")


def duration(text: object, what: str) -> int:
    """Nanoseconds from `5ms`; `what` is for the error. Only 0 needs no unit."""
    if not isinstance(text, bool) and _is_number(text):
        if float(text) != 0.0:
            raise ScenarioError(f"{what}: {text!r} has no unit; write it like 5ms, 2.5s or 1min")
        return 0
    value = _amount(text, NANOSECONDS, what, "a duration such as 5ms, 2.5s or 1min")
    if value > LONGEST:
        raise ScenarioError(f"{what}: {text!r} is more than a year; shorten it")
    return value


def size(text: object, what: str) -> int:
    """Bytes from `100`, `100B` or `1.5kB`; `what` is for the error."""
    value = _amount(text, BYTES, what, "a number of bytes such as 100, 1500B or 64kB")
    if value > LARGEST:
        raise ScenarioError(f"{what}: {text!r} is more than a terabyte; reduce it")
    return value


def rate(text: object, what: str) -> int:
    """Bytes per second from `50kB/s`; 0 and less is rejected."""
    if isinstance(text, str) and not text.rstrip().endswith("/s"):
        raise ScenarioError(f"{what}: {text!r} isn't a rate; write it like 50kB/s or 10MB/s")
    value = size(text.rstrip().removesuffix("/s") if isinstance(text, str) else text, what)
    if value == 0:
        raise ScenarioError(
            f"{what}: {text!r} would never send anything; omit it for unlimited bandwidth"
        )
    return value


def number(text: str, what: str, wanted: str) -> float:
    """A plain number; `wanted` describes it in the error."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -1e15 < value < 1e15:
        raise ScenarioError(f"{what}: {text!r} is not {wanted}")
    return value


def share(value: object, what: str) -> float:
    """A probability or a share: 0.3, `0.3` or `30%`."""
    number: object = value
    if isinstance(value, str):
        percent = _PERCENT.fullmatch(value.strip())
        if percent is not None:
            number = float(Fraction(percent[1]) / 100)  # exact, so that 30% is 0.3
        elif _is_number(value):
            number = float(value)
    if isinstance(number, (int, float)) and not isinstance(number, bool) and 0.0 <= number <= 1.0:
        return float(number)
    raise ScenarioError(
        f"{what}: {value!r} isn't a share; give a number from 0 to 1, such as 0.3 or 30%"
    )


def whole(text: str, what: str, least: int = 1, most: int = 10**9 - 1) -> int:
    """A whole number in digits."""
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise ScenarioError(f"{what} is {text!r}; give a whole number from {least} to {most:,}")
    return int(text)


def process_index(name: str, indexes: dict[str, int], what: str) -> int:
    """The index of a process, by its name."""
    name = name.strip()
    if name not in indexes:
        names = list(indexes)
        known = ", ".join(names) if len(names) <= 6 else f"{names[0]}, {names[1]}, ... {names[-1]}"
        raise ScenarioError(f"{what}: there is no process {name!r}; the processes: {known}")
    return indexes[name]


def _is_number(value: object) -> TypeGuard[str | float]:
    """Whether it is a number, or written like one, without a unit."""
    try:
        return isinstance(value, (str, int, float)) and math.isfinite(float(value))
    except ValueError:
        return False


def _amount(text: object, units: dict[str, int], what: str, wanted: str) -> int:
    if isinstance(text, int) and not isinstance(text, bool):
        value = Fraction(text)
    else:
        match = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
        unit = "" if match is None else match[2].replace("μ", "µ")  # Greek mu looks the same
        if match is None or unit not in units:
            known = ", ".join(unit for unit in units if unit.isascii() and unit)
            raise ScenarioError(f"{what}: {text!r} is not {wanted} (units: {known})")
        value = Fraction(match[1]) * units[unit]  # exact, whatever the number of digits
    if value < 0:
        raise ScenarioError(f"{what}: {text!r} is negative; it must be 0 or more")
    if value.denominator != 1:
        raise ScenarioError(f"{what}: {text!r} isn't a whole number of the smallest unit")
    return int(value)
