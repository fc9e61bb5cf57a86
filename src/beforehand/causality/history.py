"""Happens-before between application messages, from the order of events at each process.

The definition is that of Almeida's hybrid-buffering paper, section 4.1. Only the events that the
application observes count: the causal-send and the delivery of a message. (When the network sends and
receives it is internal to the protocol.) "m1 happens before m2" is the transitive closure of:

    (1) a process delivers m1, and after that causal-sends m2;
    (2) a process causal-sends m1, and after that causal-sends m2.

Both have the same form: a message is *known* at its sender from its causal-send on, and at a receiver
from its delivery on; it happens before everything that is causal-sent there afterwards. The search
below follows this definition. Once a process is reached at some position, all its later events are
reached too, so the earliest position per process is all there is to remember: each event is visited
once, and a search takes time linear in the history.

A process may start as a copy of another, its contact. From then on it knows what the contact had
delivered by that time, as if it had delivered it too.

A history records and does not judge; the `Oracle` does. Deliveries may be recorded before the
causal-send that they belong to, because logs are often read process by process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable
from typing import NamedTuple

from beforehand.causality.ids import MessageId, check_message, check_process
from beforehand.errors import LocalProtocolError


class CausalSend(NamedTuple):
    """A process hands a message for these receivers to the messaging layer."""

    message: MessageId
    receivers: frozenset[str]


class Delivery(NamedTuple):
    """The messaging layer hands a message to the application of a process."""

    message: MessageId


HistoryEvent = CausalSend | Delivery


class _Link(NamedTuple):
    """The last message of a chain, linked to the chain before it."""

    message: MessageId
    before: _Link | None

    def chain(self) -> tuple[MessageId, ...]:
        messages = []
        link: _Link | None = self
        while link is not None:
            messages.append(link.message)
            link = link.before
        return tuple(reversed(messages))


class History:
    """The causal-sends and deliveries of each process, in the order of that process."""

    def __init__(self) -> None:
        self._events: dict[str, list[HistoryEvent]] = {}
        self._receivers: dict[MessageId, frozenset[str]] = {}
        self._sends: dict[str, int] = {}  # process -> the number of its causal-sends
        # message -> where it is known: (process, position of the event there)
        self._known: dict[MessageId, tuple[tuple[str, int], ...]] = {}
        # contact -> (number of its events, newcomer, number of the newcomer's events) at each join
        self._joined: dict[str, tuple[tuple[int, str, int], ...]] = {}

    def send(
        self, process: str, receivers: str | Iterable[str], number: int | None = None
    ) -> MessageId:
        """Record that `process` causal-sends its next message, to one receiver or to several.

        `number`, if given, must be the next one of that process.
        """
        check_process(process)
        following = self._sends.get(process, 0) + 1
        if number is not None and number != following:
            raise LocalProtocolError(
                f"{process} cannot causal-send {process}#{number} now: its next message is "
                f"{process}#{following}; record every causal-send once, in its process's order"
            )
        # A str is one receiver, not an iterable of its characters.
        named = [receivers] if isinstance(receivers, str) else receivers
        to = frozenset(check_process(receiver) for receiver in named)
        message = MessageId(process, following)
        self._sends[process] = following
        self._receivers[message] = to
        self._append(process, CausalSend(message, to))
        return message

    def deliver(self, process: str, message: MessageId) -> None:
        """Record that `process` delivers `message`."""
        self._append(check_process(process), Delivery(check_message(message)))

    def join(self, newcomer: str, contact: str) -> None:
        """Record that `newcomer` from now on knows what `contact` has delivered so far."""
        check_process(newcomer)
        before = self._joined.get(check_process(contact), ())
        known = len(self._events.get(contact, ()))
        self._joined[contact] = (*before, (known, newcomer, len(self._events.get(newcomer, ()))))

    def add_receiver(self, message: MessageId, process: str) -> None:
        """Add a receiver to a message that was causal-sent before."""
        receivers = self._receivers.get(check_message(message))
        if receivers is None:
            raise LocalProtocolError(
                f"{message} was not causal-sent, so it cannot get a receiver; record its send first"
            )
        self._receivers[message] = to = receivers | {check_process(process)}
        events = self._events[message.sender]
        events[events.index(CausalSend(message, receivers))] = CausalSend(message, to)

    def _append(self, process: str, event: HistoryEvent) -> None:
        events = self._events.setdefault(process, [])
        known = self._known.get(event.message, ())
        self._known[event.message] = (*known, (process, len(events)))
        events.append(event)

    @property
    def processes(self) -> tuple[str, ...]:
        """The processes with at least one event, sorted by name."""
        return tuple(sorted(self._events))

    def events(self, process: str) -> tuple[HistoryEvent, ...]:
        """The events of `process`, in order."""
        return tuple(self._events.get(process, ()))

    def sends(self, process: str) -> int:
        """The number of messages that `process` has causal-sent, also the number of the last one."""
        return self._sends.get(process, 0)

    def receivers(self, message: MessageId) -> frozenset[str] | None:
        """The receivers of `message`; None if it was not causal-sent."""
        return self._receivers.get(message)

    def happens_before(self, earlier: MessageId, later: MessageId) -> bool:
        """Whether `earlier` happens before `later`.

        A message happens before itself only in a cycle, which no real run can record.
        """
        return self.shortest_chain(earlier, (later,)) is not None

    def shortest_chain(
        self, first: MessageId, targets: Container[MessageId]
    ) -> tuple[MessageId, ...] | None:
        """The shortest chain from `first` to any of `targets`, in which each message happens before
        the next by a single step, (1) or (2); None if `first` happens before none of them.
        """
        reached: dict[str, int] = {}  # process -> all its events from this position on were visited
        queue = deque([_Link(first, None)])
        while queue:  # breadth-first: chains leave the queue in order of length
            link = queue.popleft()
            for process, position in self._known_at(link.message):
                events = self._events.get(process, [])
                for event in events[position + 1 : reached.get(process, len(events))]:
                    if isinstance(event, CausalSend):
                        following = _Link(event.message, link)
                        if event.message in targets:
                            return following.chain()
                        queue.append(following)
                reached[process] = min(position + 1, reached.get(process, len(events)))
        return None

    def _known_at(self, message: MessageId) -> list[tuple[str, int]]:
        """Where a message is known, as (process, position), also to newcomers since their join."""
        positions = list(self._known.get(message, ()))
        if self._joined:
            delivered = [at for at in positions if isinstance(self._events[at[0]][at[1]], Delivery)]
            for process, position in delivered:  # grows: newcomers are contacts of others
                for known, newcomer, events_before in self._joined.get(process, ()):
                    if position < known:
                        delivered.append((newcomer, events_before - 1))
                        positions.append((newcomer, events_before - 1))
        return positions

    def copy(self) -> History:
        """An independent copy; the events themselves, being immutable, are shared."""
        twin = History()
        twin._events = {process: events.copy() for process, events in self._events.items()}
        twin._receivers = self._receivers.copy()
        twin._sends = self._sends.copy()
        twin._known = self._known.copy()
        twin._joined = self._joined.copy()
        return twin
