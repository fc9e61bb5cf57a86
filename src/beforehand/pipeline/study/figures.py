"""What a study knows of a protocol on a network, and which of them may be recommended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CLEAN: Final = "clean"
COMPLETE: Final = "complete"
FAILED: Final = "failed"  # the run, so there is nothing to judge


@dataclass(frozen=True)
class Candidate:
    """A protocol that might suit, as the registry describes it."""

    name: str
    causal: bool
    metadata: str  # integers per message: O(1), O(n) or O(n^2)


@dataclass(frozen=True)
class Figures:
    """One replay. Times are in nanoseconds. Per message: of the traffic, where a multicast is one."""

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
    wire_per_message: float = 0.0  # all bytes: payloads, headers and what is sent again too
    integers_peak: int = 0  # of state, of one process
    integers_mean: float = 0.0
    waiting_peak: int = 0  # messages held at senders and buffered at receivers, at most
    error: str = ""

    @property
    def usable(self) -> bool:
        """Whether it has shown here that it does what it promises, and that is causal order."""
        return self.causal and self.verdict == CLEAN and self.outcome == COMPLETE

    def why_not(self) -> str:
        """Why it is not usable, in a few words."""
        if self.error:
            return f"the run failed: {self.error.splitlines()[0]}"
        if self.outcome != COMPLETE:
            return f"the run {'stalled' if self.outcome == 'stalled' else 'was ' + self.outcome}"
        if self.verdict != CLEAN:
            return f"{self.violations:,} violations in {self.deliveries:,} deliveries"
        return "" if self.causal else "it does not promise causal order"
