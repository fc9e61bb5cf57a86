"""What the auditor found: a verdict for each run, and its violations."""

from typing import Final

from beforehand.results import violations
from beforehand.results.schema import Schema, boolean, integer, optional, text, texts

VERDICTS: Final = Schema(
    text("run", "The name of the run in the trace."),
    text("verdict", "Clean, violated, or unreadable."),
    boolean("complete", "Whether the log has no gaps."),
    integer("processes", "Processes in the log."),
    integer("events", "Events in the log."),
    integer("sends", "Causal-sends.", "sent"),
    integer("deliveries", "Deliveries, each of which was audited."),
    *(integer(kind, meaning) for kind, meaning in violations.MEANINGS.items()),
    texts("notes", "Gaps and anomalies."),
)

VIOLATIONS: Final = Schema(
    text("run"),
    text("kind", "One of `violations.KINDS`."),
    text("process"),
    text("sender"),
    integer("mid"),
    optional(integer("seq", "Of the delivery at that process; null for lost.")),
    optional(text("early", "The message that was delivered too early.")),
    texts("chain", "From the late message to the early one; empty if not searched for."),
    text("sentence"),
)
