"""Happens-before between application messages, from what each process did in which order.

The definition is that of paper 000, section 4.1. Only what the application sees counts: the
causal-send c and the delivery d of a message. (When the network sends and receives it is the
protocol's own affair, so neither is an event here.) m1 happens before m2 is the transitive closure
of:

    (1) a process delivers m1, and after that causal-sends m2;
    (2) a process causal-sends m1, and after that causal-sends m2.

Both say the same thing: a message is *known* at its sender from its causal-send on, and at whoever
delivers it from that delivery on; it happens before all that is causal-sent there afterwards. The
search below follows exactly that. A process once reached at some position has all its later events
reached, so it is enough to remember, per process, the earliest position reached: each event is
looked at once, and a search costs no more than the history is long.

A process may start as a copy of another, its contact, that has let it in. From then on it knows what
its contact had delivered by that moment, as if it had delivered it too.

A history records; it does not judge. Deliveries may be recorded before the causal-send that they
belong to, because logs are often read process by process. Who wants a verdict asks the `Oracle`.
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


Event = CausalSend | Delivery


class _Link(NamedTuple):
    """The end of a chain of messages that grows during the search."""

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
        self._events: dict[str, list[Event]] = {}
        self._receivers: dict[MessageId, frozenset[str]] = {}
        self._sends: dict[str, int] = {}  # process -> how many causal-sends it made
        # Where a message is known, and after which position in the events of that process.
        self._known: dict[MessageId, tuple[tuple[str, int], ...]] = {}
        # contact -> (how many events it had, the newcomer, how many events that one had)
        self._joined: dict[str, tuple[tuple[int, str, int], ...]] = {}

    def send(
        self, process: str, receivers: str | Iterable[str], number: int | None = None
    ) -> MessageId:
        """Record that `process` causal-sends its next message, to one receiver or to several.

        `number`, from callers who know it, must be the next one of that process.
        """
        check_process(process)
        following = self._sends.get(process, 0) + 1
        if number is not None and number != following:
            raise LocalProtocolError(
                f"{process} cannot causal-send {process}#{number} now: its next message is "
                f"{process}#{following}; record every causal-send once, in its process's order"
            )
        # A lone str is one receiver: taken as an iterable it would be its characters.
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
        """Record that `newcomer` knows from here on what `contact` has delivered so far."""
        check_process(newcomer)
        before = self._joined.get(check_process(contact), ())
        known = len(self._events.get(contact, ()))
        self._joined[contact] = (*before, (known, newcomer, len(self._events.get(newcomer, ()))))

    def add_receiver(self, message: MessageId, process: str) -> None:
        """Let `message`, which was causal-sent before, also be for `process`."""
        receivers = self._receivers.get(check_message(message))
        if receivers is None:
            raise LocalProtocolError(f"{message} was not causal-sent, so nobody receives it")
        self._receivers[message] = to = receivers | {check_process(process)}
        events = self._events[message.sender]
        events[events.index(CausalSend(message, receivers))] = CausalSend(message, to)

    def _append(self, process: str, event: Event) -> None:
        events = self._events.setdefault(process, [])
        known = self._known.get(event.message, ())
        self._known[event.message] = (*known, (process, len(events)))
        events.append(event)

    @property
    def processes(self) -> tuple[str, ...]:
        """The processes that did something, in the order of their names."""
        return tuple(sorted(self._events))

    def events(self, process: str) -> tuple[Event, ...]:
        """What `process` did, in its order."""
        return tuple(self._events.get(process, ()))

    def sends(self, process: str) -> int:
        """How many messages `process` has causal-sent, which is also the number of its last."""
        return self._sends.get(process, 0)

    def receivers(self, message: MessageId) -> frozenset[str] | None:
        """Whom `message` was causal-sent to; None if it was not."""
        return self._receivers.get(message)

    def happens_before(self, earlier: MessageId, later: MessageId) -> bool:
        """Whether `earlier` happens before `later`.

        A message happens before itself only in a record that no real run can leave: a cycle.
        """
        return self.shortest_chain(earlier, (later,)) is not None

    def shortest_chain(
        self, first: MessageId, targets: Container[MessageId]
    ) -> tuple[MessageId, ...] | None:
        """The shortest chain from `first` to any of `targets`, in which each happens before the
        next by (1) or (2) alone; None if `first` happens before none of them.
        """
        reached: dict[str, int] = {}  # process -> all its events from this position on were seen
        queue = deque([_Link(first, None)])
        while queue:  # breadth first: links leave the queue in order of the length of their chain
            link = queue.popleft()
            for process, position in self._places(link.message):
                events = self._events.get(process, [])
                for event in events[position + 1 : reached.get(process, len(events))]:
                    if isinstance(event, CausalSend):
                        following = _Link(event.message, link)
                        if event.message in targets:
                            return following.chain()
                        queue.append(following)
                reached[process] = min(position + 1, reached.get(process, len(events)))
        return None

    def _places(self, message: MessageId) -> list[tuple[str, int]]:
        """Where a message is known, after which position, by those who learnt it at a join too."""
        places = list(self._known.get(message, ()))
        if self._joined:
            heard = [
                each for each in places if isinstance(self._events[each[0]][each[1]], Delivery)
            ]
            for process, position in heard:  # which grows: newcomers let others in
                for known, newcomer, events_before in self._joined.get(process, ()):
                    if position < known:
                        heard.append((newcomer, events_before - 1))
                        places.append((newcomer, events_before - 1))
        return places

    def copy(self) -> History:
        """An independent copy; the events themselves, being immutable, are shared."""
        twin = History()
        twin._events = {process: events.copy() for process, events in self._events.items()}
        twin._receivers = self._receivers.copy()
        twin._sends = self._sends.copy()
        twin._known = self._known.copy()
        twin._joined = self._joined.copy()
        return twin
