"""What a run has shown: figures that depend on the scenario alone, and how long the simulator took."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from beforehand.causality.violations import Violation
from beforehand.simulator.measures.instruments import Durations, Level, Moment
from beforehand.simulator.scenario import Scenario


@dataclass(frozen=True)
class Metrics:
    """All times are virtual, in nanoseconds. Per message means per causal-send."""

    processes: int
    sent: int  # causal-sends; a multicast is one
    copies: int  # their receivers, counted
    delivered: int
    undelivered: int  # copies between processes that are alive
    duplicates: int  # deliveries that should not have been
    unsent: int  # sends that the workload wanted and that never became possible
    skipped: int  # sends that were left out because all receivers had been dropped
    execution_ns: int
    jobs: int
    mean_job_start_ns: float
    latency: Durations  # from causal-send to delivery
    noncausal: Durations | None  # see noncausal.py; None if the run was too congested to follow it
    held_time: Durations  # from causal-send to release
    held: Level  # messages that wait at their senders, all together
    buffered: Level  # messages that wait at their receivers, all together
    unacknowledged: Level  # frames kept for resending, of one process; this and below: sampled
    permits_missing: Level  # of one process
    integers: Level  # of protocol state, of one process
    entries: Level  # those of them that are about messages
    frames: int
    control_frames: int
    control_received: int  # those that arrived where somebody was
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
    frames_ignored: int  # that were too late or too early to matter, where links come and go
    events: int


@dataclass(frozen=True)
class Result:
    """A run that is over."""

    scenario: Scenario
    metrics: Metrics
    outcome: str  # "complete", "stalled", or "cut short" at the time limit
    audited: bool
    violations: tuple[Violation, ...]  # in the order in which they happened; empty if not audited
    series: tuple[Moment, ...]  # one for each `sample` of the scenario
    seconds: float  # that the simulator took

    @property
    def events_per_second(self) -> float:
        """How fast the simulator was."""
        return self.metrics.events / self.seconds if self.seconds else 0.0

    @property
    def clean(self) -> bool:
        """No violation, and everything arrived exactly once; if it was cut short, at most once."""
        missing = self.metrics.undelivered and self.outcome != "cut short"
        return not (self.violations or self.metrics.duplicates or missing)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return {
            "scenario": self.scenario.to_dict(),
            "outcome": self.outcome,
            "metrics": asdict(self.metrics),
            "series": [asdict(moment) for moment in self.series],
            "audited": self.audited,
            "violations": [
                {
                    "kind": each.kind,
                    "process": each.process,
                    "message": str(each.message),
                    "chain": [str(message) for message in each.chain],
                    "sentence": each.sentence,
                }
                for each in self.violations
            ],
            "simulator": {
                "seconds": self.seconds,
                "events_per_second": self.events_per_second,
            },
        }
