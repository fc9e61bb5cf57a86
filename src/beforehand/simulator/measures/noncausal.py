"""Non-causal latency: how much later a message was delivered than causal order would have asked for.

Somebody who knows everything, in the place of the receiver j, would deliver a message m as soon as

- it is there: its causal-send plus the time that the network took for it, from its first release to
  its first arrival at j (losses and repetitions count as the network's time); and
- every message to j that happened before m has been delivered there, when it really was.

What a protocol takes beyond the later of the two is its own doing: it held m at the sender although
nothing could have gone wrong, or it kept it at the receiver longer than needed. Protocols that
deliver as early as possible (`rst`, `ks`) have none.

So for each delivery one must find the last delivery at j of a message that happened before m. Only
deliveries after m could be there are of interest, thus of messages that were open (not yet delivered
everywhere) when m was sent. Hence a process needs to know, of each other process, only the newest
message that happened before now, and this only while that process has an older open one: a vector
clock without its uninteresting entries. It is shared between a process and the messages that it sends,
and replaced when a delivery brings news. Its size follows what is in flight and known, not the number
of processes. `MOST_KNOWN` bounds it: a run in which a process comes to know of more senders with
open messages than that is too congested to be followed, and has no figure.

A delivery at j need be remembered only while something is open to j that was sent before it. To tell
when that is over without a queue of what is open, the time at j is cut into eras: a new one begins when
all copies from before the present one are closed, and then deliveries from before it are forgotten.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.support.structures import SlidingArray
from beforehand.simulator.world.processes import NO_PAST, Copy, Delivery, Message, Process

MOST_KNOWN: Final = 2048  # entries of one clock: at 8 bytes, for each message in flight
UNKNOWN: Final = -1  # what `delivered` returns when the run was too congested


class Bystander:
    """Watches causal-sends and deliveries, and tells how late each delivery was."""

    gave_up: bool
    _processes: Final[list[Process]]
    _round: i64  # marks of earlier rounds mean nothing any more

    def __init__(self, processes: list[Process]) -> None:
        self.gave_up = False
        self._processes = processes
        self._round = 0

    def sent(self, message: Message) -> None:
        """A message is sent: it happens after what its sender knows, and its own earlier ones."""
        message.past = message.sender.known

    def addressed(self, copy: Copy) -> None:
        """It has a receiver."""
        copy.era = copy.receiver.era
        copy.receiver.open_now += 1

    def closed(self, copy: Copy) -> None:
        """A copy is delivered, or given up."""
        if copy.era == copy.receiver.era:
            copy.receiver.open_now -= 1
        else:
            copy.receiver.open_before -= 1

    def delivered(self, copy: Copy, past: list[Message], now: i64) -> i64:
        """A copy is delivered, and closed; how much later than it could have been.

        `past` is that of its message, which may have been forgotten by now.
        """
        if self.gave_up:
            return UNKNOWN
        message, process = copy.message(), copy.receiver
        there = now
        if copy.arrived_at >= 0:
            there = message.sent_at + copy.arrived_at - copy.released_at
        possible = self._possible(process, message, past, there)
        self._record(process, message, now)
        self._learn(process, message, past)
        return now - possible

    def _possible(self, process: Process, message: Message, past: list[Message], there: i64) -> i64:
        """The later of `there` and the last delivery at the process of what happened before."""
        deliveries = process.delivered
        if deliveries is None:
            return there
        position = deliveries.next - 1
        if deliveries[position].time <= there:
            return there
        self._mark(message, past)
        while position >= deliveries.first:
            delivery = deliveries[position]
            if delivery.time <= there:
                break
            earlier = delivery.message
            if earlier.sent_at <= message.sent_at and self._is_known(earlier):
                return delivery.time
            position -= 1
        return there

    def _mark(self, message: Message, past: list[Message]) -> None:
        """Note at each process up to which of its messages all happened before this message."""
        self._round += 1
        for known in past:
            known.sender.mark = self._round
            known.sender.marked = known.number
        message.sender.mark = self._round
        message.sender.marked = message.number - 1

    def _is_known(self, message: Message) -> bool:
        return message.sender.mark == self._round and message.number <= message.sender.marked

    def _learn(self, process: Process, message: Message, past: list[Message]) -> None:
        """The process now knows what the message knew, and the message itself."""
        if not past and not process.known and _is_old(message):
            return
        self._round += 1
        known: list[Message] = []
        self._collect(known, message, process)
        for each in past:
            self._collect(known, each, process)
        for each in process.known:
            self._collect(known, each, process)
        process.known = known if known else NO_PAST
        if len(known) > MOST_KNOWN:
            self._give_up()

    def _give_up(self) -> None:
        self.gave_up = True
        for process in self._processes:
            process.known = NO_PAST
            process.delivered = None

    def _collect(self, known: list[Message], message: Message, process: Process) -> None:
        """Keep a message if it is the newest of its sender, which has it or an older one open."""
        sender = message.sender
        if sender is process or _is_old(message):
            return
        if sender.mark != self._round:
            sender.mark = self._round
            sender.marked = len(known)
            known.append(message)
        elif known[sender.marked].number < message.number:
            known[sender.marked] = message

    def _record(self, process: Process, message: Message, now: i64) -> None:
        """Remember the delivery as long as a message to here is open that was sent before it."""
        if process.open_now + process.open_before == 0:
            process.delivered = None
            return
        deliveries = process.delivered
        if deliveries is None:
            deliveries = SlidingArray()
            process.delivered = deliveries
        deliveries.add(Delivery(now, message))
        if process.open_before == 0:
            while len(deliveries) > 1 and deliveries.peek().time <= process.era_began_at:
                deliveries.remove()
            process.open_before = process.open_now
            process.open_now = 0
            process.era += 1
            process.era_began_at = now


def _is_old(message: Message) -> bool:
    """Whether neither the message nor an older one of its sender is open."""
    return message.sender.open.first > message.number
