"""Which protocol to choose in which situation: every rule is a function of the figures and yields
sentences.

Only protocols that promise causal order, finished, and were clean on all networks are recommended.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from beforehand.pipeline.study.figures import ProtocolFigures
from beforehand.results.format import duration, listed

CLOSE: Final = 1.02  # figures within this factor count as equal

Rows = Sequence[ProtocolFigures]


@dataclass(frozen=True)
class Advice:
    """What to choose in a situation."""

    situation: str
    protocols: tuple[str, ...]  # the choice, then equally good ones; empty for a remark
    sentence: str


Rule = Callable[[Rows], Iterator[Advice]]


def advise(rows: Rows) -> list[Advice]:
    """The advice of all rules."""
    return [advice for rule in RULES for advice in rule(rows)]


# ---- rules ----


def never_far_off(rows: Rows) -> Iterator[Advice]:
    """The protocol whose worst figure, as a multiple of the best one, is smallest."""
    usable = everywhere_usable(rows)
    if not usable:
        yield Advice(
            "in general", (), "No causal protocol finished clean on all networks; see the tables."
        )
        return
    slower = {name: _worst_ratio(usable, name, _p99) for name in _names(usable)}
    larger = {name: _worst_ratio(usable, name, _wire) for name in _names(usable)}
    name = min(slower, key=lambda candidate: max(slower[candidate], larger[candidate]))
    yield Advice(
        "in general, at this size",
        (name,),
        f"{name}: on every network at most {slower[name]:.2f} times the best p99 latency, and "
        f"{larger[name]:.2f} times the fewest bytes.",
    )


def fastest(rows: Rows) -> Iterator[Advice]:
    """On each network, the smallest p99 latency."""

    def show(row: ProtocolFigures) -> str:
        return duration(_p99(row))

    return _best(rows, "low latency", _p99, show, lambda row: f"p99 {show(row)}")


def leanest(rows: Rows) -> Iterator[Advice]:
    """On each network, the fewest bytes."""

    def show(row: ProtocolFigures) -> str:
        return f"{_wire(row):,.0f}"

    def describe(row: ProtocolFigures) -> str:
        metadata = f"{row.metadata_per_message:,.0f} of them metadata"
        return f"{show(row)} bytes on the wire per message, {metadata}"

    return _best(rows, "few bytes", _wire, show, describe)


def smallest(rows: Rows) -> Iterator[Advice]:
    """The least state of a process, on the network where it needs most."""
    peaks = _worst_of(rows, lambda figures: figures.integers_peak)
    if peaks:
        name = min(peaks, key=peaks.__getitem__)
        waiting = _worst_of(rows, lambda figures: figures.waiting_peak)[name]
        yield Advice(
            "little memory",
            (name,),
            f"{name}: at most {peaks[name]:,.0f} integers of state in a process; at most "
            f"{waiting:,.0f} messages waited at a time, all processes together.",
        )


def many_processes(rows: Rows) -> Iterator[Advice]:
    """For growing systems: constant metadata, and then the smallest latency."""
    usable = everywhere_usable(rows)
    growing = sorted({row.protocol for row in usable if row.metadata != "O(1)"})
    constant = [row for row in usable if row.metadata == "O(1)"]
    if not growing or not constant:
        return
    worst = {name: _worst_ratio(constant, name, _p99) for name in _names(constant)}
    name = min(worst, key=worst.__getitem__)
    yield Advice(
        "many processes",
        (name,),
        f"{name}: its metadata does not grow with their number, as that of {listed(growing)} does.",
    )


def price_of_order(rows: Rows) -> Iterator[Advice]:
    """What causal order costs, compared with a control that only keeps each sender's order."""
    for network in _networks(rows):
        controls = [r for r in rows if r.network == network and not r.causal and _finished(r)]
        best, _ = _ranked(rows, network, _p99)
        if not best or not controls:
            continue
        control = min(controls, key=lambda row: row.violations)
        more = _p99(best[0]) / _p99(control) - 1 if _p99(control) else 0.0
        yield Advice(
            f"the price of order on {network}",
            (),
            f"p99 of {best[0].protocol} is {duration(_p99(best[0]))}, of {control.protocol}, which does "
            f"not keep causal order, {duration(_p99(control))}: "
            + (f"{100 * more:.0f} % more." if more > 0.005 else "no more than that."),
        )


def controls_broke(rows: Rows) -> Iterator[Advice]:
    """What goes wrong on this workload without causal order."""
    for name in _names([row for row in rows if not row.causal]):
        own = [row for row in rows if row.protocol == name]
        counts = ", ".join(f"{_violations(row)} on {row.network}" for row in own)
        yield Advice(
            f"without causal order: {name}", (), f"deliveries out of causal order: {counts}."
        )


def not_recommended(rows: Rows) -> Iterator[Advice]:
    """Causal protocols that violated causal order here, or didn't finish."""
    for row in rows:
        if row.causal and not row.usable:
            yield Advice(
                f"not {row.protocol} on {row.network}", (), f"{row.protocol}: {row.why_not()}."
            )


RULES: Final[tuple[Rule, ...]] = (
    never_far_off,
    fastest,
    leanest,
    smallest,
    many_processes,
    price_of_order,
    controls_broke,
    not_recommended,
)


# ---- helpers ----


def everywhere_usable(rows: Rows) -> list[ProtocolFigures]:
    """The rows of protocols that are usable on all networks of the study."""
    bad = {row.protocol for row in rows if not row.usable}
    return [row for row in rows if row.protocol not in bad]


def _p99(row: ProtocolFigures) -> float:
    return row.latency_p99


def _wire(row: ProtocolFigures) -> float:
    return row.wire_per_message


def _finished(row: ProtocolFigures) -> bool:
    return row.outcome == "complete" and row.deliveries > 0


def _ranked(
    rows: Rows, network: str, measure: Callable[[ProtocolFigures], float]
) -> tuple[list[ProtocolFigures], list[ProtocolFigures]]:
    """The best of a network and those equally good, fewest bytes first; and the others."""
    usable = [row for row in rows if row.network == network and row.usable]
    if not usable:
        return [], []
    limit = CLOSE * min(map(measure, usable))
    best = [row for row in usable if measure(row) <= limit]
    rest = [row for row in usable if measure(row) > limit]
    return sorted(best, key=_wire), sorted(rest, key=measure)


def _best(
    rows: Rows,
    situation: str,
    measure: Callable[[ProtocolFigures], float],
    show: Callable[[ProtocolFigures], str],
    describe: Callable[[ProtocolFigures], str],
) -> Iterator[Advice]:
    """On each network, the protocol with the smallest figure, those equally good, and the next."""
    for network in _networks(rows):
        best, rest = _ranked(rows, network, measure)
        if not best:
            continue
        first, *equal = (row.protocol for row in best)
        sentence = f"{first}: {describe(best[0])}"
        if equal:
            sentence += f"; as good: {listed(equal)}"
        if rest:
            sentence += f"; next: {rest[0].protocol} with {show(rest[0])}"
        yield Advice(f"{situation} on {network}", (first, *equal), f"{sentence}.")


def _worst_ratio(rows: Rows, name: str, measure: Callable[[ProtocolFigures], float]) -> float:
    """A protocol's figure as a multiple of the best, on the network where that is largest."""
    return max(_ratio(row, rows, measure) for row in rows if row.protocol == name)


def _ratio(own: ProtocolFigures, rows: Rows, measure: Callable[[ProtocolFigures], float]) -> float:
    best = min(measure(row) for row in rows if row.network == own.network)
    return measure(own) / best if best else 1.0


def _worst_of(rows: Rows, measure: Callable[[ProtocolFigures], float]) -> dict[str, float]:
    """The largest figure of each usable protocol."""
    worst: dict[str, float] = {}
    for row in everywhere_usable(rows):
        worst[row.protocol] = max(worst.get(row.protocol, 0.0), measure(row))
    return worst


def _violations(row: ProtocolFigures) -> str:
    if row.error:
        return "a run that failed"
    more = row.violations - row.causal_violations
    others = f" (and {more:,} other violations)" if more else ""
    return f"{row.causal_violations:,} of {row.deliveries:,}{others}"


def _networks(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row.network for row in rows))


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row.protocol for row in rows))
