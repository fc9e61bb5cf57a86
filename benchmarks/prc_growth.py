"""Table 1 of Nédelec: how the figures of `prc_table1.py` grow, and what that says about the table."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from benchmarks.prc_table1 import SYSTEMS, WAYS, Call, Sizes

Verdict = tuple[str, str, str, bool]  # claim, measured, bar, holds

# Columns of the table: message overhead, delivery execution time, local space.
CLAIMED = {
    "link-memory": ("O(1)", "O(Qi)", "O(Qi M)"),  # not in the table: as section 2 has it
    "vector": ("O(N)", "O(W N)", "O(N + W N)"),
    "preventive": ("O(1)", "O(1)", "O(N)"),
    "prc": ("O(1)", "O(Qi)", "O(Qi M)"),
}
FLAT_BAR = 0.1  # an exponent up to this is constant
GROWS_BAR = 0.4  # and from this on, growth: what is constant beside it weighs on small N
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
    """Table 1: what was measured, by what it was measured on."""

    def __init__(self, sizes: Sizes, found: dict[Call, Any]) -> None:
        self.sizes = sizes
        self.found = found

    def at(self, figure: str, system: str, size: int, count: int, degree: int) -> float:
        """One figure."""
        call: Call = ("work", system, size, count, degree)
        if not figure.startswith("lines"):
            call = ("spread", system, size, count, degree, self.sizes.size)
        return float(self.found[call][figure])

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

    def per_link(self, system: str, size: int, way: str) -> dict[str, int]:
        """Frames by their kinds."""
        found: dict[str, int] = self.found["added", system, size, self.sizes.degree, way]
        return found

    def listed(self) -> list[dict[str, Any]]:
        """All of it, as JSON can hold it."""
        return [{"call": call, "found": figures} for call, figures in self.found.items()]

    # ---- what it says ----

    def judge(self) -> list[Verdict]:
        """The table, line by line."""
        verdicts: list[Verdict] = []
        for system in ("link-memory", "preventive", "prc"):
            for figure, told in (("bytes", "bytes per frame"), ("lines", "lines per receipt")):
                for everybody in (False, True):
                    verdicts.append(self._flat(f"{system}: {told}", figure, system, everybody))
        for system in ("link-memory", "prc"):
            most = max(
                y for every in (False, True) for _, y in self.grown("space_after", system, every)
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
        for figure, told in (
            ("bytes", "bytes per frame"),
            ("lines", "lines per receipt"),
            ("space_after", "entries when all is delivered"),
        ):
            verdicts.append(self._grows(f"vector: {told}", figure, "vector", True))
        return verdicts + self._judge_links()

    def _judge_links(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        largest = self.sizes.crowds[-1]
        for system, claimed in ROUTED.items():
            for way, frames in zip(WAYS, claimed, strict=False):
                total = sum(self.per_link(system, largest, way).values())
                claim = f"{system}: frames per link, {way}"
                verdicts.append((claim, f"{total}", f"{frames}", total == frames))
            shares = [
                sum(self.per_link(system, size, "worst").values()) / size**2
                for size in self.sizes.crowds
            ]
            claim = f"{system}: frames per link without a route, worst case / P squared"
            bar = BOUND[system]
            verdicts.append((claim, f"{max(shares):.2f}", f"<= {bar}", max(shares) <= bar))
        return verdicts

    def _flat(self, claim: str, figure: str, system: str, everybody: bool) -> Verdict:
        power = exponent(self.grown(figure, system, everybody))
        assert power is not None
        claim += f", {self.which(everybody)}: exponent"
        return claim, f"{power:.2f}", f"<= {FLAT_BAR}", abs(power) <= FLAT_BAR

    def _grows(self, claim: str, figure: str, system: str, everybody: bool) -> Verdict:
        power = exponent(self.grown(figure, system, everybody))
        assert power is not None
        claim += f", {self.which(everybody)}: exponent"
        return claim, f"{power:.2f}", f">= {GROWS_BAR}", power >= GROWS_BAR

    def which(self, all_broadcast: bool) -> str:
        """In which way N grows."""
        return "all of N" if all_broadcast else f"N of {self.sizes.size}"

    # ---- as tables ----

    def rows(self, all_broadcast: bool) -> list[tuple[str, ...]]:
        """System, then for each column what is claimed and what was measured."""
        found: list[tuple[str, ...]] = []
        for system, row in SYSTEMS.items():
            overhead, time, space = CLAIMED[system]
            found.append(
                (
                    f"{row}\n({system})",
                    f"{overhead}\n{self._told('bytes', system, all_broadcast)}",
                    f"{time}\n{self._told('lines', system, all_broadcast)}",
                    f"{space}\n{self._told('space_after', system, all_broadcast)}",
                    f"\n{self._told('space_peak', system, all_broadcast)}",
                )
            )
        return found

    def _told(self, figure: str, system: str, all_broadcast: bool) -> str:
        grown = self.grown(figure, system, all_broadcast)
        power = exponent(grown)
        series = " / ".join(f"{value:,.0f}" for _, value in grown)
        return series + ("" if power is None else f"  N^{power:.2f}")

    def degree_rows(self) -> list[tuple[str, ...]]:
        """What depends on the number of links."""
        found: list[tuple[str, ...]] = []
        for figure, told in (
            ("bytes", "bytes per frame"),
            ("lines", "lines per receipt"),
            ("lines_per_delivery", "lines per delivery, all its copies"),
            ("space_peak", "entries at most, mean of all processes"),
        ):
            points = self.by_degree(figure)
            power = exponent(points)
            cells = [f"{value:,.1f}" for _, value in points]
            found.append((told, *cells, "" if power is None else f"{power:.2f}"))
        return found

    def link_rows(self) -> list[tuple[str, ...]]:
        """Frames per added link."""
        found: list[tuple[str, ...]] = []
        for system in ROUTED:
            for way in WAYS:
                totals = [
                    sum(self.per_link(system, size, way).values()) for size in self.sizes.crowds
                ]
                kinds = self.per_link(system, self.sizes.crowds[-1], way)
                parts = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
                routed = dict(zip(WAYS, ROUTED[system], strict=False))
                paper = routed.get(way, f"up to {BOUND[system]} P^2")
                found.append(
                    (system, way, " / ".join(f"{total:,}" for total in totals), parts, f"{paper}")
                )
        return found
