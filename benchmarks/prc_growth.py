"""Table 1 of Nédelec: how the figures of `prc_table1.py` grow, and whether that confirms the table."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from benchmarks.prc_table1 import SETUPS, SYSTEMS, Call, Sizes

Verdict = tuple[str, str, str, bool]  # claim, measured, bar, holds

# Columns of the table: message overhead, delivery execution time, local space.
CLAIMED = {
    "link-memory": ("O(1)", "O(Qi)", "O(Qi M)"),  # not in the table: as section 2 has it
    "vector": ("O(N)", "O(W N)", "O(N + W N)"),
    "preventive": ("O(1)", "O(1)", "O(N)"),
    "prc": ("O(1)", "O(Qi)", "O(Qi M)"),
}
FLAT_BAR = 0.1  # an exponent up to this is constant
GROWS_BAR = 0.4  # and from this on, growth; constant terms dominate at small N
ROUTED = {
    "preventive": (3, 3),
    "prc": (8, 6),
}  # frames over a mediator: at first, and on the way back
BOUND = {"preventive": 2, "prc": 4}  # times P squared: without any route


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Of x, in y ~ x^exponent, by least squares of the logarithms; None if some y is 0."""
    if any(y <= 0 for _, y in points):
        return None
    xs, ys = [log(x) for x, _ in points], [log(y) for _, y in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    up = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return up / sum((x - x_mean) ** 2 for x in xs)


class Measured:
    """The results of table 1, by the call that measured them."""

    def __init__(self, sizes: Sizes, results: dict[Call, Any]) -> None:
        self.sizes = sizes
        self.results = results

    def at(self, figure: str, system: str, size: int, count: int, degree: int) -> float:
        """One figure."""
        call: Call = ("work", system, size, count, degree)
        if not figure.startswith("lines"):
            call = ("spread", system, size, count, degree, self.sizes.size)
        return float(self.results[call][figure])

    def grown(self, figure: str, system: str, all_broadcast: bool) -> list[tuple[int, float]]:
        """(N, figure): N of all, or all of N."""
        sizes = self.sizes
        return [
            (n, self.at(figure, system, n if all_broadcast else sizes.size, n, sizes.degree))
            for n in sizes.broadcasters
        ]

    def by_degree(self, figure: str) -> list[tuple[int, float]]:
        """(Qi, figure) of prc."""
        size = self.sizes.size
        return [(qi, self.at(figure, "prc", size, size, qi)) for qi in self.sizes.degrees]

    def per_link(self, system: str, size: int, setup: str) -> dict[str, int]:
        """Frames by their kinds."""
        frames: dict[str, int] = self.results["added", system, size, self.sizes.degree, setup]
        return frames

    def listed(self) -> list[dict[str, Any]]:
        """All results as JSON values."""
        return [{"call": call, "figures": figures} for call, figures in self.results.items()]

    # ---- evaluation ----

    def judge(self) -> list[Verdict]:
        """The table, line by line."""
        verdicts: list[Verdict] = []
        for system in ("link-memory", "preventive", "prc"):
            for figure, label in (("bytes", "bytes per frame"), ("lines", "lines per receipt")):
                for all_broadcast in (False, True):
                    verdicts.append(self._flat(f"{system}: {label}", figure, system, all_broadcast))
        for system in ("link-memory", "prc"):
            most = max(
                y
                for all_broadcast in (False, True)
                for _, y in self.grown("space_after", system, all_broadcast)
            )
            claim = f"{system}: entries when all is delivered"
            verdicts.append((claim, f"{most:g}", "0", most == 0))
            claim = f"{system}: entries at most"
            verdicts.append(self._flat(claim, "space_peak", system, False))
        verdicts.append(
            self._grows(
                "preventive: entries when all is delivered", "space_after", "preventive", False
            )
        )
        for figure, label in (
            ("bytes", "bytes per frame"),
            ("lines", "lines per receipt"),
            ("space_after", "entries when all is delivered"),
        ):
            verdicts.append(self._grows(f"vector: {label}", figure, "vector", True))
        return verdicts + self._judge_links()

    def _judge_links(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        largest = self.sizes.crowds[-1]
        for system, claimed in ROUTED.items():
            for setup, frames in zip(SETUPS, claimed, strict=False):
                total = sum(self.per_link(system, largest, setup).values())
                claim = f"{system}: frames per link, {setup}"
                verdicts.append((claim, f"{total}", f"{frames}", total == frames))
            shares = [
                sum(self.per_link(system, size, "worst").values()) / size**2
                for size in self.sizes.crowds
            ]
            claim = f"{system}: frames per link without a route, worst case / P squared"
            bar = BOUND[system]
            verdicts.append((claim, f"{max(shares):.2f}", f"<= {bar}", max(shares) <= bar))
        return verdicts

    def _flat(self, claim: str, figure: str, system: str, all_broadcast: bool) -> Verdict:
        power = exponent(self.grown(figure, system, all_broadcast))
        assert power is not None
        claim += f", {self.growth_label(all_broadcast)}: exponent"
        return claim, f"{power:.2f}", f"<= {FLAT_BAR}", abs(power) <= FLAT_BAR

    def _grows(self, claim: str, figure: str, system: str, all_broadcast: bool) -> Verdict:
        power = exponent(self.grown(figure, system, all_broadcast))
        assert power is not None
        claim += f", {self.growth_label(all_broadcast)}: exponent"
        return claim, f"{power:.2f}", f">= {GROWS_BAR}", power >= GROWS_BAR

    def growth_label(self, all_broadcast: bool) -> str:
        """A label for how N grows."""
        return "all of N" if all_broadcast else f"N of {self.sizes.size}"

    # ---- as tables ----

    def rows(self, all_broadcast: bool) -> list[tuple[str, ...]]:
        """Per system, the claimed and the measured value of each column."""
        rows: list[tuple[str, ...]] = []
        for system, row in SYSTEMS.items():
            overhead, time, space = CLAIMED[system]
            rows.append(
                (
                    f"{row}\n({system})",
                    f"{overhead}\n{self._series('bytes', system, all_broadcast)}",
                    f"{time}\n{self._series('lines', system, all_broadcast)}",
                    f"{space}\n{self._series('space_after', system, all_broadcast)}",
                    f"\n{self._series('space_peak', system, all_broadcast)}",
                )
            )
        return rows

    def _series(self, figure: str, system: str, all_broadcast: bool) -> str:
        grown = self.grown(figure, system, all_broadcast)
        power = exponent(grown)
        series = " / ".join(f"{value:,.0f}" for _, value in grown)
        return series + ("" if power is None else f"  N^{power:.2f}")

    def degree_rows(self) -> list[tuple[str, ...]]:
        """The figures that depend on the number of links."""
        rows: list[tuple[str, ...]] = []
        for figure, label in (
            ("bytes", "bytes per frame"),
            ("lines", "lines per receipt"),
            ("lines_per_delivery", "lines per delivery, all its copies"),
            ("space_peak", "entries at most, mean of all processes"),
        ):
            points = self.by_degree(figure)
            power = exponent(points)
            cells = [f"{value:,.1f}" for _, value in points]
            rows.append((label, *cells, "" if power is None else f"{power:.2f}"))
        return rows

    def link_rows(self) -> list[tuple[str, ...]]:
        """Frames per added link."""
        rows: list[tuple[str, ...]] = []
        for system in ROUTED:
            for setup in SETUPS:
                totals = [
                    sum(self.per_link(system, size, setup).values()) for size in self.sizes.crowds
                ]
                kinds = self.per_link(system, self.sizes.crowds[-1], setup)
                by_kind = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
                routed = dict(zip(SETUPS, ROUTED[system], strict=False))
                paper = routed.get(setup, f"up to {BOUND[system]} P^2")
                rows.append(
                    (
                        system,
                        setup,
                        " / ".join(f"{total:,}" for total in totals),
                        by_kind,
                        f"{paper}",
                    )
                )
        return rows
