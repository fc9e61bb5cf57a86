"""Open messages: causal-sent, and neither delivered everywhere nor given up where a process is gone.

Every change of a copy's state goes through here, so that meters and non-causal latency see all of them.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.measures.noncausal import NonCausalLatency
from beforehand.simulator.world.processes import MessageCopy, OpenMessage, Process
from beforehand.simulator.world.run_setup import RunSetup


class OpenMessages:
    """What has been sent and not yet delivered, over all processes."""

    def __init__(self, setup: RunSetup) -> None:
        self.copies: i64 = 0  # neither delivered nor given up, of senders that have not stopped
        self.news_at: i64 = 0  # when a message was last sent, left or arrived for the first time
        self._queue: Final = setup.queue
        self._population: Final = setup.population
        self._meters: Final = setup.meters
        self._observer: Final = setup.observer
        self._noncausal: Final = NonCausalLatency(setup.population.processes)

    def noncausal_known(self) -> bool:
        """Whether non-causal latency could be followed to the end."""
        return not self._noncausal.gave_up

    def undelivered(self) -> int:
        """Copies that are still open, of senders that have not stopped."""
        return sum(
            [
                not copy.closed
                for process in self._population.processes
                if not process.stopped
                for message in process.open_messages()
                for copy in message.copies()
            ]
        )

    # ---- the life of a copy ----

    def open(self, message: OpenMessage, now: i64) -> None:
        """A causal-send."""
        message.sender.open.add(message)
        self._noncausal.sent(message)
        self._meters.sent += 1
        self._meters.copies += message.waiting
        self.copies += message.waiting
        if message.multicast:
            for copy in message.copies():
                self._open_copy(copy, message.sender, now)
        else:
            self._open_copy(message, message.sender, now)

    def _open_copy(self, copy: MessageCopy, sender: Process, now: i64) -> None:
        self._noncausal.addressed(copy)
        if copy.receiver is not sender:
            self._meters.held.change(1, now)
        if copy.receiver.stopped:
            self.give_up(copy)

    def released(self, copy: MessageCopy, sender: Process, now: i64) -> None:
        """The first release of a copy."""
        copy.released_at = now
        if not copy.closed:
            meters = self._meters
            meters.held.change(-1, now)
            meters.held_time.add(now - copy.message().sent_at)
            sender.in_transit += 1
            if sender.in_transit > meters.most_in_transit:
                meters.most_in_transit = sender.in_transit

    def arrived(self, copy: MessageCopy, sender: Process, now: i64) -> None:
        """The first arrival of a copy."""
        copy.arrived_at = now
        if not copy.closed:
            self.news_at = max(self.news_at, now)
            sender.in_transit -= 1
            self._meters.buffered.change(1, now)

    def deliver(self, process: Process, sender: Process, number: i64) -> OpenMessage | None:
        """A core delivers; returns the message, unless it was delivered before."""
        now = self._queue.now
        copy = sender.copy_to(process, number)
        if self._observer is not None:
            self._observer.delivered(process, sender, number, copy)
        meters = self._meters
        if copy is None or copy.closed:
            meters.duplicates += 1
            return None
        message = copy.message()
        past = message.past
        self._close(copy, message)
        if copy.arrived_at >= 0:
            meters.buffered.change(-1, now)
        meters.delivered += 1
        meters.latency.add(now - message.sent_at)
        late = self._noncausal.delivered(copy, past, now)
        if late >= 0:
            meters.noncausal.add(late)
        return message

    def give_up(self, copy: MessageCopy) -> None:
        """Its sender or receiver is gone for good: it cannot arrive, or has nobody to arrive at."""
        now = self._queue.now
        message = copy.message()
        self._meters.ended_at = max(self._meters.ended_at, now)
        if self._observer is not None:
            self._observer.given_up(copy)
        if copy.released_at < 0:
            if copy.receiver is not message.sender:
                self._meters.held.change(-1, now)
        elif copy.arrived_at < 0:
            message.sender.in_transit -= 1
        else:
            self._meters.buffered.change(-1, now)
        self._close(copy, message)

    def _close(self, copy: MessageCopy, message: OpenMessage) -> None:
        if not message.sender.stopped:
            self.copies -= 1
        message.close(copy)
        self._noncausal.closed(copy)

    # ---- processes that come and go ----

    def admit(self, newcomer: Process, contact: Process) -> None:
        """A newcomer takes part: it will deliver what its contact has yet to deliver."""
        now = self._queue.now
        self._population.join(newcomer)
        if self._observer is not None:
            self._observer.joined(newcomer, contact)
        for process in self._population.processes:
            for message in process.open_messages():
                copy = message.copy_to(contact)
                if copy is not None and not copy.closed:
                    self._address(message, newcomer, copy.released_at, now)

    def _address(self, message: OpenMessage, newcomer: Process, released_at: i64, now: i64) -> None:
        """One more receiver of a message that is under way."""
        copy = message.add(newcomer)
        copy.released_at = released_at
        self._meters.copies += 1
        if not message.sender.stopped:
            self.copies += 1
        self._noncausal.addressed(copy)
        if released_at < 0:
            self._meters.held.change(1, now)
        else:
            message.sender.in_transit += 1

    def orphan(self, sender: Process) -> None:
        """A sender has stopped: what it had open may be lost."""
        for message in sender.open_messages():
            self.copies -= message.waiting

    def give_up_unreleased(self, gone: Process) -> None:
        """Give up the copies to a stopped process, and those that it never released."""
        for process in self._population.processes:
            for message in process.open_messages():
                if process is gone:
                    for copy in message.copies():
                        if copy.released_at < 0 and not copy.closed:
                            self.give_up(copy)
                sole = message.copy_to(gone)
                if sole is not None and not sole.closed:
                    self.give_up(sole)

    def give_up_from(self, gone: Process, keep_arrived: bool) -> None:
        """Give up the copies that a stopped process had sent; those that arrived may be kept."""
        for message in gone.open_messages():
            for copy in message.copies():
                if not copy.closed and not (keep_arrived and copy.arrived_at >= 0):
                    self.give_up(copy)
