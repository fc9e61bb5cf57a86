"""The definitions of Almeida, section 4.1, taken literally, however slow that is.

Nothing here uses a vector clock or a search with a frontier: happens-before is the transitive
closure of all pairs of events, and a verdict examines all pairs of deliveries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from beforehand.causality import MessageId
from tests.causality.runs import Deliver, Send, Step

# What each process did, in its order: ("c", m) for a causal-send, ("d", m) for a delivery.
Timelines = Mapping[str, Sequence[tuple[str, MessageId]]]
Distances = dict[tuple[MessageId, MessageId], int]


def distances(timelines: Timelines) -> Distances:
    """(m1, m2) -> the fewest single steps (1) or (2) that lead from m1 to m2, if any do."""
    steps: Distances = {}
    for events in timelines.values():
        for (_, earlier), (kind, later) in combinations(events, 2):
            if kind == "c":  # after a delivery it is case (1), after a causal-send case (2)
                steps[earlier, later] = 1
    messages = {message for pair in steps for message in pair}
    for middle in messages:
        for first in messages:
            if (first, middle) in steps:
                for last in messages:
                    if (middle, last) in steps:
                        longer = steps[first, middle] + steps[middle, last]
                        steps[first, last] = min(longer, steps.get((first, last), longer))
    return steps


class Verdicts:
    """What is wrong with a run, and where."""

    def __init__(self, run: Sequence[Step]) -> None:
        self.kinds: list[list[str]] = []  # of each step, in the order of the oracle
        self.before: list[set[MessageId]] = []  # of each step: what that process delivered before
        self.timelines: dict[str, list[tuple[str, MessageId]]] = {}
        self.receivers: dict[MessageId, frozenset[str]] = {}
        self._delivered: dict[str, list[MessageId]] = {}
        for step in run:
            self.before.append(set(self._delivered.get(step.process, ())))
            self.kinds.append(self._send(step) if isinstance(step, Send) else self._deliver(step))
        self.distances = distances(self.timelines)
        self._judge_order(run)

    def _send(self, step: Send) -> list[str]:
        number = 1 + sum(message.sender == step.process for message in self.receivers)
        message = MessageId(step.process, number)
        self.receivers[message] = step.receivers
        self.timelines.setdefault(step.process, []).append(("c", message))
        return []

    def _deliver(self, step: Deliver) -> list[str]:
        if step.process not in self.receivers.get(step.message, ()):
            return ["invented"]
        if step.message in self._delivered.setdefault(step.process, []):
            return ["duplicate"]
        self._delivered[step.process].append(step.message)
        self.timelines.setdefault(step.process, []).append(("d", step.message))
        return []

    def _judge_order(self, run: Sequence[Step]) -> None:
        """Judge the whole run at once, as the paper does: every pair of deliveries."""
        for step, kinds, before in zip(run, self.kinds, self.before, strict=True):
            if isinstance(step, Deliver) and not kinds:
                if any((step.message, early) in self.distances for early in before):
                    kinds.append("causal")
                if any(
                    step.message.sender == early.sender and step.message.number < early.number
                    for early in before
                ):
                    kinds.append("fifo")

    def undelivered(self) -> list[tuple[MessageId, str]]:
        """The pairs of a message and a receiver that never came together."""
        return sorted(
            (message, receiver)
            for message, receivers in self.receivers.items()
            for receiver in receivers
            if message not in self._delivered.get(receiver, ())
        )
