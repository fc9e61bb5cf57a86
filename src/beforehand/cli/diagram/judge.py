"""Marks wrong deliveries in a diagram: the oracle judges the events drawn, and all before them.

This is not an audit: it judges what can be judged quickly, without Spark, and skips what gaps in a log
leave open. `beforehand audit` judges everything.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from beforehand.causality import MessageId, Oracle, Violation, violations
from beforehand.report.diagram.build import Problems
from beforehand.report.diagram.drawing import Problem
from beforehand.report.diagram.logs import EventLike, process_labels

MOST_EVENTS: Final = 200_000  # seconds of work; longer runs are for `beforehand audit`
MOST_FLAGS: Final = 200  # each needs a search for its chain of messages


class DeliveryJudge:
    """Judges events in an order that respects happens-before; `note` says what was skipped."""

    def __init__(self) -> None:
        self.note = ""
        self.has_judged = False

    def __call__(self, events: Sequence[EventLike], is_all: bool) -> Problems:
        """What is wrong with each wrong delivery; `is_all`: whether these are all events of the run."""
        if len(events) > MOST_EVENTS:
            self.note = (
                f"There are more than {MOST_EVENTS:,} events up to the end of this part, so "
                "deliveries are not judged here; use `beforehand audit`."
            )
            return {}
        self.has_judged = True
        flags: dict[tuple[str, int], Problem] = {}
        replay = _OracleReplay(events, is_all)
        for event in events:
            if problem := replay.judge(event):
                flags[event.process, event.seq] = problem
            if len(flags) >= MOST_FLAGS:
                self.note = (
                    f"The first {MOST_FLAGS} wrong deliveries are marked; "
                    "`beforehand audit` finds all."
                )
                break
        return flags


class _OracleReplay:
    """Replays events to the oracle.

    The oracle numbers the messages of a process from 1 without gaps. A trace may lack some, so they are
    renumbered for the oracle, and its violations are translated back.
    """

    def __init__(self, events: Sequence[EventLike], is_all: bool) -> None:
        self._oracle = Oracle()
        self._label = process_labels(events)  # sentences have names as people read them
        self._name = {label: name for name, label in self._label.items()}
        self._processes = frozenset(self._label[event.process] for event in events)
        self._counted: dict[MessageId, MessageId] = {}  # message -> its id for the oracle
        self._real: dict[MessageId, MessageId] = {}  # and back
        self._to: dict[MessageId, frozenset[str]] = {}
        self._last: dict[str, int] = {}  # the number of the last message of each process
        self._whole = _whole_logs(events) if is_all else set()
        self._ever_sent = {(event.sender, event.mid) for event in events if event.kind == "send"}

    def receivers(self, message: MessageId) -> frozenset[str] | None:
        """The receivers of a message, for the sentences."""
        return self._to.get(message)

    def sends(self, process: str) -> int:
        """The number of the last message of a process, for the sentences."""
        return self._last.get(process, 0)

    def judge(self, event: EventLike) -> Problem | None:
        """The violation that this event is, if it is one."""
        if event.sender is None or event.mid is None:
            return None
        message = MessageId(self._label[event.sender], event.mid)
        if event.kind == "send" and event.mid > self.sends(message.sender):
            to = None if event.to is None else frozenset(self._label[name] for name in event.to)
            self._send(message, self._processes if to is None else to)
        if event.kind != "deliver":
            return None
        process = self._label[event.process]
        if message in self._counted:
            broken = self._oracle.deliver(process, self._counted[message])
            return self._problem(broken[0]) if broken else None
        sentence = self._without_send(process, message)
        return Problem(sentence) if sentence else None

    def _send(self, message: MessageId, to: frozenset[str]) -> None:
        counted = self._oracle.send(message.sender, to)
        self._counted[message] = counted
        self._real[counted] = message
        self._to[message] = to
        self._last[message.sender] = message.number

    def _problem(self, violation: Violation) -> Problem:
        process, message = violation.process, self._real[violation.message]
        if violation.kind == "causal":
            chain = tuple(self._real[link] for link in violation.chain)
            names = tuple((self._name[link.sender], link.number) for link in chain)
            return Problem(violations.causal(self, process, chain).sentence, names)
        if violation.kind == "duplicate":
            return Problem(violations.duplicate(process, message).sentence)
        return Problem(violations.invented(self, process, message).sentence)

    def _without_send(self, process: str, message: MessageId) -> str:
        """A delivery before which no send was seen: an invention, unless the sender's log has gaps."""
        name = self._name[message.sender]
        if (name, message.number) in self._ever_sent:
            return f"{process} delivered {message} before it can have been sent."
        if name not in self._whole:
            return ""
        return violations.invented(self, process, message).sentence


def _whole_logs(events: Sequence[EventLike]) -> set[str]:
    """The processes whose logs are complete; one that starts and never stops lacks its end."""
    last: Counter[str] = Counter()
    for event in events:
        last[event.process] = max(event.seq, last[event.process])
    count = Counter(event.process for event in events)
    started = {event.process for event in events if event.kind == "start"}
    stopped = {event.process for event in events if event.kind == "stop"}
    return {name for name in last if last[name] == count[name]} - (started - stopped)
