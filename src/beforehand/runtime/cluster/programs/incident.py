"""What made no sense to a user: a line that it saw before the one that it needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from beforehand.causality.ids import MessageId
from beforehand.runtime.cluster.programs.actor import LogEntry
from beforehand.runtime.cluster.programs.script import Script

Logs = Mapping[str, Sequence[LogEntry]]  # of each process, by name


@dataclass(frozen=True)
class Incident:
    """A process saw the last line of the chain while the first one, which it needs, was missing."""

    process: str
    chain: tuple[int, ...]  # lines, each sent because of the one before
    time_ns: int

    @property
    def early(self) -> int:
        """The line that came too early."""
        return self.chain[-1]

    @property
    def late(self) -> int:
        """The line that was missing."""
        return self.chain[0]


@dataclass(frozen=True)
class SeenLine:
    """A line on the screen of a process."""

    line: int
    sender: str
    text: str
    time_ns: int


def incidents(script: Script, logs: Logs) -> list[Incident]:
    """All of them, the first one first."""
    every = (incident for process in logs for incident in _of(process, script, logs[process]))
    return sorted(every, key=lambda incident: incident.time_ns)


def _of(process: str, script: Script, log: Sequence[LogEntry]) -> Iterator[Incident]:
    known: set[int] = set()
    for entry in log:
        known.add(entry.line)
        needed = script[entry.line].needs
        if not entry.sent and needed is not None and needed not in known:
            yield Incident(process, _chain(script, needed, entry.line), entry.time_ns)


def _chain(script: Script, first: int, last: int) -> tuple[int, ...]:
    """From one line to another, each sent because of the one before."""
    chain = [last]
    while chain[-1] != first:
        cause = script[chain[-1]].after
        assert cause is not None, "a line comes after what it needs"
        chain.append(cause)
    return tuple(reversed(chain))


def screen(script: Script, logs: Logs, incident: Incident) -> list[SeenLine]:
    """The two lines of an incident as its process saw them, in this run or in another."""
    return [
        SeenLine(entry.line, script[entry.line].sender, script[entry.line].text, entry.time_ns)
        for entry in logs[incident.process]
        if entry.line in (incident.early, incident.late)
    ]


def message_ids(logs: Logs, lines: Sequence[int]) -> list[MessageId]:
    """The messages that these lines were in a run."""
    sent = {
        entry.line: MessageId(process, entry.number)
        for process, log in logs.items()
        for entry in log
        if entry.sent
    }
    return [sent[line] for line in lines]
