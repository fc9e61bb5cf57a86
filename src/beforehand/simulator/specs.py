"""Parsers for the distributions, delays, partitions and stops of a scenario.

    5ms                           constant
    uniform:1ms,9ms               any value between the two
    normal:25ms,5ms               mean and standard deviation; negative values become 0
    lognormal:40ms,0.5            median, and the standard deviation of the logarithm
    exponential:10ms              mean

Delays have two more forms:

    matrix:1ms,40ms;40ms,1ms      between sites, to which processes are assigned round-robin
    schedule:0s=1ms,15min=1ms,17min=300ms     points in time, interpolated linearly
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.world.distributions import (
    Constant,
    Distribution,
    Exponential,
    Lognormal,
    Normal,
    Uniform,
)
from beforehand.simulator.world.faults import Partition, Stop
from beforehand.simulator.world.network import Delay, EqualDelay, ScheduledDelay, SiteDelay
from beforehand.simulator.world.processes import NEVER

Unit = Callable[[object, str], int]

MAX_SIGMA: Final = 10.0  # a factor of e^10 per standard deviation: beyond any network
_SIZES: Final = "100, uniform:10,2kB, normal:1kB,100, lognormal:1kB,0.5 or exponential:1kB"
_TIMES: Final = "5ms, uniform:1ms,9ms, normal:25ms,5ms, lognormal:40ms,0.5 or exponential:10ms"
_DELAYS: Final = f"{_TIMES}, matrix:1ms,40ms;40ms,1ms or schedule:0s=1ms,15min=300ms"


def sizes(text: object, what: str) -> Distribution:
    """A distribution of bytes."""
    return _distribution(text, what, units.size, _SIZES)


def durations(text: object, what: str, forms: str = _TIMES) -> Distribution:
    """A distribution of nanoseconds; `forms` are suggested in the error."""
    return _distribution(text, what, units.duration, forms)


def _distribution(text: object, what: str, unit: Unit, forms: str) -> Distribution:
    name, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon:
        return Constant(unit(text, what))
    fields = [field.strip() for field in rest.split(",")]
    if name == "exponential" and len(fields) == 1:
        return Exponential(unit(fields[0], what))
    if len(fields) == 2:
        if name == "uniform":
            return _uniform(unit(fields[0], what), unit(fields[1], what), str(text), what)
        if name == "normal":
            return Normal(unit(fields[0], what), unit(fields[1], what))
        if name == "lognormal":
            return Lognormal(unit(fields[0], what), _sigma(fields[1], what))
    raise ScenarioError(f"{what}: {text!r} is not understood; write {forms}")


def _uniform(low: int, high: int, text: str, what: str) -> Uniform:
    if low > high:
        raise ScenarioError(f"{what}: {text!r} has its bounds swapped; give the lower one first")
    return Uniform(low, high)


def _sigma(text: str, what: str) -> float:
    value = units.number(text, what, f"a deviation from 0 to {MAX_SIGMA:g}")
    if not 0.0 <= value <= MAX_SIGMA:
        raise ScenarioError(f"{what}: the deviation {text} is not from 0 to {MAX_SIGMA:g}")
    return value


def delay(text: object, processes: int) -> Delay:
    """A propagation delay, for so many processes."""
    name, _, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name == "matrix":
        return _matrix(rest, processes)
    if name == "schedule":
        return _schedule(rest)
    return EqualDelay(durations(text, "delay", _DELAYS))


def _matrix(text: str, processes: int) -> SiteDelay:
    rows = [
        [durations(cell.strip(), "delay between sites") for cell in _cells(row)]
        for row in text.split(";")
    ]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows):
            raise ScenarioError(
                f"delay: row {number} of the matrix has {len(row)} delays, not {len(rows)}, one per "
                "site; give as many columns as rows"
            )
    return SiteDelay([index % len(rows) for index in range(processes)], rows)


def _cells(row: str) -> list[str]:
    """Split a row at its commas, but not inside a distribution, which has a name and a colon."""
    cells: list[str] = []
    missing = 0  # parameters of the last cell that are still to come
    for part in row.split(","):
        if missing:
            cells[-1] += "," + part
            missing -= 1
        else:
            cells.append(part)
            missing = 1 if ":" in part and not part.strip().startswith("exponential") else 0
    return cells


def _schedule(text: str) -> ScheduledDelay:
    what = "delay schedule"
    times: list[int] = []
    delays: list[int] = []
    for point in text.split(","):
        time, equals, value = point.partition("=")
        if not equals:
            raise ScenarioError(f"{what}: {point!r} isn't a point; write it like 15min=300ms")
        times.append(units.duration(time, what))
        delays.append(units.duration(value, what))
    for earlier, later in pairwise(times):
        if earlier >= later:
            raise ScenarioError(f"{what}: {text!r} isn't in order of time; sort its points")
    return ScheduledDelay(times, delays)


def partition(text: str, names: Sequence[str]) -> Partition:
    """From `1s-3s:p1,p2` or `1s-3s:50%`: start, end, and the group that is cut off."""
    times, colon, group = text.partition(":")
    start, dash, end = times.partition("-")
    if not (colon and dash):
        raise ScenarioError(
            f"partition: {text!r} is not understood; write it like 1s-3s:p1,p2 or 1s-3s:50%"
        )
    begins, ends = units.duration(start, "partition"), units.duration(end, "partition")
    if begins >= ends:
        raise ScenarioError(f"partition: {text!r} ends before it begins")
    members = _members(group.strip(), names, text)
    if not 0 < len(members) < len(names):
        raise ScenarioError(
            f"partition: {text!r} has no process on one side; name some, but not all"
        )
    return Partition(begins, ends, members)


def _members(group: str, names: Sequence[str], text: str) -> set[int]:
    if group.endswith("%"):
        share = units.number(group[:-1], "partition", "a percentage") / 100
        if not 0.0 <= share <= 1.0:
            raise ScenarioError(f"partition: {text!r} is not understood; give from 0% to 100%")
        return set(range(int(share * len(names) + 0.5)))
    indexes = {name: index for index, name in enumerate(names)}
    return {units.process_index(name, indexes, f"partition {text!r}") for name in group.split(",")}


def stop(text: str, drop_after: int | None, names: Sequence[str]) -> Stop:
    """From `p3@2s`: the process that stops, and when."""
    name, at, time = text.rpartition("@")
    if not at:
        raise ScenarioError(f"stop: {text!r} is not understood; write it like p3@2s")
    indexes = {known: index for index, known in enumerate(names)}
    when = units.duration(time, "stop")
    dropped_at = NEVER if drop_after is None else when + drop_after
    return Stop(names[units.process_index(name, indexes, f"stop {text!r}")], when, dropped_at)
