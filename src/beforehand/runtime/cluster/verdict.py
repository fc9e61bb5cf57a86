"""The verdict on a cluster: its traces, merged into one order and replayed to the oracle.

The oracle needs every causal-send before the deliveries of that message, and the events of each process
in order; any merge that respects both gives the same verdict. Here processes take turns, and one whose
next delivery is of a message not sent yet waits for its sender.

The trace of a killed process ends up to a few seconds before the kill. Messages of it that others
delivered are assumed to have been sent in the order of their numbers: their order is judged, and its
own unrecorded deliveries are ignored.
"""

import os
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from beforehand import trace
from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.causality.violations import Violation
from beforehand.errors import TraceError

MAX_VIOLATIONS: Final = 100  # each needs a search for its shortest chain; judging stops there


@dataclass(frozen=True)
class ClusterVerdict:
    """The oracle's verdict on a run."""

    sends: int
    deliveries: int
    violations: tuple[Violation, ...]
    lost: tuple[tuple[MessageId, str], ...]  # a message and a receiver that never delivered it
    complete: bool  # False: judging stopped after too many violations
    held: int  # messages that were held by a core

    @property
    def clean(self) -> bool:
        """Whether everything was delivered once, and in causal order."""
        return not self.violations and not self.lost


class LoggedStep(NamedTuple):
    """A causal-send or a delivery at one process."""

    seq: int
    message: MessageId
    to: Collection[str] | None  # None: a delivery


@dataclass
class ProcessLog:
    """What one process did, according to its trace."""

    steps: list[LoggedStep] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    sends: int = 0
    held: int = 0
    stopped: bool = False


def judge(
    folder: str | os.PathLike[str], labels: Mapping[str, str], killed: Collection[str]
) -> ClusterVerdict:
    """Judge the traces in a folder.

    `labels` maps the process ids of the trace to the names to use in the verdict; `killed` are such
    names. TraceError if the trace of a survivor has gaps.
    """
    logs = {label: ProcessLog() for label in labels.values()}
    all_labels = frozenset(logs)
    for event in trace.read(folder):
        if event.process in labels:
            _add_event(logs[labels[event.process]], event, labels, all_labels)
    for label, log in logs.items():
        log.steps.sort(key=lambda step: step.seq)
        if label not in killed:
            _check_whole(label, log)
    _complete(logs, killed)
    return _judge(logs, killed)


def _add_event(
    log: ProcessLog, event: trace.Event, labels: Mapping[str, str], all_labels: frozenset[str]
) -> None:
    log.seqs.append(event.seq)
    log.held += event.kind == "hold"
    log.stopped |= event.kind == "stop"
    if event.kind not in ("send", "deliver") or event.sender is None or event.mid is None:
        return
    message = MessageId(labels.get(event.sender, event.sender), event.mid)
    if event.kind == "deliver":
        log.steps.append(LoggedStep(event.seq, message, None))
        return
    log.sends += 1
    to = all_labels if event.to is None else [labels.get(process, process) for process in event.to]
    log.steps.append(LoggedStep(event.seq, message, to))


def _check_whole(label: str, log: ProcessLog) -> None:
    if not log.stopped or sorted(log.seqs) != list(range(1, len(log.seqs) + 1)):
        raise TraceError(
            f"the trace of {label} has gaps or no end, so the run cannot be judged; "
            "check for a full disk, or report this"
        )


def _complete(logs: dict[str, ProcessLog], killed: Collection[str]) -> None:
    """Add the sends of killed processes that their traces lack but others delivered."""
    unwritten: dict[str, dict[int, set[str]]] = {label: defaultdict(set) for label in killed}
    for label, log in logs.items():
        for step in log.steps:
            sender, number = step.message
            if step.to is None and sender in unwritten and number > logs[sender].sends:
                unwritten[sender][number].add(label)
    for label, numbers in unwritten.items():
        log = logs[label]
        for number in range(log.sends + 1, max(numbers, default=0) + 1):
            log.steps.append(LoggedStep(0, MessageId(label, number), numbers.get(number, ())))
            log.sends = number


def _judge(logs: Mapping[str, ProcessLog], killed: Collection[str]) -> ClusterVerdict:
    oracle = Oracle()
    complete = True
    for label in killed:
        oracle.excuse(label)
    for label, step in _in_order(logs):
        if step.to is None:
            oracle.deliver(label, step.message)
        else:
            oracle.send(label, step.to, step.message.number)
        if len(oracle.violations) >= MAX_VIOLATIONS:
            complete = False
            break
    lost = tuple(oracle.undelivered()) if complete else ()
    held = sum(log.held for log in logs.values())
    return ClusterVerdict(oracle.sends, oracle.deliveries, oracle.violations, lost, complete, held)


def _in_order(logs: Mapping[str, ProcessLog]) -> Iterator[tuple[str, LoggedStep]]:
    """All steps, in each process's order, each message sent before it is delivered."""
    rest = {label: deque(log.steps) for label, log in logs.items()}
    last = {label: log.sends for label, log in logs.items()}
    sent = dict.fromkeys(logs, 0)
    waiting: dict[str, list[str]] = defaultdict(list)  # sender -> processes that wait for it
    ready = deque(logs)
    while any(rest.values()):
        if not ready:  # a cycle: something was delivered before it was sent
            stuck = next(label for label in rest if rest[label])
            yield stuck, rest[stuck].popleft()
            ready.append(stuck)
        label = ready.popleft()
        steps = rest[label]
        while steps:
            step = steps[0]
            sender, number = step.message
            if step.to is not None:
                sent[label] = number
                ready.extend(waiting.pop(label, ()))
            elif sent.get(sender, 0) < number <= last.get(sender, 0):  # otherwise it was never sent
                waiting[sender].append(label)
                break
            yield label, steps.popleft()
