"""`ks`: the optimal receiver-side protocol of Kshemkalyani and Singhal (1998; Almeida, section 3.1).

Delivers at the same, earliest possible moment as matrix clocks (`rst.py`), but a message carries
only what a receiver can still need. That is a log (`ks_log.py`) of older messages and the destinations
at which they may be missing. A pair (message X, destination q) is carried with message M exactly if

- X precedes M, and q is a destination of X;
- no delivery of X at q is in the past of M;
- no later message to q lies between X and M: that one already makes q wait for X;
- q is not also a destination of M, unless this copy of M is the one that goes to q.

The copy of M that goes to q waits there until all X that it names for q have been delivered.

On delivery the log of the message is merged into that of the process. An entry that one of them
lacks although it has a newer one of the same sender was dropped there for a reason, so it is dropped.

Works without FIFO links.

Going on without a peer that is gone for good takes a flush (`ks_flush.py`).

Invariants:

- the log never names the process itself as a destination: all that precedes it has been delivered;
- `queue.progress[s]` is the clock of the last message delivered from s; clocks are message numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.core import HoldBackCore
from beforehand.protocols.clocks.holdback import FOREVER, HeldBack, Need
from beforehand.protocols.clocks.ks_flush import Flush, KsFlush
from beforehand.protocols.clocks.ks_log import DependencyLog, Entry, identifiers, log_of
from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Effect, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import NumberedFrame, foreign


class KsMessage(NumberedFrame):
    """A message, everybody to whom it goes, and the log that this copy of it needs."""

    __slots__ = ("log", "receivers")
    receivers: Final[frozenset[str]]
    log: Final[tuple[Entry, ...]]  # sorted by sender and clock

    def __init__(
        self, number: i64, receivers: frozenset[str], log: tuple[Entry, ...], payload: bytes
    ) -> None:
        super().__init__(number, payload)
        self.receivers = receivers
        self.log = log

    def key(self) -> tuple[object, ...]:
        return (int(self.number), self.receivers, self.log, self.payload)


class Ks(HoldBackCore):
    """One process of the Kshemkalyani-Singhal protocol."""

    log: DependencyLog
    flushes: Flush  # for peers that were dropped

    def __init__(self, process: str, processes: Processes) -> None:
        super().__init__(process, processes)
        self.log = DependencyLog()
        self.flushes = Flush()

    # ---- sending ----

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        everybody = frozenset(receivers)
        for payload in payloads:
            self.sent += 1
            for receiver in receivers:
                log = self.log.without(everybody - frozenset([receiver])).listed()
                self._transmit(out, receiver, KsMessage(self.sent, everybody, log, payload))
                self.flushes.count_sent(receiver, self.sent)
            self.log = self.log.without(everybody)
            self.log.add(self.process, int(self.sent), everybody)

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if sender not in self.members.index:
            raise RemoteProtocolError(sender, "is not among the processes")
        if isinstance(frame, KsMessage):
            self._check_message(sender, frame)
        elif isinstance(frame, KsFlush):
            self._check_flush(sender, frame)
        else:
            raise foreign(sender, frame, "ks")

    def _check_message(self, sender: str, frame: KsMessage) -> None:
        self._check_destinations(sender, sender, frame.receivers)
        if self.process not in frame.receivers:
            raise RemoteProtocolError(sender, f"sends message {frame.number} to another process")
        before: Need = ("", 0)
        for who, clock, destinations in frame.log:
            if (who, clock) <= before or clock < 1:
                raise RemoteProtocolError(
                    sender, f"a log with {clock} of {who!r} in a wrong position"
                )
            before = (who, clock)
            self._check_destinations(sender, who, destinations)
            if who == self.process and clock > self.sent:
                raise RemoteProtocolError(sender, f"knows of message {clock}, not sent yet")
            if who == sender and clock >= frame.number:
                raise RemoteProtocolError(sender, f"message {frame.number} knows of {clock}")
        number = int(frame.number)
        if number <= self.queue.progress.get(sender, 0) or (sender, number) in self.queue.messages:
            raise RemoteProtocolError(sender, f"message {number} came a second time")

    def _check_flush(self, sender: str, frame: KsFlush) -> None:
        peer = frame.peer
        if peer not in self.members.index or peer == sender or peer == self.process:
            raise RemoteProtocolError(sender, f"a flush of {peer!r}, which it cannot have dropped")
        if frame.count < 0 or frame.last < frame.count:
            raise RemoteProtocolError(sender, f"{frame.count} messages up to number {frame.last}")
        if self.queue.progress.get(peer, 0) == FOREVER or sender in self.flushes.reports.get(
            peer, {}
        ):
            raise RemoteProtocolError(sender, f"a second flush of {peer}")

    def _check_destinations(self, sender: str, source: str, destinations: frozenset[str]) -> None:
        if source not in self.members.index:
            raise RemoteProtocolError(sender, f"knows of {source!r}, which isn't a process")
        for name in destinations:
            if name not in self.members.index or name == source:
                raise RemoteProtocolError(sender, f"a message of {source} to {name!r} cannot be")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, KsMessage):
            message = HeldBack(sender, int(frame.number), frame, self._needs(frame), now)
            if self.queue.admit(message):
                self._deliver([message], out)
        elif isinstance(frame, KsFlush):
            self.flushes.reports.setdefault(frame.peer, {})[sender] = frame
        if self.flushes.reports:
            self._finish_flushes(out)

    def _needs(self, frame: KsMessage) -> list[Need]:
        """What must be delivered here first."""
        needs = [(who, clock) for who, clock, to in frame.log if self.process in to]
        for who, _ in needs:
            if self.queue.progress.get(who, 0) == FOREVER:
                needs.extend(self._preceding(frame))
                break
        return needs

    def _preceding(self, frame: KsMessage) -> list[Need]:
        """The messages that wait here and precede this one."""
        newest: dict[str, int] = {}
        for who, clock, _ in frame.log:
            newest[who] = clock  # the log is sorted
        return [need for need in self.queue.messages if need[1] <= newest.get(need[0], 0)]

    def _learn(self, message: HeldBack) -> None:
        """Know what the message knew, of the message itself, and that it has arrived here."""
        frame = message.frame
        assert isinstance(frame, KsMessage)
        theirs = log_of(frame.log)
        theirs.add(message.sender, message.order, frame.receivers)
        self.log.merge(theirs.without(frozenset([self.process]) | self.dropped()))
        self.flushes.count_delivered(message.sender)

    # ---- peers that are gone ----

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if peer not in self.members.index:
            return
        # Every process that receives from this one drops the peer too, and sends it nothing.
        self.log = self.log.without(frozenset([peer]))
        self.queue.discard(peer)
        self.flushes.start(peer)
        for name in self._survivors():
            self._transmit(out, name, self.flushes.report_for(peer, name))
        self._finish_flushes(out)

    def _survivors(self) -> list[str]:
        gone = self.dropped()
        return [name for name in self.members.names if name != self.process and name not in gone]

    def _finish_flushes(self, out: list[Effect]) -> None:
        """Let go on whatever needs a dropped peer, where the flush is over."""
        gone = self.dropped()
        survivors = self._survivors()
        over = [peer for peer in self.flushes.reports if peer in gone]
        over = [peer for peer in over if not self.flushes.waits(peer, survivors, self.queue)]
        if not over:
            return
        for peer in over:
            del self.flushes.reports[peer]
            self.queue.progress[peer] = FOREVER
        waiting = self.queue.sorted()
        again: list[HeldBack] = []
        for message in waiting:
            frame = message.frame
            assert isinstance(frame, KsMessage)
            needs = message.needs + self._preceding(frame)
            again.append(HeldBack(message.sender, message.order, frame, needs, message.since))
        self.queue.clear()
        self._deliver([message for message in again if self.queue.admit(message)], out)

    # ---- inspection ----

    def _waits(self, message: HeldBack) -> list[Wait]:
        waits: list[Wait] = []
        for wait in super()._waits(message):
            if wait.peer in self.dropped():
                waits.extend(self.flushes.waits(wait.peer, self._survivors(), self.queue))
            else:
                waits.append(wait)
        return waits

    def integers(self) -> int:
        total = 1 + identifiers(self.log.listed()) + len(self.queue.progress)
        total += self.flushes.integers()
        for message in self.queue.messages.values():
            frame = message.frame
            assert isinstance(frame, KsMessage)
            total += identifiers(frame.log) + len(frame.receivers)
        return total + (0 if self.fence is None else self.fence.integers())

    def copy(self) -> Ks:
        twin = Ks(self.process, self.members)
        self._copy_base(twin)
        twin.log = self.log.copy()
        twin.flushes = self.flushes.copy()
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            self.members.names,
            self.log.listed(),
            self.queue.fingerprint(),
            self.flushes.fingerprint(),
        )
