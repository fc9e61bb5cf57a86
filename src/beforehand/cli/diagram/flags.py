"""What is wrong in a diagram: the oracle looks at the events that are drawn, and at all before them.

It is no audit: it judges what can be judged quickly, without Spark, and passes over what gaps in a log
leave open. `beforehand audit` judges everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from beforehand.causality import MessageId, Oracle, Violation, violations
from beforehand.report.diagram.build import Flags
from beforehand.report.diagram.logs import EventLike

MOST_EVENTS: Final = 200_000  # seconds of work; a longer run is for the auditor
MOST_FLAGS: Final = 200  # each needs a search for its chain of messages


class Judging:
    """Judges events that come in an order of happens-before, and remembers what it left out."""

    def __init__(self) -> None:
        self.note = ""

    def __call__(self, events: Sequence[EventLike], is_all: bool) -> Flags:
        """What is wrong with which deliveries; `is_all`: whether the run has no other events."""
        if len(events) > MOST_EVENTS:
            self.note = (
                f"More than {MOST_EVENTS:,} events are before the end of this part, so deliveries "
                "are not judged here; `beforehand audit` does it."
            )
            return {}
        flags: dict[tuple[str, int], str] = {}
        hearing = _Hearing(events, is_all)
        for event in events:
            if sentence := hearing.hear(event):
                flags[event.process, event.seq] = sentence
            if len(flags) >= MOST_FLAGS:
                self.note = (
                    f"The first {MOST_FLAGS} deliveries that are wrong are marked; "
                    "`beforehand audit` finds all."
                )
                break
        return flags


class _Hearing:
    """The oracle, and what must be known to ask it.

    For the oracle, the messages of a process count from 1 on without gaps. A trace may lack some, so
    they are counted anew, and what is wrong is told with their real numbers.
    """

    def __init__(self, events: Sequence[EventLike], is_all: bool) -> None:
        self._oracle = Oracle()
        self._everybody = frozenset(event.process for event in events)
        self._counted: dict[MessageId, MessageId] = {}  # the name that the oracle knows
        self._real: dict[MessageId, MessageId] = {}  # and the other way round
        self._to: dict[MessageId, frozenset[str]] = {}
        self._last: dict[str, int] = {}  # the number of the last message of each process
        self._whole = _whole_logs(events) if is_all else set()
        self._ever_sent = {(event.sender, event.mid) for event in events if event.kind == "send"}

    def receivers(self, message: MessageId) -> frozenset[str] | None:
        """Whom a message was sent to, for the sentences."""
        return self._to.get(message)

    def sends(self, process: str) -> int:
        """The number of the last message of a process, for the sentences."""
        return self._last.get(process, 0)

    def hear(self, event: EventLike) -> str:
        """What this event breaks, in a sentence; empty if nothing."""
        if event.sender is None or event.mid is None:
            return ""
        message = MessageId(event.sender, event.mid)
        if event.kind == "send" and event.mid > self.sends(event.sender):
            self._send(message, self._everybody if event.to is None else frozenset(event.to))
        if event.kind != "deliver":
            return ""
        if message in self._counted:
            found = self._oracle.deliver(event.process, self._counted[message])
            return self._told(found[0]) if found else ""
        return self._out_of_nowhere(event.process, message)

    def _send(self, message: MessageId, to: frozenset[str]) -> None:
        counted = self._oracle.send(message.sender, to)
        self._counted[message] = counted
        self._real[counted] = message
        self._to[message] = to
        self._last[message.sender] = message.number

    def _told(self, found: Violation) -> str:
        message = self._real[found.message]
        if found.kind == "causal":
            chain = tuple(self._real[each] for each in found.chain)
            return violations.causal(self, found.process, chain).sentence
        if found.kind == "duplicate":
            return violations.duplicate(found.process, message).sentence
        return violations.invented(self, found.process, message).sentence

    def _out_of_nowhere(self, process: str, message: MessageId) -> str:
        """A delivery without a sending before it: an invention, unless a log does not tell all."""
        if message in self._ever_sent:
            return f"{process} delivered {message} before it can have been sent."
        if message.sender not in self._whole:
            return ""
        return violations.invented(self, process, message).sentence


def _whole_logs(events: Sequence[EventLike]) -> set[str]:
    """The processes of which nothing is missing; who starts and does not stop, misses its end."""
    last: Counter[str] = Counter()
    for event in events:
        last[event.process] = max(event.seq, last[event.process])
    count = Counter(event.process for event in events)
    started = {event.process for event in events if event.kind == "start"}
    stopped = {event.process for event in events if event.kind == "stop"}
    return {name for name in last if last[name] == count[name]} - (started - stopped)
