"""The oracle: it observes every causal-send and every delivery, and reports the deliveries that are
wrong.

It watches a run from outside, so it can afford what no protocol can: the full vector clock of each
message. It shares no code with any protocol. Its whole judgement is one comparison.

Let V(m) be the vector clock of message m over causal-sends, m itself included, and let D(j), the
*delivered clock* of process j, be the merge of V(m') over all m' delivered at j. Then D(j)[i] >= k
means that a message delivered at j is i#k or comes after i#k. So:

    delivering i#k at j violates causal order   exactly when   D(j)[i] >= k just before,

unless it is a second delivery, which is a different violation. D(j) covers what j has *delivered*, not
what it has sent: sending to itself and then to others violates nothing. The past of a causal-send is
D(j) and the earlier sends of j, so V(j#k) is D(j) with its entry for j set to k.

A newcomer starts as a copy of its contact: it takes over the delivered clock, and has to deliver what
the contact has not delivered yet.

A delivery in the wrong order is reported and then counted like any other, because the application has
seen the message. (D(j) does not change: whatever covered i#k covered its past too.) Duplicates and
invented messages are reported and change nothing, so the recorded history is always a possible one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable

from beforehand.causality.clocks import VectorClock
from beforehand.causality.history import History
from beforehand.causality.ids import MessageId, check_message, check_process
from beforehand.causality.violations import Violation, causal, duplicate, fifo, invented
from beforehand.errors import LocalProtocolError

_NOTHING = VectorClock()


class Oracle:
    """Judges the deliveries of one run, as it goes."""

    def __init__(self) -> None:
        self._history = History()
        self._delivered_clocks: dict[str, VectorClock] = {}  # D of the module's docstring
        self._delivered: dict[str, set[MessageId]] = {}
        # (receiver, sender) -> the message with the highest number delivered so far
        self._latest: dict[tuple[str, str], MessageId] = {}
        # Open messages: not yet delivered to all their receivers. The clocks are the bulk of the
        # memory, and that of a message is needed only until its last delivery.
        self._clocks: dict[MessageId, VectorClock] = {}
        self._missing: dict[MessageId, int] = {}  # receivers that have yet to deliver it
        # newcomer -> what its contact had delivered, or inherited itself, at the join
        self._inherited: dict[str, frozenset[MessageId]] = {}
        self._excused: frozenset[str] = frozenset()
        self._violations: list[Violation] = []
        self._deliveries = 0

    def send(
        self, process: str, receivers: str | Iterable[str], number: int | None = None
    ) -> MessageId:
        """Observe that `process` causal-sends its next message, to one receiver or to several.

        `number`, if given, must be the next one of that process.
        """
        message = self._history.send(process, receivers, number)
        to = self._history.receivers(message)
        if to:
            own = VectorClock({process: message.number})
            self._clocks[message] = self._delivered_clocks.get(process, _NOTHING).merge(own)
            self._missing[message] = len(to)
        return message

    def deliver(self, process: str, message: MessageId) -> tuple[Violation, ...]:
        """Observe that `process` delivers `message`; returns the violations, if any."""
        check_process(process)
        to = self._history.receivers(check_message(message))
        if to is None or process not in to:
            return self._report(invented(self._history, process, message))
        delivered = self._delivered.setdefault(process, set())
        if message in delivered:
            return self._report(duplicate(process, message))
        violations = self._report(*self._out_of_order(process, message))
        self._delivered_clocks[process] = self._delivered_clocks.get(process, _NOTHING).merge(
            self._clocks[message]
        )
        self._record(process, message, delivered)
        return violations

    def _is_late(self, process: str, message: MessageId) -> bool:
        """Whether delivering `message` at `process` now would violate causal order."""
        return self._delivered_clocks.get(process, _NOTHING).get(message.sender) >= message.number

    def _is_behind(self, process: str, message: MessageId) -> bool:
        """Whether delivering `message` at `process` now would violate FIFO order."""
        return self._latest.get((process, message.sender), message) > message

    def _out_of_order(self, process: str, message: MessageId) -> list[Violation]:
        """The violations of a first delivery of `message` now, with their witnesses."""
        if not self._is_late(process, message):
            return []
        seen = self._delivered[process] | self._inherited.get(process, frozenset())
        chain = self._history.shortest_chain(message, seen)
        assert chain is not None, "D(j)[i] >= k, so some delivered message must come after i#k"
        violations = [causal(self._history, process, chain)]
        if self._is_behind(process, message):  # implies late: causal order includes FIFO order
            violations.append(fifo(process, message, self._latest[process, message.sender]))
        return violations

    def _record(self, process: str, message: MessageId, delivered: set[MessageId]) -> None:
        self._history.deliver(process, message)
        self._deliveries += 1
        delivered.add(message)
        pair = (process, message.sender)
        self._latest[pair] = max(message, self._latest.get(pair, message))
        self._missing[message] -= 1
        if not self._missing[message]:
            del self._missing[message], self._clocks[message]

    def _report(self, *violations: Violation) -> tuple[Violation, ...]:
        self._violations.extend(violations)
        return violations

    def join(self, newcomer: str, contact: str) -> None:
        """Observe that `newcomer` joins as a copy of `contact`.

        From now on it has to deliver exactly what the contact has not delivered yet, and what it sends
        comes after everything that the contact has delivered.
        """
        if check_process(newcomer) == check_process(contact):
            raise LocalProtocolError(
                f"{newcomer} cannot join by itself; name another process as its contact"
            )
        if newcomer in self._inherited or self._delivered.get(newcomer):
            raise LocalProtocolError(
                f"{newcomer} is a member already; a process that comes back needs a new name"
            )
        delivered = self._delivered.get(contact, set())
        for message in self._missing:
            to = self._history.receivers(message) or frozenset()
            if contact in to and newcomer not in to and message not in delivered:
                self._history.add_receiver(message, newcomer)
                self._missing[message] += 1
        own = self._delivered_clocks.get(newcomer, _NOTHING)
        inherited = self._delivered_clocks.get(contact, _NOTHING)
        self._delivered_clocks[newcomer] = own.merge(inherited)
        latest = {sender: last for (to, sender), last in self._latest.items() if to == contact}
        self._latest.update({(newcomer, sender): last for sender, last in latest.items()})
        self._inherited[newcomer] = self._inherited.get(contact, frozenset()) | delivered
        self._history.join(newcomer, contact)

    def excuse(self, process: str) -> None:
        """Observe that `process` has crashed: messages to it and from it need not arrive any more.

        Those that do arrive are judged as before: a crash does not excuse a wrong order.
        """
        self._excused |= {check_process(process)}

    def undelivered(self) -> list[tuple[MessageId, str]]:
        """(message, receiver) for each delivery that should have happened and did not."""
        return [
            (message, receiver)
            for message in sorted(self._missing)
            for receiver in self._waiting(message)
            if message.sender not in self._excused and receiver not in self._excused
        ]

    def _waiting(self, message: MessageId) -> list[str]:
        receivers = self._history.receivers(message) or frozenset()
        return sorted(r for r in receivers if message not in self._delivered.get(r, ()))

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All violations so far, in order."""
        return tuple(self._violations)

    @property
    def sends(self) -> int:
        """The number of causal-sends; a multicast is one."""
        return sum(self._history.sends(process) for process in self._history.processes)

    @property
    def deliveries(self) -> int:
        """The number of deliveries, without duplicates and invented messages."""
        return self._deliveries

    @property
    def history(self) -> History:
        """A copy of the recorded causal-sends and deliveries."""
        return self._history.copy()

    def copy(self) -> Oracle:
        """An independent copy that shares all immutable parts."""
        twin = Oracle()
        twin._history = self._history.copy()
        twin._delivered_clocks = self._delivered_clocks.copy()
        twin._delivered = {process: seen.copy() for process, seen in self._delivered.items()}
        twin._latest = self._latest.copy()
        twin._clocks = self._clocks.copy()
        twin._missing = self._missing.copy()
        twin._inherited = self._inherited.copy()
        twin._excused = self._excused
        twin._violations = self._violations.copy()
        twin._deliveries = self._deliveries
        return twin

    def fingerprint(self) -> Hashable:
        """Equal fingerprints have equal futures: the same calls report the same kinds of violation
        on the same messages, and leave the same ones undelivered. (Chains and sentences describe the
        past, and may differ.)

        A clock only ever decides about messages that are still open, or not yet sent, and the
        latter are above every count in it. So each count is rounded down to the last open message
        of that process, which makes runs equal that differ only in closed messages.
        """
        history = self._history
        # The receivers of each message, minus those waiting for it, are those that have delivered it.
        sent = [
            (p, *(history.receivers(MessageId(p, k)) for k in range(1, history.sends(p) + 1)))
            for p in history.processes
            if history.sends(p)
        ]
        waiting = [
            (message, to, self._is_late(to, message))
            for message in sorted(self._missing)
            for to in self._waiting(message)
        ]
        opened = _numbers_by_sender(self._clocks)
        clocks = [_rounded(self._clocks[message], opened) for message in sorted(self._clocks)]
        # The count of j in its own clock only decides about messages to itself, which are in `waiting`.
        delivered = {
            (process, _rounded(clock, {i: opened[i] for i in opened if i != process}))
            for process, clock in self._delivered_clocks.items()
        }
        # A member cannot join again; what it inherited is in its delivered clock.
        joined = frozenset(self._inherited)
        return (
            tuple(sent),
            tuple(waiting),
            tuple(clocks),
            frozenset(delivered),
            joined,
            self._excused,
        )


def _numbers_by_sender(messages: Iterable[MessageId]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for sender, number in sorted(messages):
        numbers.setdefault(sender, []).append(number)
    return numbers


def _rounded(clock: VectorClock, opened: dict[str, list[int]]) -> frozenset[tuple[str, int]]:
    """The last open message of each process that the clock covers, where there is one."""
    covered = ((i, bisect_right(numbers, clock.get(i))) for i, numbers in opened.items())
    return frozenset((i, opened[i][count - 1]) for i, count in covered if count)
