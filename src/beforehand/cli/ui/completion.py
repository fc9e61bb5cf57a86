"""Shell completion: the values that options take.

Completion must be instant, so it cannot import Spark. The names that the pipeline defines are therefore
repeated here; a test compares them with the originals.
"""

from collections.abc import Iterable
from typing import Final

NETWORKS: Final = ("default", "lan", "wan", "mobile")
FORMATS: Final = (
    "auto",
    "trace",
    "otlp",
    "jaeger",
    "zipkin",
    "span-csv",
    "shiviz",
    "list",
    "graph",
)

Completion = tuple[str, str]  # a value, and its description


def protocol(incomplete: str) -> list[Completion]:
    """Names of protocols."""
    return _starting(incomplete, _protocols())


def protocol_list(incomplete: str) -> list[Completion]:
    """Names of protocols, separated by commas."""
    return _listed(incomplete, _protocols())


def network_list(incomplete: str) -> list[Completion]:
    """Names of networks, separated by commas."""
    return _listed(incomplete, ((name, "") for name in NETWORKS))


def workload(incomplete: str) -> list[Completion]:
    """Kinds of workloads, without their parameters."""
    from beforehand.simulator.workloads.registry import REPLAY, WORKLOADS

    values = [(name, entry.syntax) for name, entry in WORKLOADS.items()]
    return _starting(incomplete, [*values, (REPLAY, "a program or a trace")])


def file_format(incomplete: str) -> list[Completion]:
    """Formats that `ingest` reads."""
    return _starting(incomplete, ((name, "") for name in FORMATS))


def _protocols() -> list[Completion]:
    from beforehand import protocols

    return [(name, protocols.describe(name).title) for name in protocols.names()]


def _starting(incomplete: str, values: Iterable[Completion]) -> list[Completion]:
    return [value for value in values if value[0].startswith(incomplete)]


def _listed(incomplete: str, values: Iterable[Completion]) -> list[Completion]:
    """Completions of the last name in a list, each with the names before it; without duplicates."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        (f"{before}{comma}{name}", what)
        for name, what in values
        if name.startswith(last) and name not in taken
    ]
