"""Which protocols to replay a traffic under, and why the others are left out.

What a protocol can send is judged by the simulator itself, which refuses what it cannot run; here is
what could be run and makes no sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from beforehand.errors import PipelineError
from beforehand.pipeline.study.figures import Candidate

# With n^2 integers in each message, 500 processes make messages of a quarter of a million integers.
MOST_SQUARED: Final = 500


@dataclass(frozen=True)
class Excluded:
    """Protocols that are not replayed, and why."""

    protocols: tuple[str, ...]
    reason: str


def suitable(
    candidates: Sequence[Candidate], processes: int
) -> tuple[list[Candidate], list[Excluded]]:
    """The protocols to try, and the others."""
    chosen: list[Candidate] = []
    reasons: dict[str, list[str]] = {}
    for each in candidates:
        if each.metadata == "O(n^2)" and processes > MOST_SQUARED:
            reason = (
                f"n^2 integers in each message are too many for {processes:,} processes (more than "
                f"{MOST_SQUARED})"
            )
            reasons.setdefault(reason, []).append(each.name)
        else:
            chosen.append(each)
    if not chosen:
        raise PipelineError(
            f"no protocol is left to try: {next(iter(reasons))}; name others with `protocol`"
        )
    return chosen, [Excluded(tuple(names), reason) for reason, names in reasons.items()]


def grouped(skipped: Iterable[tuple[str, str]]) -> list[Excluded]:
    """Pairs of protocol and reason, those with the same reason together."""
    reasons: dict[str, dict[str, None]] = {}
    for protocol, reason in skipped:
        # The simulator begins with the name of the protocol, and ends with what else to choose.
        text = reason.removeprefix(f"{protocol} ").partition(";")[0]
        reasons.setdefault(text, {})[protocol] = None
    return [Excluded(tuple(names), reason) for reason, names in reasons.items()]
