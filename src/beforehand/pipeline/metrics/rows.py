"""What the tables have in common: results that count, fields of scenarios, groups and means."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from beforehand.simulator.units import BYTES, NANOSECONDS

Row = Mapping[str, Any]

_AMOUNT: Final = re.compile(r"\s*([0-9.]+)\s*([a-zA-Z]*)\s*")
_KIND: Final = re.compile(r"^[a-z]+:")


def succeeded(results: Iterable[Row]) -> list[Row]:
    """The results without failed runs."""
    return [row for row in results if row["error"] is None]


def scenario(row: Row) -> dict[str, Any]:
    """The fields of a run's scenario."""
    fields: dict[str, Any] = json.loads(row["scenario"])
    return fields


def grouped(rows: Iterable[Row], keys: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by their values in some columns."""
    groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def most(values: Iterable[float | None]) -> Any:
    """The largest of those that are known; None if none is."""
    return max((value for value in values if value is not None), default=None)


def bytes_per_second(text: str | None) -> float | None:
    """Of a rate like 50kB/s."""
    return _amount((text or "").removesuffix("/s"), BYTES)


def nanoseconds(text: str | None) -> float | None:
    """Of a duration like 5ms; of a distribution like normal:25ms,5ms, what it has first: its middle."""
    return _amount(_KIND.sub("", text or "").partition(",")[0], NANOSECONDS)


def _amount(text: str, units: Mapping[str, int]) -> float | None:
    match = _AMOUNT.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    return float(match[1]) * units[match[2]]
