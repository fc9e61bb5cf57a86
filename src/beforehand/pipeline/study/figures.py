"""The figures of a protocol on a network, and whether it may be recommended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from beforehand.results.violations import KINDS

CLEAN: Final = "clean"
COMPLETE: Final = "complete"
FAILED: Final = "failed"  # the run, so there is nothing to audit


@dataclass(frozen=True)
class Candidate:
    """A protocol to compare, as the registry describes it."""

    name: str
    causal: bool
    metadata: str  # integers per message: O(1), O(n) or O(n^2)


@dataclass(frozen=True)
class ProtocolFigures:
    """One replay. Times are in nanoseconds. Of the workload's messages, a multicast counts as one."""

    protocol: str
    network: str
    causal: bool  # whether it promises causal order
    metadata: str  # that it promises, as in Candidate
    run: str  # the name of the run in the sweep
    outcome: str  # complete, stalled, cut short or failed
    verdict: str  # of the auditor: clean, violated, unreadable; or failed
    violations: int  # of any kind
    causal_violations: int
    deliveries: int
    latency_mean: float = 0.0
    latency_p99: float = 0.0
    held_mean: float = 0.0  # time from causal-send to release
    held_p99: float = 0.0
    metadata_per_message: float = 0.0  # bytes, of all frames, those without a message included
    control_per_message: float = 0.0  # frames without a message
    wire_per_message: float = 0.0  # all bytes: payloads, headers and retransmissions
    integers_peak: int = 0  # of state, of one process
    integers_mean: float = 0.0
    waiting_peak: int = 0  # messages held at senders and buffered at receivers, at most
    error: str = ""

    @property
    def usable(self) -> bool:
        """Whether it promises causal order and kept it in this replay."""
        return self.causal and self.verdict == CLEAN and self.outcome == COMPLETE

    def why_not(self) -> str:
        """Why it isn't usable, in a few words."""
        if self.error:
            return f"the run failed: {self.error.splitlines()[0]}"
        if self.outcome != COMPLETE:
            return f"the run {'stalled' if self.outcome == 'stalled' else 'was ' + self.outcome}"
        if self.verdict != CLEAN:
            return f"{self.violations:,} violations in {self.deliveries:,} deliveries"
        return "" if self.causal else "it does not promise causal order"


def figures(
    rows: Sequence[Mapping[str, Any]],
    verdicts: Mapping[str, Mapping[str, Any]],
    candidates: Sequence[Candidate],
    networks: Sequence[str],
    messages: int,
) -> list[ProtocolFigures]:
    """The figures of each row, sorted by network and then by candidate, both in the given order.

    `messages` is the size of the workload: protocols without multicast send more messages, and must not
    look better for that.
    """
    known = {candidate.name: candidate for candidate in candidates}
    names = list(known)
    ordered = sorted(rows, key=lambda r: (networks.index(r["network"]), names.index(r["protocol"])))
    return [
        _figures(row, verdicts.get(row["run"]), known[row["protocol"]], messages) for row in ordered
    ]


def _figures(
    row: Mapping[str, Any], verdict: Mapping[str, Any] | None, candidate: Candidate, messages: int
) -> ProtocolFigures:
    judged = verdict or {"verdict": FAILED, "deliveries": 0, **dict.fromkeys(KINDS, 0)}
    common: dict[str, Any] = {
        "protocol": candidate.name,
        "network": row["network"],
        "causal": candidate.causal,
        "metadata": candidate.metadata,
        "run": row["run"],
        "outcome": row["outcome"] or FAILED,
        "verdict": judged["verdict"],
        "violations": sum(judged[kind] for kind in KINDS),
        "causal_violations": judged["causal"],
        "deliveries": judged["deliveries"],
    }
    if row["error"] is not None:
        return ProtocolFigures(**common, error=row["error"])
    return ProtocolFigures(
        **common,
        latency_mean=row["latency_mean"],
        latency_p99=float(row["latency_p99"]),
        held_mean=row["held_time_mean"],
        held_p99=float(row["held_time_p99"]),
        metadata_per_message=row["metadata_bytes"] / messages,
        control_per_message=row["control_frames"] / messages,
        wire_per_message=row["wire_bytes"] / messages,
        integers_peak=row["integers_peak"],
        integers_mean=row["integers_mean"],
        waiting_peak=row["held_peak"] + row["buffered_peak"],
    )
