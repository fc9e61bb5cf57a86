"""From the rows of a sweep and the verdicts of its audit to the figures of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from beforehand.pipeline.study.figures import FAILED, Candidate, Figures

KINDS: Final = ("causal", "fifo", "duplicate", "invented", "lost")  # of violations


def figures(
    rows: Sequence[Mapping[str, Any]],
    verdicts: Mapping[str, Mapping[str, Any]],
    candidates: Sequence[Candidate],
    networks: Sequence[str],
    messages: int,
) -> list[Figures]:
    """One for each row, in the order of the networks and on each in that of the candidates.

    `messages` is how many the traffic has: protocols without multicast send more, and are not to look
    better for that.
    """
    known = {each.name: each for each in candidates}
    places = {name: place for place, name in enumerate(known)}
    ordered = sorted(rows, key=lambda r: (networks.index(r["network"]), places[r["protocol"]]))
    return [
        _figures(row, verdicts.get(row["run"]), known[row["protocol"]], messages) for row in ordered
    ]


def _figures(
    row: Mapping[str, Any], verdict: Mapping[str, Any] | None, of: Candidate, messages: int
) -> Figures:
    judged = verdict or {"verdict": FAILED, "deliveries": 0, **dict.fromkeys(KINDS, 0)}
    told: dict[str, Any] = {
        "protocol": of.name,
        "network": row["network"],
        "causal": of.causal,
        "metadata": of.metadata,
        "run": row["run"],
        "outcome": row["outcome"] or FAILED,
        "verdict": judged["verdict"],
        "violations": sum(judged[kind] for kind in KINDS),
        "causal_violations": judged["causal"],
        "deliveries": judged["deliveries"],
    }
    if row["error"] is not None:
        return Figures(**told, error=row["error"])
    return Figures(
        **told,
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
