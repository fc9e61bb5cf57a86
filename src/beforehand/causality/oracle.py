"""The oracle: told of every causal-send and every delivery, it says which deliveries were wrong.

It watches a run from outside, so it may use what no protocol can afford: the full vector clock of
each message. It shares no code with any protocol. All of its judgement is one comparison.

Let V(m) be the vector clock of message m over causal-sends, m itself included, and let T(j), what
process j was *told*, be the merge of V(m') over all m' delivered at j. Then T(j)[i] >= k says that
something delivered at j is i#k or comes after i#k. So:

    delivering i#k at j breaks causal order   exactly when   T(j)[i] >= k just before,

unless it is a second delivery, which is another matter. T(j) counts what j has *delivered*, not
what it has sent: a process that sends to itself and then elsewhere has broken nothing by it. What
j knows when it causal-sends is T(j) and its own sends, so V(j#k) is T(j) with k in the place of j.

A newcomer starts as a copy of the contact that lets it in: what the contact was told by then, it was
told too, and it delivers what the contact has not delivered yet.

A wrong order is reported, and then counted like any other delivery: the application has seen the
message. (T(j) does not grow by it: what told j of i#k told it of all before i#k.) Duplicates and
invented messages are reported and change nothing, so what the oracle holds is always a history
that could have been.
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
        self._told: dict[str, VectorClock] = {}  # T of the module's docstring
        self._delivered: dict[str, set[MessageId]] = {}
        # (receiver, sender) -> the message with the highest number delivered from one to the other
        self._latest: dict[tuple[str, str], MessageId] = {}
        # Open messages: not yet delivered to all their receivers. The clocks are the bulk of the
        # memory, and that of a message is needed only until its last delivery.
        self._clocks: dict[MessageId, VectorClock] = {}
        self._missing: dict[MessageId, int] = {}  # how many receivers have yet to deliver it
        # newcomer -> what its contact, or the contact of that, had delivered when it was let in
        self._inherited: dict[str, frozenset[MessageId]] = {}
        self._excused: frozenset[str] = frozenset()
        self._violations: list[Violation] = []
        self._deliveries = 0

    def send(
        self, process: str, receivers: str | Iterable[str], number: int | None = None
    ) -> MessageId:
        """`process` causal-sends its next message, to one receiver or to several.

        `number`, from callers who know it, must be the next one of that process.
        """
        message = self._history.send(process, receivers, number)
        to = self._history.receivers(message)
        if to:
            own = VectorClock({process: message.number})
            self._clocks[message] = self._told.get(process, _NOTHING).merge(own)
            self._missing[message] = len(to)
        return message

    def deliver(self, process: str, message: MessageId) -> tuple[Violation, ...]:
        """`process` delivers `message`; returns what that breaks, nothing if all is well."""
        check_process(process)
        to = self._history.receivers(check_message(message))
        if to is None or process not in to:
            return self._report(invented(self._history, process, message))
        delivered = self._delivered.setdefault(process, set())
        if message in delivered:
            return self._report(duplicate(process, message))
        found = self._report(*self._out_of_order(process, message))
        self._told[process] = self._told.get(process, _NOTHING).merge(self._clocks[message])
        self._record(process, message, delivered)
        return found

    def _is_late(self, process: str, message: MessageId) -> bool:
        """Whether `process`, delivering `message` now, would break causal order."""
        return self._told.get(process, _NOTHING).get(message.sender) >= message.number

    def _is_behind(self, process: str, message: MessageId) -> bool:
        """Whether `process`, delivering `message` now, would break the order of its sender."""
        return self._latest.get((process, message.sender), message) > message

    def _out_of_order(self, process: str, message: MessageId) -> list[Violation]:
        """What a first delivery of `message` breaks now, each with its witness."""
        if not self._is_late(process, message):
            return []
        seen = self._delivered[process] | self._inherited.get(process, frozenset())
        chain = self._history.shortest_chain(message, seen)
        assert chain is not None, "T(j)[i] >= k, so some delivered message must come after i#k"
        found = [causal(self._history, process, chain)]
        if self._is_behind(process, message):  # which implies late: FIFO is a part of causal order
            found.append(fifo(process, message, self._latest[process, message.sender]))
        return found

    def _record(self, process: str, message: MessageId, delivered: set[MessageId]) -> None:
        self._history.deliver(process, message)
        self._deliveries += 1
        delivered.add(message)
        pair = (process, message.sender)
        self._latest[pair] = max(message, self._latest.get(pair, message))
        self._missing[message] -= 1
        if not self._missing[message]:
            del self._missing[message], self._clocks[message]

    def _report(self, *found: Violation) -> tuple[Violation, ...]:
        self._violations.extend(found)
        return found

    def join(self, newcomer: str, contact: str) -> None:
        """`contact` lets `newcomer` in, which starts as a copy of it.

        From here on the newcomer has to deliver exactly what the contact has not delivered yet; and
        what it sends comes after everything that the contact has delivered.
        """
        if check_process(newcomer) == check_process(contact):
            raise LocalProtocolError(f"{newcomer} cannot let itself in; name another process")
        if newcomer in self._inherited or self._delivered.get(newcomer):
            raise LocalProtocolError(
                f"{newcomer} takes part already; a process that comes back has a new name"
            )
        delivered = self._delivered.get(contact, set())
        for message in self._missing:
            to = self._history.receivers(message) or frozenset()
            if contact in to and newcomer not in to and message not in delivered:
                self._history.add_receiver(message, newcomer)
                self._missing[message] += 1
        told = self._told.get(newcomer, _NOTHING).merge(self._told.get(contact, _NOTHING))
        self._told[newcomer] = told
        latest = {sender: each for (to, sender), each in self._latest.items() if to == contact}
        self._latest.update({(newcomer, sender): each for sender, each in latest.items()})
        self._inherited[newcomer] = self._inherited.get(contact, frozenset()) | delivered
        self._history.join(newcomer, contact)

    def excuse(self, process: str) -> None:
        """`process` is gone for ever: what is sent to it or by it need not arrive any more.

        What does arrive is judged as before: a crash is no licence to deliver in the wrong order.
        """
        self._excused |= {check_process(process)}

    def undelivered(self) -> list[tuple[MessageId, str]]:
        """The messages, each with a receiver, that should have been delivered and were not."""
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
        """All violations so far, in the order in which they happened."""
        return tuple(self._violations)

    @property
    def sends(self) -> int:
        """How many messages were causal-sent; a multicast is one."""
        return sum(self._history.sends(process) for process in self._history.processes)

    @property
    def deliveries(self) -> int:
        """How many deliveries there were, without duplicates and invented messages."""
        return self._deliveries

    @property
    def history(self) -> History:
        """The causal-sends and deliveries that count, as a copy: the oracle relies on its own."""
        return self._history.copy()

    def copy(self) -> Oracle:
        """An independent copy that shares all immutable parts."""
        twin = Oracle()
        twin._history = self._history.copy()
        twin._told = self._told.copy()
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
        """Equal fingerprints have equal futures: the same calls find the same kinds of violation
        on the same messages, and leave the same undelivered. (Chains and sentences tell of the
        past, and may differ.)

        A clock only ever decides about messages that are still open, or not yet sent, and the
        latter are above every count in it. So each count is rounded down to the last open message
        of that process: runs that differ only in old news become equal.
        """
        history = self._history
        # Whom each message went to, less who is waiting, is also what was delivered where.
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
        # What j was told of its own sends is only for its messages to itself, and those are above.
        told = {
            (process, _rounded(clock, {i: opened[i] for i in opened if i != process}))
            for process, clock in self._told.items()
        }
        # Who was let in cannot be let in again; what it inherited is in what it was told.
        joined = frozenset(self._inherited)
        return tuple(sent), tuple(waiting), tuple(clocks), frozenset(told), joined, self._excused


def _numbers_by_sender(messages: Iterable[MessageId]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for sender, number in sorted(messages):
        numbers.setdefault(sender, []).append(number)
    return numbers


def _rounded(clock: VectorClock, opened: dict[str, list[int]]) -> frozenset[tuple[str, int]]:
    """The last open message of each process that the clock covers, where there is one."""
    covered = ((i, bisect_right(numbers, clock.get(i))) for i, numbers in opened.items())
    return frozenset((i, opened[i][place - 1]) for i, place in covered if place)
