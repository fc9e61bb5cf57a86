"""The built-in workload, for a study without a source: a shop of fifteen services.

Customers browse, search, fill carts and check out, in bursts. A visit is a tree of calls, sequential or
parallel, each with its reply; some services then notify several others, and those react. Everything is
drawn from a seed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

RUN: Final = "shop"
VISITS: Final = 150

MS: Final = 10**6
_TRAVEL: Final = 0.5 * MS  # mean nanoseconds from a causal-send to its effect
_WORK: Final = 2.0 * MS  # mean nanoseconds that a service works
_IN_BURST: Final = 5.0 * MS  # mean time from a visit to the next
_BETWEEN_BURSTS: Final = 250.0 * MS
_BURST: Final = 12  # visits


@dataclass(frozen=True)
class Operation:
    """What a service does on a request."""

    service: str
    steps: tuple[tuple[str, ...], ...] = ()  # the calls of a step are parallel
    notifies: tuple[str, ...] = ()  # services that get a multicast at the end


OPERATIONS: Final = {
    # The web servers call these; "stock" and "catalogue" are the hot spots.
    "browse": Operation("web", (("list", "suggest"),)),
    "search": Operation("web", (("find",),)),
    "add": Operation("web", (("check token",), ("put",))),
    "check out": Operation("web", (("check token",), ("get cart",), ("order",))),
    "list": Operation("catalogue", (("in stock",),)),
    "suggest": Operation("suggestions", (("describe",),)),
    "find": Operation("search", (("describe", "describe", "in stock"),)),
    "describe": Operation("catalogue"),
    "in stock": Operation("stock"),
    "check token": Operation("accounts"),
    "put": Operation("cart", (("in stock",),), ("analytics",)),
    "get cart": Operation("cart"),
    "order": Operation(
        "orders", (("reserve", "pay"), ("ship",)), ("mail", "stock", "analytics", "ledger")
    ),
    "reserve": Operation("stock"),
    "pay": Operation("payment", (("book",),)),
    "book": Operation("ledger"),
    "ship": Operation("shipping"),
}
# Services that react to an order notify others: mail must not get these before the order itself.
REACTIONS: Final = {"stock": ("mail", "shipping"), "ledger": ("mail", "reports")}
VISIT: Final = {"browse": 50, "search": 20, "add": 18, "check out": 12}  # in how many of 100
WEB: Final = ("web-1", "web-2")
CUSTOMERS: Final = "customers"


def generate(seed: int, visits: int = VISITS) -> list[dict[str, Any]]:
    """The messages of some visits, as rows of the table MESSAGES."""
    shop = _Shop(Random(seed))
    rng = shop.rng
    now = 0.0
    for number in range(visits):
        now += rng.expovariate(1 / (_IN_BURST if number % _BURST else _BETWEEN_BURSTS))
        (name,) = rng.choices(list(VISIT), list(VISIT.values()))
        shop.call(f"visit{number}", CUSTOMERS, name, (), now)
    return shop.rows()


class _Shop:
    """The messages sent so far."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._sent: list[dict[str, Any]] = []

    def rows(self) -> list[dict[str, Any]]:
        """All messages by time, with their positions; at equal times, causes stay first."""
        ordered = sorted(self._sent, key=lambda row: int(row["time_ns"]))
        return [row | {"position": position} for position, row in enumerate(ordered, 1)]

    def call(
        self, name: str, caller: str, operation: str, after: Iterable[str], now: float
    ) -> tuple[str, float]:
        """Send a request and everything it causes; returns the reply and its time of arrival."""
        spec = OPERATIONS[operation]
        service = self.rng.choice(WEB) if spec.service == "web" else spec.service
        self._send(name, caller, (service,), after, now, "request", 300)
        now += self._pause(_TRAVEL) + self._pause(_WORK)
        known: tuple[str, ...] = (name,)
        for number, step in enumerate(spec.steps):
            answers = [
                self.call(f"{name}.{number}{letter}", service, called, known, now)
                for letter, called in zip("abcdef", step, strict=False)
            ]
            known = tuple(answer for answer, _ in answers)
            now = max(arrived for _, arrived in answers) + self._pause(_WORK)
        if spec.notifies:
            notice = f"{name}/told"
            self._send(notice, service, spec.notifies, known, now, "message", 200)
            self._react(notice, spec.notifies, now)
            known = (notice,)
        reply = f"{name}/reply"
        self._send(reply, service, (caller,), known, now, "reply", 2_000)
        return reply, now + self._pause(_TRAVEL)

    def _react(self, notice: str, services: Iterable[str], now: float) -> None:
        for service in services:
            if others := REACTIONS.get(service):
                then = now + self._pause(_TRAVEL) + self._pause(_WORK)
                self._send(f"{notice}/{service}", service, others, (notice,), then, "message", 150)

    def _send(
        self,
        name: str,
        sender: str,
        to: tuple[str, ...],
        after: Iterable[str],
        now: float,
        kind: str,
        size: int,
    ) -> None:
        self._sent.append(
            {
                "run": RUN,
                "id": name,
                "sender": sender,
                "to": list(to),
                "time_ns": int(now),
                "after": list(after),
                "payload_bytes": int(self.rng.lognormvariate(0.0, 0.8) * size),
                "kind": kind,
                "flags": [],
                "file": "generated",
                "position": 0,
            }
        )

    def _pause(self, mean: float) -> float:
        return self.rng.expovariate(1 / mean)
