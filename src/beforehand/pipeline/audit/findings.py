"""The auditor's findings about a run: its verdict, its violations and notes about gaps."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from beforehand.causality import violations
from beforehand.causality.ids import MessageId
from beforehand.causality.violations import Violation
from beforehand.results.violations import KINDS

LISTED: Final = 100_000  # violations of one kind in one run; beyond that they are only counted


@dataclass(frozen=True)
class Finding:
    """One violation: a row of the table `violations`, but for the run."""

    kind: str
    process: str
    message: MessageId
    seq: int | None
    chain: tuple[MessageId, ...]
    sentence: str

    @classmethod
    def of(cls, v: Violation, seq: int) -> Self:
        """A violation by the delivery with this `seq`."""
        return cls(v.kind, v.process, v.message, seq, v.chain, v.sentence)

    def row(self, run: str) -> dict[str, Any]:
        """The row of the table `violations`."""
        return {
            "run": run,
            "kind": self.kind,
            "process": self.process,
            "sender": self.message.sender,
            "mid": self.message.number,
            "seq": self.seq,
            "early": str(self.chain[-1]) if self.chain else None,
            "chain": [str(message) for message in self.chain],
            "sentence": self.sentence,
        }


@dataclass
class RunFindings:
    """All findings about one run."""

    processes: int = 0
    events: int = 0
    sends: int = 0
    deliveries: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    readable: bool = True  # if not, the notes give the reason
    violations: list[Finding] = field(default_factory=list)

    def add(self, violation: Finding) -> None:
        """Count and list a violation."""
        self.counts[violation.kind] += 1
        self.violations.append(violation)

    def count_more(self, kind: str, more: int) -> None:
        """Count violations beyond those that are listed."""
        if more > 0:
            self.counts[kind] += more
            self.notes.append(f"{more:,} more {kind} violations are counted but not listed")

    def row(self, run: str) -> dict[str, Any]:
        """The row of the table `verdicts`."""
        verdict = "violated" if any(self.counts.values()) else "clean"
        return {
            "run": run,
            "verdict": verdict if self.readable else "unreadable",
            "complete": self.complete and self.readable,
            "processes": self.processes,
            "events": self.events,
            "sends": self.sends,
            "deliveries": self.deliveries,
            **self.counts,
            "notes": self.notes,
        }


@dataclass(frozen=True)
class Receivers:
    """The receivers of some messages, for the sentences about them."""

    of: Mapping[MessageId, Collection[str]]
    last: int = 0  # number of the last message of a sender that didn't send the one in question

    def receivers(self, message: MessageId) -> Collection[str] | None:
        """The receivers of a message; None if it wasn't sent."""
        return self.of.get(message)

    def sends(self, process: str) -> int:
        """The number of a process's last message."""
        return self.last


def out_of_order(
    process: str, message: MessageId, seq: int, chain: tuple[MessageId, ...], sent: Receivers
) -> Finding:
    """A delivery that violated causal order; the chain is empty if none is known."""
    if chain:
        return Finding.of(violations.causal(sent, process, chain), seq)
    sentence = (
        f"{process} delivered {message} after a message that it happened before; "
        "the chain of messages between them was not searched for."
    )
    return Finding("causal", process, message, seq, chain, sentence)


def before_send(process: str, message: MessageId, seq: int) -> Finding:
    """A delivery of a message whose send happened after it."""
    sentence = (
        f"{process} delivered {message} before it can have been sent: "
        f"the send by {message.sender} depends on events that follow this delivery."
    )
    return Finding("invented", process, message, seq, (), sentence)


def lost(process: str, message: MessageId) -> Finding:
    """A message that was sent and never delivered."""
    to = "itself" if process == message.sender else process
    sentence = f"{process} never delivered {message}, which {message.sender} sent to {to}."
    return Finding("lost", process, message, None, (), sentence)
