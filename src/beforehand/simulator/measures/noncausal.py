"""Non-causal latency: how much later a message was delivered than causal order required.

An omniscient receiver j would deliver a message m as soon as

- it is there: its causal-send plus the time that the network took for it, from its first release to
  its first arrival at j (losses and retransmissions count as the network's time); and
- every message to j that happened before m has been delivered there, at its actual time.

What a protocol takes beyond the later of the two is its own doing: it held m at the sender although
nothing could have gone wrong, or it buffered m at the receiver longer than needed. Protocols that
deliver as early as possible (`rst`, `ks`) have none.

So for each delivery one must find the last delivery at j of a message that happened before m. Only
deliveries later than the time at which m could be there matter, thus of messages that were open (not
yet delivered everywhere) when m was sent. Hence a process needs to know, of each other process, only
the newest message that happened before now, and this only while that process has an older open one: a
vector clock without its irrelevant entries. It is shared between a process and the messages that it
sends, and replaced when a delivery adds to it. Its size follows what is in flight and known, not the
number of processes. `MAX_KNOWN` bounds it: a run in which a process learns of more senders with open
messages than that is too congested to follow, and has no figure.

A delivery at j must be remembered only while something is open to j that was sent before it. To
notice the end of that without a queue of open copies, the time at j is divided into eras: a new one
begins when all copies from before the present one are closed, and then deliveries from before it are
forgotten.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.support.structures import SlidingArray
from beforehand.simulator.world.processes import (
    NO_PAST,
    DeliveryRecord,
    MessageCopy,
    OpenMessage,
    Process,
)

MAX_KNOWN: Final = 2048  # entries of one clock: at 8 bytes, for each message in flight
UNKNOWN: Final = -1  # what `delivered` returns once the run has been too congested


class NonCausalLatency:
    """Follows causal-sends and deliveries, and returns how late each delivery was."""

    def __init__(self, processes: list[Process]) -> None:
        self.gave_up: bool = False
        self._round: i64 = 0  # invalidates the marks of earlier rounds
        self._processes: Final = processes

    def sent(self, message: OpenMessage) -> None:
        """A message is sent: it happens after what its sender knows, and its own earlier ones."""
        message.past = message.sender.known

    def addressed(self, copy: MessageCopy) -> None:
        """A copy has been addressed to a receiver."""
        copy.era = copy.receiver.era
        copy.receiver.open_now += 1

    def closed(self, copy: MessageCopy) -> None:
        """A copy has been delivered or given up."""
        if copy.era == copy.receiver.era:
            copy.receiver.open_now -= 1
        else:
            copy.receiver.open_before -= 1

    def delivered(self, copy: MessageCopy, past: list[OpenMessage], now: i64) -> i64:
        """A copy has been delivered and closed; how much later than it could have been.

        `past` is that of its message, which may have been forgotten since.
        """
        if self.gave_up:
            return UNKNOWN
        message, process = copy.message(), copy.receiver
        there_at = now
        if copy.arrived_at >= 0:
            there_at = message.sent_at + copy.arrived_at - copy.released_at
        possible = self._possible(process, message, past, there_at)
        self._record(process, message, now)
        self._learn(process, message, past)
        return now - possible

    def _possible(
        self, process: Process, message: OpenMessage, past: list[OpenMessage], there_at: i64
    ) -> i64:
        """The later of `there_at` and the last delivery at the process of what happened before."""
        deliveries = process.delivered
        if deliveries is None:
            return there_at
        position = deliveries.next - 1
        if deliveries[position].time <= there_at:
            return there_at
        self._mark(message, past)
        while position >= deliveries.first:
            delivery = deliveries[position]
            if delivery.time <= there_at:
                break
            earlier = delivery.message
            if earlier.sent_at <= message.sent_at and self._is_known(earlier):
                return delivery.time
            position -= 1
        return there_at

    def _mark(self, message: OpenMessage, past: list[OpenMessage]) -> None:
        """Note at each process up to which of its messages all happened before this message."""
        self._round += 1
        for known in past:
            known.sender.mark = self._round
            known.sender.marked = known.number
        message.sender.mark = self._round
        message.sender.marked = message.number - 1

    def _is_known(self, message: OpenMessage) -> bool:
        return message.sender.mark == self._round and message.number <= message.sender.marked

    def _learn(self, process: Process, message: OpenMessage, past: list[OpenMessage]) -> None:
        """The process now knows what the message knew, and the message itself."""
        if not past and not process.known and _is_old(message):
            return
        self._round += 1
        known: list[OpenMessage] = []
        self._collect(known, message, process)
        for other in past:
            self._collect(known, other, process)
        for other in process.known:
            self._collect(known, other, process)
        process.known = known if known else NO_PAST
        if len(known) > MAX_KNOWN:
            self._give_up()

    def _give_up(self) -> None:
        self.gave_up = True
        for process in self._processes:
            process.known = NO_PAST
            process.delivered = None

    def _collect(self, known: list[OpenMessage], message: OpenMessage, process: Process) -> None:
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

    def _record(self, process: Process, message: OpenMessage, now: i64) -> None:
        """Remember the delivery as long as a message to here is open that was sent before it."""
        if process.open_now + process.open_before == 0:
            process.delivered = None
            return
        deliveries = process.delivered
        if deliveries is None:
            deliveries = SlidingArray()
            process.delivered = deliveries
        deliveries.add(DeliveryRecord(now, message))
        if process.open_before == 0:
            while len(deliveries) > 1 and deliveries.peek().time <= process.era_began_at:
                deliveries.remove()
            process.open_before = process.open_now
            process.open_now = 0
            process.era += 1
            process.era_began_at = now


def _is_old(message: OpenMessage) -> bool:
    """Whether neither the message nor an older one of its sender is open."""
    return message.sender.open.first > message.number
