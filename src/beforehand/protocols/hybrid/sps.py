"""`hybrid-sps`: hybrid buffering, optimal for SPS (Almeida, Algorithm 2, corrected), with multicast.

SPS (definition 4.1) lets a message to j go although permits from j itself are missing, and lets j
act on a message although older messages to j itself are open. So the order of release is no longer
the order of causal-send (ids are), and whether something may go depends on *whose* permit or ack is
missing. Four positions keep every question amortised O(1):

- `first_unsent`: no run below it has an unsent copy;
- `second_permit`: the first missing permit that is not from the sender of the oldest one. A run that
  depends on it depends on two senders and cannot go anywhere;
- `second_run`: the first run that depends on the permit at `second_permit`;
- `foreign_run`: if the oldest run waits for one receiver q only, the first run with an open copy to
  another process than q: everything before it is due to q. If the oldest run waits for several, the
  oldest run itself.

Only an event at one of these positions moves it, and it never moves back, so no range is walked
twice. An unsent copy counts as open. Multicast, which the paper omits, fits the same form: the
open receivers of a run are a set that shrinks.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.effects import Effect
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.records import MessageRun, MissingPermit, PeerRecord
from beforehand.protocols.support.structures import SlidingMap


class HybridSps(HybridCore):
    """One process of the SPS-optimal variant."""

    def __init__(self, process: str, coalesce: bool = False, runs: bool = False) -> None:
        super().__init__(process, coalesce, runs)
        self.second_permit: i64 = 0
        self.second_run: i64 = 0

    def _reaches(self, run: MessageRun) -> bool:
        return True

    def _release_due(self, out: list[Effect]) -> None:
        runs = self.runs
        if self.first_unsent < runs.first:
            self.first_unsent = runs.first
        while self.first_unsent < runs.next:
            run = runs[self.first_unsent]
            if run.unsent and run.need > self.missing.first:
                break
            for copy in run.copies:
                if not copy.released:
                    self._release(copy, out)
            self.first_unsent += 1
        self._release_to_oldest_sender(out)

    def _release_to_oldest_sender(self, out: list[Effect]) -> None:
        """Runs that depend on permits of one sender only may go to that sender."""
        permits = self.missing
        oldest: PeerRecord | None = None
        if len(permits):
            oldest = _sender(permits, permits.first)
        if self.second_permit < permits.first:
            self.second_permit = permits.first
        while self.second_permit < permits.next:
            sender = _sender(permits, self.second_permit)
            if sender is not None and sender is not oldest:
                break
            self.second_permit += 1
        if self.second_run < self.runs.first:
            self.second_run = self.runs.first
        while self.second_run < self.runs.next:
            run = self.runs[self.second_run]
            if run.need > self.second_permit:
                return
            for copy in run.copies:
                if not copy.released and copy.peer is oldest:
                    self._release(copy, out)
            self.second_run += 1

    def _blocking(self, run: MessageRun) -> list[MissingPermit]:
        """Not the permits of its receiver, if there is only one left."""
        peers = run.unreleased()
        permits = super()._blocking(run)
        return [permit for permit in permits if any(permit.peer is not peer for peer in peers)]

    def copy(self) -> HybridSps:
        twin = HybridSps(self.process, self.coalesce, self.whole_runs)
        self._copy_into(twin)
        twin.second_permit = self.second_permit
        twin.second_run = self.second_run
        return twin


def _sender(permits: SlidingMap[MissingPermit], position: i64) -> PeerRecord | None:
    permit = permits[position]
    return None if permit is None else permit.peer
