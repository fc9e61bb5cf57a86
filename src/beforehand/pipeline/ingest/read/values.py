"""Single values of rows: each is returned as the right type, or RowError says what is wrong with it."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError
from beforehand.pipeline.ingest.read.rows import RowError
from beforehand.trace.checks import GREATEST, shown

UNITS: Final = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_MOST_DIGITS: Final = 20
_DIGITS: Final = re.compile(r"[+-]?[0-9]{1,40}")


def integer(value: object, what: str, least: int = -GREATEST) -> int:
    """A 64-bit integer, also one that is written as text."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if type(value) is not int:
        raise RowError(f"{what} is {shown(value)}, not an integer")
    if not least <= value <= GREATEST:
        raise RowError(f"{what} is {shown(value)}, out of the range {least} to {GREATEST}")
    return value


def nanoseconds(value: object, what: str, unit: str) -> int:
    """An instant or a duration in whole nanoseconds, exact for fractions of seconds too."""
    if type(value) is int or (isinstance(value, str) and _DIGITS.fullmatch(value)):
        return integer(int(value) * UNITS[unit], what)
    try:
        number = Decimal(str(value)) if isinstance(value, (str, float)) else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise RowError(f"{what} is {shown(value)}, not a number")
    if number and number.adjusted() > _MOST_DIGITS:  # 1e999999 would be an expensive integer
        raise RowError(f"{what} is {shown(value)}, more than 64 bits can hold")
    return integer(round(number * UNITS[unit]), what)


def text(value: object, what: str) -> str:
    """Non-empty text that UTF-8 can encode."""
    if not isinstance(value, str):
        raise RowError(f"{what} is {shown(value)}, not text")
    if not value:
        raise RowError(f"{what} is empty")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RowError(f"{what} is {shown(value)}, with a lone surrogate") from None
    return value


def process(value: object, what: str) -> str:
    """The name of a process."""
    try:
        return check_process(value)
    except LocalProtocolError as problem:
        raise RowError(f"{what}: {problem}") from None


def entry(fields: Mapping[str, Any], name: str) -> Any:
    """A required field."""
    if fields.get(name) is None:
        raise RowError(f"{name} is missing")
    return fields[name]
