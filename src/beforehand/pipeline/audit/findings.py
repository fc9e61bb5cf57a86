"""What the auditor found out about a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from beforehand.causality import violations
from beforehand.causality.ids import MessageId
from beforehand.results.violations import KINDS

LISTED: Final = 100_000  # violations of one kind in one run; more are counted and no more


@dataclass(frozen=True)
class Finding:
    """One violation, as a row of the table `violations`; the run is added later."""

    kind: str
    process: str
    message: MessageId
    seq: int | None
    chain: tuple[MessageId, ...]
    sentence: str

    def row(self, run: str) -> dict[str, Any]:
        """As the table has it."""
        return {
            "run": run,
            "kind": self.kind,
            "process": self.process,
            "sender": self.message.sender,
            "mid": self.message.number,
            "seq": self.seq,
            "early": str(self.chain[-1]) if self.chain else None,
            "chain": [str(each) for each in self.chain],
            "sentence": self.sentence,
        }


@dataclass
class RunFindings:
    """All about one run."""

    processes: int = 0
    events: int = 0
    sends: int = 0
    deliveries: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    readable: bool = True  # if not, the notes say why
    violations: list[Finding] = field(default_factory=list)

    def add(self, found: Finding) -> None:
        """One more."""
        self.counts[found.kind] += 1
        self.violations.append(found)

    def count_more(self, kind: str, more: int) -> None:
        """Violations beyond those that are listed."""
        if more > 0:
            self.counts[kind] += more
            self.notes.append(f"{more:,} more of kind {kind} are counted and not listed")

    def row(self, run: str) -> dict[str, Any]:
        """As the table `verdicts` has it."""
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
    """To whom some messages were sent: what the sentences about them need to know."""

    of: Mapping[MessageId, Collection[str]]
    last: int = 0  # number of the last message of a sender who did not send the one in question

    def receivers(self, message: MessageId) -> Collection[str] | None:
        """Whom a message was sent to; None if it was not."""
        return self.of.get(message)

    def sends(self, process: str) -> int:
        """The number of its last message."""
        return self.last


def out_of_order(
    process: str, message: MessageId, seq: int, chain: tuple[MessageId, ...], sent: Receivers
) -> Finding:
    """A delivery that broke causal order; the chain is empty if none was looked for, or found."""
    if chain:
        sentence = violations.causal(sent, process, chain).sentence
    else:
        sentence = (
            f"{process} delivered {message} after something that {message} happened before; "
            "no chain of messages that shows it was looked for here."
        )
    return Finding("causal", process, message, seq, chain, sentence)


def behind(process: str, message: MessageId, seq: int, early: MessageId) -> Finding:
    """A delivery after a later one of the same sender."""
    told = violations.fifo(process, message, early)
    return Finding("fifo", process, message, seq, told.chain, told.sentence)


def duplicate(process: str, message: MessageId, seq: int) -> Finding:
    """A second delivery."""
    sentence = violations.duplicate(process, message).sentence
    return Finding("duplicate", process, message, seq, (), sentence)


def invented(process: str, message: MessageId, seq: int, sent: Receivers) -> Finding:
    """A delivery of what was not sent, or not to this process."""
    sentence = violations.invented(sent, process, message).sentence
    return Finding("invented", process, message, seq, (), sentence)


def too_soon(process: str, message: MessageId, seq: int) -> Finding:
    """A delivery of what was sent only after things that came after this delivery."""
    sentence = (
        f"{process} delivered {message} before it can have been sent: "
        f"what {message.sender} did before sending it comes after this delivery."
    )
    return Finding("invented", process, message, seq, (), sentence)


def lost(process: str, message: MessageId) -> Finding:
    """What was sent and never delivered."""
    to = "itself" if process == message.sender else process
    sentence = f"{process} never delivered {message}, which {message.sender} sent to {to}."
    return Finding("lost", process, message, None, (), sentence)
