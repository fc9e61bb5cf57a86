"""What people write in a scenario, turned into what the simulator runs on.

    5ms                           always the same
    uniform:1ms,9ms               anything between the two
    normal:25ms,5ms               mean and deviation; what would be negative is 0
    lognormal:40ms,0.5            median, and the deviation of the logarithm
    exponential:10ms              mean

For delays there are two more:

    matrix:1ms,40ms;40ms,1ms      rows of a matrix between sites; processes take turns at the sites
    schedule:0s=1ms,15min=1ms,17min=300ms     points in time, straight lines between them
"""

from __future__ import annotations

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

MAX_SIGMA: Final = 10.0  # a factor of e^10 for one deviation: beyond any network
_SIZES: Final = "100, uniform:10,2kB, normal:1kB,100, lognormal:1kB,0.5 or exponential:1kB"
_TIMES: Final = "5ms, uniform:1ms,9ms, normal:25ms,5ms, lognormal:40ms,0.5 or exponential:10ms"
_DELAYS: Final = f"{_TIMES}, matrix:1ms,40ms;40ms,1ms or schedule:0s=1ms,15min=300ms"


def sizes(text: object, what: str) -> Distribution:
    """A distribution of bytes."""
    return _distribution(text, what, units.size, _SIZES)


def durations(text: object, what: str, forms: str = _TIMES) -> Distribution:
    """A distribution of nanoseconds; `forms` are those to suggest."""
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
        raise ScenarioError(f"{what}: {text!r} goes from more to less; the lower bound comes first")
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
                f"delay: row {number} of the matrix has {len(row)} delays, but the number of rows, "
                f"and so of sites, is {len(rows)}; give as many in each row"
            )
    return SiteDelay([index % len(rows) for index in range(processes)], rows)


def _cells(row: str) -> list[str]:
    """Cut a row at its commas, but not inside a distribution: there a name precedes the colon."""
    cells: list[str] = []
    wanted = 0  # parameters of the last cell that are still to come
    for part in row.split(","):
        if wanted:
            cells[-1] += "," + part
            wanted -= 1
        else:
            cells.append(part)
            wanted = 1 if ":" in part and not part.strip().startswith("exponential") else 0
    return cells


def _schedule(text: str) -> ScheduledDelay:
    what = "delay schedule"
    times: list[int] = []
    delays: list[int] = []
    for point in text.split(","):
        time, equals, value = point.partition("=")
        if not equals:
            raise ScenarioError(f"{what}: {point!r} is no point; write it like 15min=300ms")
        times.append(units.duration(time, what))
        delays.append(units.duration(value, what))
    for earlier, later in pairwise(times):
        if earlier >= later:
            raise ScenarioError(f"{what}: {text!r} does not go forward in time; sort its points")
    return ScheduledDelay(times, delays)


def partition(text: str, names: Sequence[str]) -> Partition:
    """`1s-3s:p1,p2` or `1s-3s:50%`: from when to when, and whom it cuts off from the others."""
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
        raise ScenarioError(f"partition: {text!r} leaves one side without any process")
    return Partition(begins, ends, members)


def _members(group: str, names: Sequence[str], text: str) -> set[int]:
    if group.endswith("%"):
        part = units.number(group[:-1], "partition", "a percentage") / 100
        if not 0.0 <= part <= 1.0:
            raise ScenarioError(f"partition: {text!r} is not understood; give from 0% to 100%")
        return set(range(int(part * len(names) + 0.5)))
    places = {name: index for index, name in enumerate(names)}
    return {units.place(name, places, f"partition {text!r}") for name in group.split(",")}


def stop(text: str, drop_after: int | None, names: Sequence[str]) -> Stop:
    """`p3@2s`: who stops for ever, and when."""
    name, at, time = text.rpartition("@")
    if not at:
        raise ScenarioError(f"stop: {text!r} is not understood; write it like p3@2s")
    places = {known: index for index, known in enumerate(names)}
    when = units.duration(time, "stop")
    dropped_at = NEVER if drop_after is None else when + drop_after
    return Stop(names[units.place(name, places, f"stop {text!r}")], when, dropped_at)
