"""The logs of one run: the events of each process in its order, whatever the order of the rows.

Memory is bounded where possible. For the beginning of a run, no more is kept of a process than the
diagram has room for: its n-th event comes after n - 1 others, so it is not among the first n - 1 of any
order. For a part in the middle, the events are not known before the end, and all are kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from operator import attrgetter
from typing import Final, Protocol

from beforehand.errors import ReportError
from beforehand.report.diagram.names import labels, quoted, some_of
from beforehand.results.format import counted

LISTED: Final = 10  # runs in an error; with more than these, the folder itself is easier to read

_seq = attrgetter("seq")


class EventLike(Protocol):
    """A row of a trace, of docs/trace-format.md; `trace.Event` is one."""

    @property
    def run(self) -> str: ...
    @property
    def process(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def sender(self) -> str | None: ...
    @property
    def mid(self) -> int | None: ...
    @property
    def to(self) -> tuple[str, ...] | None: ...
    @property
    def time_ns(self) -> int: ...
    @property
    def payload_bytes(self) -> int: ...
    @property
    def meta_bytes(self) -> int: ...
    @property
    def detail(self) -> str: ...


class EventLog:
    """What is kept of one process; `count` and `last` are of all that was read."""

    def __init__(self) -> None:
        self.events: list[EventLike] = []
        self.count = 0
        self.last = 0  # the greatest seq
        self.is_cut = False  # whether the end was left out

    def add(self, event: EventLike, most: int | None) -> None:
        """One more row; now and then, the surplus is dropped."""
        self.events.append(event)
        self.count += 1
        self.last = max(self.last, event.seq)
        if most is not None and len(self.events) > 2 * most:
            self.trim(most)

    def trim(self, most: int | None) -> None:
        """Put the rows in the order of the process, and keep the first ones."""
        self.events.sort(key=_seq)
        for before, after in pairwise(self.events):
            if before.seq == after.seq:
                raise ReportError(
                    f"run {quoted(after.run)}: there are two events of {quoted(after.process)} with "
                    f"seq {after.seq}; was a file given twice, or a run written into two folders?"
                )
        if most is not None and len(self.events) > most:
            del self.events[most:]
            self.is_cut = True


class EventLogs:
    """All logs of one run."""

    def __init__(self, run: str, by_process: Mapping[str, EventLog]) -> None:
        self.run = run
        self.by_process = by_process

    @property
    def count(self) -> int:
        """How many events the run has, also those that were not kept."""
        return sum(log.count for log in self.by_process.values())

    def gaps(self) -> str:
        """A sentence on events that are missing in the logs; empty if none are."""
        missing = {
            name: log.last - log.count
            for name, log in sorted(self.by_process.items())
            if log.last > log.count
        }
        if not missing:
            return ""
        lost = counted(sum(missing.values()), "event is", "events are")
        return f"{lost} missing in the log of {some_of(list(missing))}."


def collect(events: Iterable[EventLike], run: str | None, most: int | None) -> EventLogs:
    """The logs of the run of this name; without a name, of the only run.

    `most`: how many events of each process are enough, counted from its beginning; None for all.
    """
    runs: dict[str, None] = {}
    logs: defaultdict[str, EventLog] = defaultdict(EventLog)
    for event in events:
        if event.run not in runs:
            runs[event.run] = None
            if run is None and len(runs) > LISTED:
                break
        if event.run == run or (run is None and len(runs) == 1):
            logs[event.process].add(event, most)
    check_run(run, list(runs))
    for log in logs.values():
        log.trim(most)
    return EventLogs(next(iter(runs)) if run is None else run, logs)


def process_labels(events: Iterable[EventLike]) -> dict[str, str]:
    """The label of each process that occurs in the events."""
    names: set[str] = set()
    for event in events:
        names.add(event.process)
        names.update(event.to or ())
        if event.sender is not None:
            names.add(event.sender)
    ordered = sorted(names)
    return dict(zip(ordered, labels(ordered), strict=True))


def check_run(run: str | None, runs: Sequence[str]) -> None:
    """Raise an error unless one of the runs of a trace is identified."""
    if not runs:
        raise ReportError(
            "the trace has no events; check the path, or whether the run has finished"
        )
    if run is None and len(runs) > 1:
        raise ReportError(f"the trace has several runs; choose one with `run`: {_listed(runs)}")
    if run is not None and run not in runs:
        near = get_close_matches(run, runs, LISTED) or runs
        raise ReportError(f"there is no run {quoted(run)} in the trace; there is {_listed(near)}")


def _listed(runs: Sequence[str]) -> str:
    names = ", ".join(map(quoted, runs[:LISTED]))
    return names + (" and more" if len(runs) > LISTED else "")
