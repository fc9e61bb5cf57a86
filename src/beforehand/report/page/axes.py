"""Axes of charts, with ticks in units that people know.

An axis is logarithmic where values differ tenfold or more. Zero has no logarithm: it is drawn to the
left of all other values, under a tick labelled 0.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

from beforehand.report.page.formats import shown
from beforehand.results.schema import Unit

LARGE: Final = 10.0  # the largest over the smallest value, from where on an axis is logarithmic
TICKS: Final = 5  # about so many fit below a small chart
ROOM: Final = 0.12  # of the axis, left free at both ends for marks and labels
STEPS: Final = (1, 2, 5, 10)


@dataclass(frozen=True)
class Scale:
    """Where values lie on an axis."""

    log: bool
    low: float
    high: float
    zero: float | None  # where zeros lie on a logarithmic axis; None if there are none
    unit: Unit
    marked: tuple[float, ...] = ()  # where the ticks are, if that is decided

    def position(self, value: float | None) -> float | None:
        """Where to draw a value."""
        return self.zero if self.log and value == 0 else value

    def axis(self, what: str) -> dict[str, Any]:
        """The axis for Plotly; its title says what it measures, the units, and if it is logarithmic."""
        ticks = list(self.marked) or (self._decades() if self.log else _even(self.high))
        texts = [shown(tick, self.unit) for tick in ticks]
        if self.log and self.zero is not None:
            ticks, texts = [self.zero, *ticks], ["0", *texts]
        details = [*_units(texts), *(["log scale"] if self.log else [])]
        title = f"{what} ({', '.join(details)})" if details else what
        return {
            "title": {"text": title, "standoff": 10},
            "type": "log" if self.log else "linear",
            "range": self._range(),
            "tickvals": ticks,
            "ticktext": texts,
        }

    def _range(self) -> list[float]:
        if not self.log:
            return [min(self.low, 0.0) - self.high * ROOM / 3, self.high * (1 + ROOM)]
        low = math.log10(self.low if self.zero is None else self.zero)
        high = math.log10(self.high)
        room = (high - low) * ROOM or 0.5
        return [low - room, high + room]

    def _decades(self) -> list[float]:
        """Powers of ten, as many as fit; where these are few, 2 and 5 times these as well."""
        start, end = self._range()
        # No tick between zero and the smallest value: there is nothing.
        start = start if self.zero is None else math.log10(self.low) - 0.1
        powers = range(math.floor(start), math.ceil(end) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            fine = [factor * 10.0**power for power in powers for factor in factors]
            ticks = [tick for tick in fine if start <= math.log10(tick) <= end]
            if len(ticks) <= TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / TICKS)]


def scale(values: list[float | None], unit: Unit, *, log: bool | None = None) -> Scale:
    """The axis that separates these values; `log` overrides the choice of its type."""
    known = [value for value in values if value is not None]
    positive = [value for value in known if value > 0]
    if not positive:
        return Scale(False, 0.0, 1.0, None, unit)
    low, high = min(positive), max(positive)
    wide = high >= LARGE * low if log is None else log
    # Half a decade left of the smallest: close enough to read, far enough to be seen as apart.
    zero = low / 10**0.5 if wide and len(positive) < len(known) else None
    return Scale(wide, low, high, zero, unit)


def _units(ticks: list[str]) -> list[str]:
    """The units of some ticks: `ms`, or `µs to s`; none if they are plain numbers."""
    units = [unit for unit in (tick.partition(" ")[2] for tick in ticks) if unit]
    return [units[0] if units[0] == units[-1] else f"{units[0]} to {units[-1]}"] if units else []


def _even(high: float) -> list[float]:
    """Round numbers from zero up."""
    rough = high / (TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in STEPS if factor * power >= rough * 0.999)
    return [step * count for count in range(int(high / step * 1.0001) + 1)]
