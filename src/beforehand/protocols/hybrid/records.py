"""The records that the hybrid cores keep: runs, copies, peers and missing permits.

The unit of bookkeeping is a *run*: causal-sends that follow each other, to the same receivers, with
nothing delivered in between that needs a permit. Its messages have consecutive ids, wait for the
same permits and are flagged alike, so one record stands for all of them; a single message is a run
of one. A run has one *copy* for each receiver. (The size of a record is limited; a longer run is
several records, each of which `continues` the one before.)
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.effects import Held, Wait
from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.protocols.support.structures import SlidingArray
from beforehand.protocols.support.windows import MAX_RESENT

MAX_RUN: Final = 1024  # messages: bounds what one partial acknowledgement has to move
MAX_GROUP_RUN_BYTES: Final = 1200  # a multicast run fits a datagram, so it is acked as a whole


class PeerRecord:
    """The state of the channel with one other process, in both directions."""

    name: str
    open: SlidingArray[RunCopy]  # what it has not acknowledged, in id order, released or not
    missing: SlidingArray[MissingPermit]  # what we wait for, in id order
    early: dict[int, EarlyFrame]  # received before their predecessor, by the predecessor's id

    def __init__(self, name: str) -> None:
        # from us to it
        self.last_sent: i64 = 0  # id of our last causal-send to it
        self.acked: i64 = 0  # highest id that it acknowledged
        self.permitted: i64 = 0  # highest permit that we gave it
        # from it to us
        self.last_delivered: i64 = 0
        self.best_permit: i64 = 0  # highest permit that it gave us, even before its message arrived
        # to be sent at the next flush
        self.ack_due: bool = False
        self.permit_due: bool = False
        self.name = name
        self.open = NO_COPIES
        self.missing = NO_PERMITS
        self.early = NO_EARLY

    def add_open(self, copy: RunCopy) -> None:
        """One more copy that it has not acknowledged."""
        if self.open is NO_COPIES:
            self.open = SlidingArray()
        self.open.add(copy)

    def remove_open(self) -> None:
        """It has acknowledged the oldest of these."""
        self.open.remove()
        if self.open.first == self.open.next:
            self.open = NO_COPIES

    def add_missing(self, permit: MissingPermit) -> None:
        """One more permit that we wait for."""
        if self.missing is NO_PERMITS:
            self.missing = SlidingArray()
        self.missing.add(permit)

    def remove_missing(self) -> MissingPermit:
        """The oldest of these has come; returns it."""
        permit = self.missing.remove()
        if self.missing.first == self.missing.next:
            self.missing = NO_PERMITS
        return permit

    def keep(self, frame: HybridMessage, now: i64) -> None:
        """A frame came before its predecessor."""
        if not self.early:
            self.early = {}
        self.early[int(frame.prev)] = EarlyFrame(frame, now)

    def take_follower(self, start: i64, first: i64) -> HybridMessage | None:
        """The early frame that continues a delivery of `first` and up, made after `start`.

        Retransmitted frames may cut a run elsewhere, so early frames that began inside what has just
        been delivered are used up, or their tails come next.
        """
        best: HybridMessage | None = None
        reach = self.last_delivered
        prev = start
        while prev <= self.last_delivered:
            early = self.early.pop(int(prev), None)
            if early is not None:
                frame = early.frame
                last = frame.first + len(frame.payloads) - 1
                # A correct sender leaves no gap here; a frame that would is discarded.
                if last > reach and (prev == self.last_delivered or frame.first == prev + 1):
                    best = frame
                    reach = last
            prev = first if prev < first else prev + 1
        return best

    def to_resend(self) -> list[RunCopy]:
        """The oldest copies that may be lost."""
        copies: list[RunCopy] = []
        position = self.open.first
        while position < min(self.open.next, self.open.first + MAX_RESENT):
            copy = self.open[position]
            if not copy.released:
                break
            copies.append(copy)
            position += 1
        return copies

    def held_early(self, receiver: str) -> list[Held]:
        """The early messages. Frames overlap where a run was cut in several ways; count each once."""
        held: list[Held] = []
        listed = 0
        for prev, early in sorted(self.early.items()):
            waits = (Wait("message", self.name, prev),)
            first = int(early.frame.first)
            stop = first + len(early.frame.payloads)
            for number in range(max(first, listed + 1), stop):
                held.append(Held(self.name, number, (receiver,), int(early.since), waits))
            listed = max(listed, stop - 1)
        return held

    def copy(self) -> PeerRecord:
        """A twin with the same numbers and early frames; its queues are empty."""
        twin = PeerRecord(self.name)
        twin.last_sent = self.last_sent
        twin.acked = self.acked
        twin.permitted = self.permitted
        twin.last_delivered = self.last_delivered
        twin.best_permit = self.best_permit
        twin.early = self.early.copy()
        twin.ack_due = self.ack_due
        twin.permit_due = self.permit_due
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        return (
            self.name,
            int(self.last_sent),
            int(self.acked),
            int(self.permitted),
            int(self.last_delivered),
            int(self.best_permit),
            tuple(sorted((prev, early.frame.key()) for prev, early in self.early.items())),
            self.ack_due,
            self.permit_due,
        )


class EarlyFrame:
    """A frame that waits for its predecessor at the receiver."""

    frame: HybridMessage
    since: i64

    def __init__(self, frame: HybridMessage, since: i64) -> None:
        self.frame = frame
        self.since = since


class MessageRun:
    """Messages `first` to `last`, sent or waiting, until all receivers have acknowledged them."""

    first: i64
    last: i64
    need: i64  # depends on the permits below this position: `permits.next` at causal-send
    payloads: list[bytes]
    since: list[int]  # when each was causal-sent, as long as the run waits; only `held` uses it
    copies: list[RunCopy]

    def __init__(self, first: i64, need: i64, payloads: list[bytes]) -> None:
        self.continues: bool = False  # belongs to the same run as the record before it
        self.unsent: i64 = 0  # copies not yet released
        self.open: i64 = 0  # copies not yet acknowledged
        self.sole: RunCopy | None = None  # the open copy, when there is exactly one
        self.first = first
        self.last = first + len(payloads) - 1
        self.need = need
        self.payloads = payloads
        self.since = NO_TIMES
        self.copies = []

    def add_copy(self, peer: PeerRecord) -> None:
        """One more receiver; its predecessor id is that of our last message to it."""
        copy = RunCopy(self, peer, peer.last_sent)
        self.copies.append(copy)
        self.unsent += 1
        self.open += 1
        self.sole = copy if self.open == 1 else None
        peer.last_sent = self.last
        peer.add_open(copy)

    def extend(self, payloads: list[bytes], now: i64) -> None:
        """More messages of the same run."""
        self.payloads.extend(payloads)
        self.last += len(payloads)
        if self.unsent:
            self.wait(len(payloads), now)
        for copy in self.copies:
            copy.peer.last_sent = self.last

    def wait(self, count: int, now: i64) -> None:
        """The last `count` messages wait, from now on."""
        if not self.since:
            self.since = []
        self.since.extend([int(now)] * count)

    def has_room(self, payloads: list[bytes]) -> bool:
        """May the next messages of the run join this record?"""
        if len(self.copies) == 1:
            return self.open > 0 and len(self.payloads) + len(payloads) <= MAX_RUN
        # Released group records stay as they are: a receiver may acknowledge a part of one, and the
        # permit that this earns the others would be late.
        waiting = self.unsent == len(self.copies)
        return waiting and _size(self.payloads) + _size(payloads) <= MAX_GROUP_RUN_BYTES

    def only_waits_for(self, peer: PeerRecord) -> bool:
        """Has every receiver but `peer` acknowledged all of it (and maybe `peer` too)?"""
        return self.open == 0 or (self.sole is not None and self.sole.peer is peer)

    def unreleased(self) -> list[PeerRecord]:
        """The receivers whose copy has not been released."""
        return [copy.peer for copy in self.copies if not copy.released]

    def unacknowledged(self) -> int:
        """How many messages its receivers have not acknowledged, counted for each of them."""
        released = [copy for copy in self.copies if copy.open and copy.released]
        return len(released) * len(self.payloads)

    def held(self, sender: str, permits: list[MissingPermit]) -> list[Held]:
        """Its messages, which wait for these permits."""
        waits = tuple(
            [Wait("permit", permit.peer.name, int(permit.message_id)) for permit in permits]
        )
        receivers = tuple([peer.name for peer in self.unreleased()])
        first = int(self.first)
        return [
            Held(sender, first + offset, receivers, since, waits)
            for offset, since in enumerate(self.since)
        ]

    def copy(self, peers: dict[PeerRecord, PeerRecord]) -> MessageRun:
        """An independent run in the same state, with copies to the twins of its receivers."""
        twin = MessageRun(self.first, self.need, self.payloads.copy())
        twin.last = self.last
        twin.continues = self.continues
        twin.since = self.since.copy()
        twin.unsent = self.unsent
        twin.open = self.open
        for copy in self.copies:
            new = RunCopy(twin, peers[copy.peer], copy.prev)
            new.released = copy.released
            new.open = copy.open
            new.flagged = copy.flagged
            twin.copies.append(new)
            if copy.open:
                new.peer.add_open(new)
            if copy is self.sole:
                twin.sole = new
        return twin

    def fingerprint(self, permits: list[MissingPermit]) -> tuple[object, ...]:
        """Positions count only through what they depend on, so that equal futures look equal."""
        depends = 0
        if self.unsent:
            depends = sum(1 for permit in permits if permit.position < self.need)
        return (
            int(self.first),
            int(self.last),
            self.continues,
            depends,
            tuple(self.payloads),
            tuple(
                (copy.peer.name, int(copy.prev), copy.released, copy.open, copy.flagged)
                for copy in self.copies
            ),
        )


class RunCopy:
    """A run on its way to one receiver."""

    run: MessageRun
    peer: PeerRecord
    prev: i64  # id of the last message to the same receiver before this run, 0 if none

    def __init__(self, run: MessageRun, peer: PeerRecord, prev: i64) -> None:
        self.released: bool = False
        self.open: bool = True  # not yet acknowledged to the last message
        self.flagged: bool = False  # released with the flag, and no permit given yet
        self.run = run
        self.peer = peer
        self.prev = prev

    def close(self) -> None:
        """Acknowledged to the last message, or written off."""
        run = self.run
        self.open = False
        run.open -= 1
        run.sole = None
        if not self.released:
            self.released = True
            run.unsent -= 1
        if run.open == 1:
            for other in run.copies:  # once for each run: its open copies only ever get fewer
                if other.open:
                    run.sole = other
        elif run.open == 0:
            run.payloads.clear()

    def acked_within(self, upto: i64) -> None:
        """The receiver has the messages up to `upto`; to a sole receiver, they leave the run."""
        run = self.run
        if len(run.copies) == 1:
            del run.payloads[: upto + 1 - run.first]
            run.first = upto + 1
            self.prev = upto

    def frame(self, flagged: bool) -> HybridMessage:
        """What the receiver has not acknowledged yet, as a frame."""
        run = self.run
        acked = self.peer.acked
        if acked < run.first:
            return HybridMessage(run.first, self.prev, flagged, tuple(run.payloads))
        rest = tuple(run.payloads[acked + 1 - run.first :])
        return HybridMessage(acked + 1, acked, flagged, rest)


class MissingPermit:
    """A delivered, flagged message whose sender has not given the permit yet."""

    peer: PeerRecord
    message_id: i64

    def __init__(self, peer: PeerRecord, message_id: i64) -> None:
        self.position: i64 = -1  # in the window of missing permits
        self.peer = peer
        self.message_id = message_id

    def copy(self, peers: dict[PeerRecord, PeerRecord]) -> MissingPermit:
        """The same for the twin of its peer."""
        twin = MissingPermit(peers[self.peer], self.message_id)
        twin.position = self.position
        twin.peer.add_missing(twin)
        return twin


def record_end(payloads: list[bytes], start: int, receivers: int) -> int:
    """Where the record that begins with `payloads[start]` ends."""
    if receivers == 1:
        return min(start + MAX_RUN, len(payloads))
    size = 0
    for stop in range(start, len(payloads)):
        size += len(payloads[stop]) + 2
        if size > MAX_GROUP_RUN_BYTES and stop > start:
            return stop
    return len(payloads)


def _size(payloads: list[bytes]) -> int:
    """About how many bytes of a datagram they take."""
    return sum([len(payload) + 2 for payload in payloads])


# Shared by all that have none, which is the common case; it saves memory in large systems:
# replaced when there is one, never changed.
NO_COPIES: Final[SlidingArray[RunCopy]] = SlidingArray()
NO_PERMITS: Final[SlidingArray[MissingPermit]] = SlidingArray()
NO_EARLY: Final[dict[int, EarlyFrame]] = {}
NO_TIMES: Final[list[int]] = []
