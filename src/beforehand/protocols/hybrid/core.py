"""Hybrid buffering (Almeida's "Hybrid Buffering" paper): the common part of its two variants.

The idea. A message waits at its *sender* until every process whose messages the sender has
delivered permits it to act on them, and at its *receiver* only as long as an earlier message of the
same sender is missing. Permission to send (SPS) plus FIFO is causal order (proposition 4.2), at the
price of two integers and a flag per message, whatever the number of processes.

- A process numbers its messages. Each carries the id of its predecessor to the same receiver: FIFO.
- The receiver acknowledges what it delivered. Acks are cumulative: deliveries are FIFO per pair.
- A copy goes out *flagged* while something older, or another copy of the same message, is open
  (released or not, but unacknowledged) towards any process but its receiver. When that is over, the
  receiver gets a permit. Permits are cumulative too: what is due to a receiver is always a prefix.
- A receiver that delivers a flagged message remembers a missing permit. What it causal-sends after
  that depends on it, and is released when the permits it depends on have come.

The variants, `csps.py` and `sps.py`, decide which copies may be released and how far permits reach.
Cost is amortised O(1) per message; nothing is sized by the number of processes.
Lost frames: `tick` sends open messages again and repeats the ack to peers whose permits are missing;
an ack that brings nothing new asks for the latest permit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, DeliverRun, Effect, Held
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.checks import check_ack, check_message, check_permit
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.records import (
    MessageRun,
    MissingPermit,
    PeerRecord,
    RunCopy,
    record_end,
)
from beforehand.protocols.support.numbering import foreign
from beforehand.protocols.support.structures import SlidingArray, SlidingMap


class HybridCore(Core):
    """One process of hybrid buffering; the variants decide what may go and how far permits reach."""

    peers: dict[str, PeerRecord]
    runs: SlidingArray[MessageRun]  # from the oldest that some receiver has not acknowledged
    missing: SlidingMap[MissingPermit]
    coalesce: Final[bool]  # acks and permits wait for `flush`
    whole_runs: Final[bool]  # deliver what a frame brings in one effect
    unflushed: list[PeerRecord]  # peers that are owed an ack or a permit

    def __init__(self, process: str, coalesce: bool = False, runs: bool = False) -> None:
        super().__init__(process)
        self.first_unsent: i64 = 0  # position: no run below it has a copy to release
        # How far permits reach. If the oldest run waits for one receiver only: the first position with
        # something open to another one (for CSPS: or outside that run). Otherwise the oldest run's.
        self.foreign_run: i64 = 0
        # `missing.next` at the last causal-send: younger permits have no dependants.
        self.depended: i64 = 0
        self.peers = {}
        self.runs = SlidingArray()
        self.missing = SlidingMap()
        self.coalesce = coalesce
        self.whole_runs = runs
        self.unflushed = []

    # ---- what the variants decide ----

    def _reaches(self, run: MessageRun) -> bool:
        """May permits reach beyond the oldest run into this one, if no ack of others is missing?"""
        raise NotImplementedError

    def _release_due(self, out: list[Effect]) -> None:
        """Release every copy that may go now."""
        raise NotImplementedError

    # ---- causal-send ----

    def _peer(self, name: str) -> PeerRecord:
        peer = self.peers.get(name)
        if peer is None:
            peer = PeerRecord(check_process(name))
            self.peers[name] = peer
        return peer

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        self._send_to([self._peer(to)], [payload], now, out)

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        peers = [self._peer(name) for name in receivers]
        start = 0
        while start < len(payloads):
            stop = record_end(payloads, start, len(peers))
            whole = stop - start == len(payloads)
            self._send_to(peers, payloads if whole else payloads[start:stop], now, out)
            start = stop

    def _send_to(
        self, peers: list[PeerRecord], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        """Causal-send what makes one record, or joins the last one, to peers other than oneself."""
        last = self._continued(peers)
        first = self.sent + 1
        self.sent += len(payloads)
        self.depended = self.missing.next
        if last is not None and last.has_room(payloads):
            last.extend(payloads, now)
            if not last.unsent:
                copy = last.copies[0]
                frame = HybridMessage(first, first - 1, copy.flagged, tuple(payloads))
                self._transmit(out, copy.peer.name, frame)
            return
        run = MessageRun(first, self.missing.next, payloads)
        run.continues = last is not None
        for peer in peers:
            run.add_copy(peer)
        self.runs.add(run)
        self._reach_further()
        self._release_due(out)
        if run.unsent:
            run.wait(len(payloads), now)

    def _continued(self, peers: list[PeerRecord]) -> MessageRun | None:
        """The last record, if the next message to `peers` belongs to the same run.

        Then nothing that needs a permit was delivered since, so the message may go if the run could.
        """
        if self.runs.first == self.runs.next or self.depended != self.missing.next:
            return None
        run = self.runs.last()
        if run.last != self.sent or len(run.copies) != len(peers):
            return None
        for number, copy in enumerate(run.copies):
            if copy.peer is not peers[number]:
                return None
        return run

    def _release(self, copy: RunCopy, out: list[Effect]) -> None:
        """Network-send: flagged if another process may still lack something older."""
        run = copy.run
        copy.released = True
        run.unsent -= 1
        if run.unsent == 0 and run.since:
            run.since = []
        copy.flagged = self._needs_permit(run)
        self._transmit(out, copy.peer.name, copy.frame(copy.flagged))

    # ---- receive ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, HybridMessage):
            check_message(sender, frame, self.peers.get(sender))
        elif isinstance(frame, HybridAck):
            check_ack(sender, frame.upto, self.peers.get(sender))
        elif isinstance(frame, HybridPermit):
            check_permit(sender, frame.upto)
        else:
            raise foreign(sender, frame, "hybrid buffering")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        peer = self._peer(sender)
        if isinstance(frame, HybridMessage):
            self._receive_message(peer, frame, now, out)
        elif isinstance(frame, HybridAck):
            self._receive_ack(peer, frame.upto)
        elif isinstance(frame, HybridPermit):
            self._receive_permit(peer, frame.upto, out)
        if not self.coalesce:
            self._flush(out)

    def _receive_message(
        self, peer: PeerRecord, frame: HybridMessage, now: i64, out: list[Effect]
    ) -> None:
        if frame.prev > peer.last_delivered:
            known = peer.early.get(int(frame.prev))
            if known is None or len(known.frame.payloads) < len(frame.payloads):
                peer.keep(frame, now)
            return
        self._ack(peer)  # also what was delivered before: its ack may have been lost
        following: HybridMessage | None = frame
        while following is not None:
            frame = following
            following = None
            if frame.first + len(frame.payloads) > peer.last_delivered + 1:
                start = peer.last_delivered
                self._deliver(peer, frame, out)
                if peer.early:
                    following = peer.take_follower(start, max(frame.first, start + 1))

    def _deliver(self, peer: PeerRecord, frame: HybridMessage, out: list[Effect]) -> None:
        """Deliver what is new in a frame whose predecessor has been delivered."""
        last = frame.first + len(frame.payloads) - 1
        number = max(frame.first, peer.last_delivered + 1)
        if self.whole_runs:
            known = number - frame.first
            fresh = frame.payloads[known:] if known else frame.payloads
            out.append(DeliverRun(peer.name, number, fresh))
        else:
            while number <= last:
                out.append(Deliver(peer.name, number, frame.payloads[number - frame.first]))
                number += 1
        peer.last_delivered = last
        if frame.flagged and last > peer.best_permit:
            self._await_permit(peer, last)

    def _await_permit(self, peer: PeerRecord, message_id: i64) -> None:
        if len(peer.missing):
            newest = peer.missing.last()
            if newest.position == self.missing.next - 1 and self.depended < self.missing.next:
                newest.message_id = message_id  # no message depends on the earlier one alone
                return
        permit = MissingPermit(peer, message_id)
        permit.position = self.missing.add(permit)
        peer.add_missing(permit)

    def _receive_ack(self, peer: PeerRecord, upto: i64) -> None:
        if upto <= peer.acked:
            if upto == peer.acked and peer.permitted > 0:
                self._permit(peer)  # nothing new: it asks for the permit again
            return
        peer.acked = upto
        closed = False
        while len(peer.open):
            copy = peer.open.peek()
            if copy.run.last > upto:
                if copy.run.first <= upto:
                    copy.acked_within(upto)
                break
            peer.remove_open()
            copy.close()
            closed = True
        if closed:
            self._shrink()

    def _shrink(self) -> None:
        """Give up the closed runs at the low end and grant what became due."""
        while len(self.runs) and self.runs.peek().open == 0:
            run = self.runs.remove()
            for copy in run.copies:
                if copy.flagged:
                    self._grant(copy)
            run.copies.clear()  # copies point back at their run: do not leave that to the collector
        self._reach_further()

    def _needs_permit(self, run: MessageRun) -> bool:
        """Would a copy of this run, not yet acknowledged, be released with the flag now?

        Before `foreign_run`, open copies go to one receiver only, and nothing older is open to
        anybody else. From there on, something is: either to another than the receiver of this copy,
        or this copy itself is foreign to what the oldest run waits for.
        """
        if self.foreign_run == self.runs.next:
            return False
        return run.first >= self.runs[self.foreign_run].first

    def _reach_further(self) -> None:
        """Runs were closed or added: move `foreign_run` up and grant what it passes."""
        runs = self.runs
        if self.foreign_run < runs.first:
            self.foreign_run = runs.first
        if runs.first == runs.next:
            return
        sole = runs.peek().sole
        if sole is None:
            return
        while self.foreign_run < runs.next:
            run = runs[self.foreign_run]
            if not run.only_waits_for(sole.peer):
                return
            if self.foreign_run > runs.first and not self._reaches(run):
                return
            if run.sole is not None and run.sole.flagged:
                self._grant(run.sole)
            self.foreign_run += 1

    def _grant(self, copy: RunCopy) -> None:
        copy.flagged = False
        copy.peer.permitted = copy.run.last
        self._permit(copy.peer)

    def _receive_permit(self, peer: PeerRecord, upto: i64, out: list[Effect]) -> None:
        if upto <= peer.best_permit:
            return
        peer.best_permit = upto
        freed = False
        while len(peer.missing) and peer.missing.peek().message_id <= upto:
            self.missing.remove(peer.remove_missing())
            freed = True
        if freed:
            self._release_due(out)

    # ---- acks and permits leave together, one of each per peer ----

    def _ack(self, peer: PeerRecord) -> None:
        if not (peer.ack_due or peer.permit_due):
            self.unflushed.append(peer)
        peer.ack_due = True

    def _permit(self, peer: PeerRecord) -> None:
        if not (peer.ack_due or peer.permit_due):
            self.unflushed.append(peer)
        peer.permit_due = True

    def _flush(self, out: list[Effect]) -> None:
        """One ack and one permit for each peer that is owed some."""
        for peer in self.unflushed:
            if peer.ack_due:
                self._transmit(out, peer.name, HybridAck(peer.last_delivered))
            if peer.permit_due:
                self._transmit(out, peer.name, HybridPermit(peer.permitted))
            peer.ack_due = peer.permit_due = False
        if self.unflushed:
            self.unflushed = []

    def _tick(self, now: i64, out: list[Effect]) -> None:
        self._flush(out)
        for name in sorted(self.peers):  # sorted: equal states must do the same
            peer = self.peers[name]
            for copy in peer.to_resend():
                self._transmit(out, peer.name, copy.frame(self._needs_permit(copy.run)))
            if len(peer.missing):
                self._transmit(out, peer.name, HybridAck(peer.last_delivered))

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        """As if the peer had acknowledged and permitted everything, now and forever."""
        gone = self.peers.pop(peer, None)
        if gone is None:
            return
        self.unflushed = [owed for owed in self.unflushed if owed is not gone]
        for copy in gone.open.elements():
            copy.close()
        for run in self.runs.elements():
            run.copies = [copy for copy in run.copies if copy.peer is not gone]
        for permit in gone.missing.elements():
            self.missing.remove(permit)
        self._shrink()
        self._release_due(out)
        if not self.coalesce:
            self._flush(out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        held: list[Held] = []
        for run in self.runs.elements():
            if run.unsent:
                held.extend(run.held(self.process, self._blocking(run)))
        for name in sorted(self.peers):
            held.extend(self.peers[name].held_early(self.process))
        return held

    def _blocking(self, run: MessageRun) -> list[MissingPermit]:
        """The missing permits that keep copies of a run from going."""
        return [permit for permit in self.missing.elements() if permit.position < run.need]

    def integers(self) -> int:
        fence = 0 if self.fence is None else self.fence.integers()
        peers = sum([6 + 3 * len(peer.early) for peer in self.peers.values()])  # name and five ids
        runs = sum([3 + 2 * len(run.copies) for run in self.runs.elements()])
        return 2 + fence + peers + runs + 2 * len(self.missing)

    def unacknowledged(self) -> int:
        return sum([run.unacknowledged() for run in self.runs.elements()])

    def permits_missing(self) -> int:
        return len(self.missing)

    def _state(self) -> tuple[object, ...]:
        permits = self.missing.elements()
        return (
            tuple(peer.fingerprint() for _, peer in sorted(self.peers.items())),
            tuple(run.fingerprint(permits) for run in self.runs.elements()),
            tuple((permit.peer.name, int(permit.message_id)) for permit in permits),
            bool(permits) and permits[-1].position == self.missing.next - 1,
            self.depended == self.missing.next,
            self.coalesce,
            self.whole_runs,
            tuple(peer.name for peer in self.unflushed),
        )

    def _copy_into(self, twin: HybridCore) -> None:
        """Give a new core this one's state."""
        self._copy_base(twin)
        twin.first_unsent = self.first_unsent
        twin.foreign_run = self.foreign_run
        twin.depended = self.depended
        peers = {peer: peer.copy() for peer in self.peers.values()}
        twin.peers = {peer.name: peer for peer in peers.values()}
        twin.unflushed = [peers[peer] for peer in self.unflushed]
        twin.runs = SlidingArray(self.runs.first)
        for run in self.runs.elements():
            twin.runs.add(run.copy(peers))
        permits = {permit: permit.copy(peers) for permit in self.missing.elements()}
        self.missing.copy_into(twin.missing, permits)
