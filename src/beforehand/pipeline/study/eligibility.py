"""Which protocols are eligible for replaying a workload, and why the others are excluded.

The simulator itself rejects what a protocol cannot send; here are the protocols that could run but would
be too expensive.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from beforehand.errors import PipelineError
from beforehand.pipeline.study.figures import Candidate

# With n^2 integers in each message, 500 processes make messages of a quarter of a million integers.
MOST_SQUARED: Final = 500


@dataclass(frozen=True)
class Excluded:
    """Protocols that aren't replayed, and the reason."""

    protocols: tuple[str, ...]
    reason: str


def eligible(
    candidates: Sequence[Candidate], processes: int
) -> tuple[list[Candidate], list[Excluded]]:
    """The protocols to replay, and the excluded ones."""
    chosen: list[Candidate] = []
    reasons: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.metadata == "O(n^2)" and processes > MOST_SQUARED:
            reason = (
                f"n^2 integers in each message are too many for {processes:,} processes (more than "
                f"{MOST_SQUARED})"
            )
            reasons.setdefault(reason, []).append(candidate.name)
        else:
            chosen.append(candidate)
    if not chosen:
        raise PipelineError(
            f"no protocol is eligible: {next(iter(reasons))}; name other candidates"
        )
    return chosen, [Excluded(tuple(names), reason) for reason, names in reasons.items()]


def grouped(skipped: Iterable[tuple[str, str]]) -> list[Excluded]:
    """Pairs of protocol and reason, grouped by reason."""
    reasons: dict[str, dict[str, None]] = {}
    for protocol, reason in skipped:
        # The simulator's errors start with the protocol and end with a remedy.
        text = reason.removeprefix(f"{protocol} ").partition(";")[0]
        reasons.setdefault(text, {})[protocol] = None
    return [Excluded(tuple(names), reason) for reason, names in reasons.items()]
