"""The result of a run: metrics that depend on the scenario alone, and how long the simulator took."""

from dataclasses import asdict, dataclass
from typing import Any

from beforehand.causality.violations import Violation
from beforehand.simulator.measures.instruments import DurationSummary, LevelSummary, SeriesPoint
from beforehand.simulator.scenario import Scenario


@dataclass(frozen=True)
class Metrics:
    """All times are virtual, in nanoseconds. Per message means per causal-send."""

    processes: int
    sent: int  # causal-sends; a multicast is one
    copies: int  # their receivers, counted
    delivered: int
    undelivered: int  # copies between processes that are alive
    duplicates: int  # deliveries that should not have happened
    unsent: int  # sends of the workload that never became possible
    skipped: int  # sends that were omitted because all receivers had been dropped
    execution_ns: int
    jobs: int
    mean_job_start_ns: float
    latency: DurationSummary  # from causal-send to delivery
    noncausal: DurationSummary | None  # see noncausal.py; None: too congested to follow
    held_time: DurationSummary  # from causal-send to release
    held: LevelSummary  # messages that wait at their senders, over all processes
    buffered: LevelSummary  # messages that wait at their receivers, over all processes
    unacknowledged: LevelSummary  # frames kept for retransmission, of one process (sampled)
    permits_missing: LevelSummary  # of one process (sampled)
    integers: LevelSummary  # of protocol state, of one process (sampled)
    entries: LevelSummary  # those integers that are about messages (sampled)
    frames: int
    control_frames: int
    control_received: int  # those that arrived at a live process
    frames_lost: int
    frames_doubled: int
    metadata_bytes: int
    wire_bytes: int
    metadata_bytes_per_message: float
    control_frames_per_message: float
    control_per_process_second: float  # received
    most_in_transit: int  # of one sender: released and not yet arrived
    links_opened: int  # links of an overlay that came into use during the run
    links_closed: int
    frames_ignored: int  # that came out of turn, where links come and go
    events: int


@dataclass(frozen=True, repr=False)
class Result:
    """A finished run."""

    scenario: Scenario
    metrics: Metrics
    outcome: str  # "complete", "stalled", or "cut short" at the time limit
    audited: bool
    violations: tuple[Violation, ...]  # in the order of the deliveries; empty if not audited
    series: tuple[SeriesPoint, ...]  # one point per `sample` of the scenario
    seconds: float  # that the simulator took

    def __repr__(self) -> str:
        audit = f", {len(self.violations)} violations" if self.audited else ", not audited"
        counts = f"{self.metrics.sent} sent, {self.metrics.delivered} deliveries"
        return f"<Result of {self.scenario!r}: {self.outcome}, {counts}{audit}>"

    @property
    def events_per_second(self) -> float:
        """How fast the simulator was."""
        return self.metrics.events / self.seconds if self.seconds else 0.0

    @property
    def clean(self) -> bool:
        """No violation, and every copy was delivered exactly once; at most once if cut short."""
        missing = self.metrics.undelivered and self.outcome != "cut short"
        return not (self.violations or self.metrics.duplicates or missing)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "scenario": self.scenario.to_dict(),
            "outcome": self.outcome,
            "metrics": asdict(self.metrics),
            "series": [asdict(point) for point in self.series],
            "audited": self.audited,
            "violations": [
                {
                    "kind": violation.kind,
                    "process": violation.process,
                    "message": str(violation.message),
                    "chain": [str(message) for message in violation.chain],
                    "sentence": violation.sentence,
                }
                for violation in self.violations
            ],
            "simulator": {"seconds": self.seconds, "events_per_second": self.events_per_second},
        }
