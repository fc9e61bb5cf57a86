"""What the shell offers after a tab: the names that options take.

A shell asks at every tab, and nobody waits for Spark then. The names that live in the pipeline are
therefore written down here once more; a test compares them with the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NETWORKS: Final = ("default", "lan", "wan", "mobile")
FORMATS: Final = (
    *("auto", "trace", "otlp", "jaeger", "zipkin"),
    *("span-csv", "shiviz", "list", "graph"),
)

Offer = tuple[str, str]  # a value, and what it is


def protocol(incomplete: str) -> list[Offer]:
    """A protocol."""
    return _starting(incomplete, _protocols())


def protocol_list(incomplete: str) -> list[Offer]:
    """Protocols, with commas."""
    return _listed(incomplete, _protocols())


def network_list(incomplete: str) -> list[Offer]:
    """Networks that have a name, with commas."""
    return _listed(incomplete, ((name, "") for name in NETWORKS))


def workload(incomplete: str) -> list[Offer]:
    """A workload; its parameters are for people to say."""
    from beforehand.simulator.workloads.registry import KINDS, REPLAY

    offers = [(name, kind.form) for name, kind in KINDS.items()]
    return _starting(incomplete, [*offers, (REPLAY, "a program or a trace")])


def file_format(incomplete: str) -> list[Offer]:
    """A format that `ingest` reads."""
    return _starting(incomplete, ((name, "") for name in FORMATS))


def _protocols() -> list[Offer]:
    from beforehand import protocols

    return [(name, protocols.describe(name).title) for name in protocols.names()]


def _starting(incomplete: str, offers: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(incomplete)]


def _listed(incomplete: str, offers: Iterable[Offer]) -> list[Offer]:
    """The last of several, with the ones before it in front; none a second time."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        (f"{before}{comma}{name}", what)
        for name, what in offers
        if name.startswith(last) and name not in taken
    ]
