"""What a process of hybrid buffering knows, and how to look at it, copy it and compare it.

`HybridState` holds the fields; `hybrid_base.py` says what happens to them.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.protocols.effects import Held, Wait
from beforehand.protocols.hybrid.records import Copy, MissingPermit, Peer, Run
from beforehand.protocols.support.structures import SlidingArray, SlidingMap


class HybridState(Core):
    """The state of one process."""

    peers: dict[str, Peer]
    runs: SlidingArray[Run]  # from the oldest that is not acknowledged by all its receivers
    first_unsent: i64  # position: no run below it has a copy to release
    # How far permits reach. If the oldest run waits for one receiver only: the first position with
    # something open to somebody else (for CSPS: or outside that run). Otherwise the oldest run's.
    foreign_run: i64
    missing: SlidingMap[MissingPermit]
    depended: i64  # `missing.next` at the last causal-send: younger permits have no dependants
    coalesce: bool  # acks and permits wait for `flush`
    whole_runs: bool  # deliver what a frame brings in one effect
    unflushed: list[Peer]

    def __init__(self, process: str, coalesce: bool = False, runs: bool = False) -> None:
        super().__init__(process)
        self.peers = {}
        self.runs = SlidingArray()
        self.first_unsent = 0
        self.foreign_run = 0
        self.missing = self._new_missing()
        self.depended = 0
        self.coalesce = coalesce
        self.whole_runs = runs
        self.unflushed = []

    def _new_missing(self) -> SlidingMap[MissingPermit]:
        return SlidingMap()

    def _blocks(self, permit: MissingPermit, peer: Peer) -> bool:
        """Does this missing permit, if depended on, keep a copy to `peer` from going?"""
        raise NotImplementedError

    def held(self) -> list[Held]:
        found: list[Held] = []
        for run in self.runs.elements():
            if run.unsent:
                found.extend(self._held_run(run))
        for name in sorted(self.peers):
            found.extend(self._held_early(self.peers[name]))
        return found

    def _held_early(self, peer: Peer) -> list[Held]:
        """Frames may overlap, where a run was cut in several ways: each message counts once."""
        found: list[Held] = []
        listed = 0
        for prev, early in sorted(peer.early.items()):
            waits = (Wait("message", peer.name, prev),)
            first = int(early.frame.first)
            stop = first + len(early.frame.payloads)
            for number in range(max(first, listed + 1), stop):
                found.append(Held(peer.name, number, (self.process,), int(early.since), waits))
            listed = max(listed, stop - 1)
        return found

    def _held_run(self, run: Run) -> list[Held]:
        waiting = [copy.peer for copy in run.copies if not copy.released]
        receivers = tuple(peer.name for peer in waiting)
        waits = tuple(
            Wait("permit", permit.peer.name, int(permit.message_id))
            for permit in self.missing.elements()
            if permit.position < run.need and any(self._blocks(permit, peer) for peer in waiting)
        )
        first = int(run.first)
        return [
            Held(self.process, first + offset, receivers, since, waits)
            for offset, since in enumerate(run.since)
        ]

    def integers(self) -> int:
        total = 2 + (0 if self.fence is None else self.fence.integers())
        for peer in self.peers.values():
            total += 6 + 3 * len(peer.early)  # the name and five ids
        for run in self.runs.elements():
            total += 3 + 2 * len(run.copies)
        return total + 2 * len(self.missing)

    def unacknowledged(self) -> int:
        total = 0
        for run in self.runs.elements():
            for copy in run.copies:
                if copy.open and copy.released:
                    total += len(run.payloads)
        return total

    def permits_missing(self) -> int:
        return len(self.missing)

    def _state(self) -> tuple[object, ...]:
        permits = self.missing.elements()
        return (
            tuple(peer.fingerprint() for _, peer in sorted(self.peers.items())),
            tuple(self._run_state(run, permits) for run in self.runs.elements()),
            tuple((permit.peer.name, int(permit.message_id)) for permit in permits),
            bool(permits) and permits[-1].position == self.missing.next - 1,
            self.depended == self.missing.next,
            self.coalesce,
            self.whole_runs,
            tuple(peer.name for peer in self.unflushed),
        )

    def _run_state(self, run: Run, permits: list[MissingPermit]) -> tuple[object, ...]:
        """Positions count only through what they depend on, so that equal futures look equal."""
        depends = 0
        if run.unsent:
            depends = sum(1 for permit in permits if permit.position < run.need)
        return (
            int(run.first),
            int(run.last),
            run.continues,
            depends,
            tuple(run.payloads),
            tuple(
                (copy.peer.name, int(copy.prev), copy.released, copy.open, copy.flagged)
                for copy in run.copies
            ),
        )

    def _copy_into(self, twin: HybridState) -> None:
        """Give a fresh core this one's state."""
        twin.sent = self.sent
        twin.fence = None if self.fence is None else self.fence.copy()
        twin.coalesce = self.coalesce
        twin.whole_runs = self.whole_runs
        twin.first_unsent = self.first_unsent
        twin.foreign_run = self.foreign_run
        twin.depended = self.depended
        peers = {peer: peer.copy() for peer in self.peers.values()}
        twin.peers = {peer.name: peer for peer in peers.values()}
        twin.unflushed = [peers[peer] for peer in self.unflushed]
        twin.runs = SlidingArray(self.runs.first)
        for run in self.runs.elements():
            twin.runs.add(_copy_run(run, peers))
        renewed = {
            permit: MissingPermit(peers[permit.peer], permit.message_id)
            for permit in self.missing.elements()
        }
        twin.missing = self._new_missing()
        self.missing.copy_into(twin.missing, renewed)
        for permit, new in renewed.items():
            new.position = permit.position
            new.peer.add_missing(new)


def _copy_run(run: Run, peers: dict[Peer, Peer]) -> Run:
    twin = Run(run.first, run.need, run.payloads.copy())
    twin.last = run.last
    twin.continues = run.continues
    twin.since = run.since.copy()
    twin.unsent = run.unsent
    twin.open = run.open
    for copy in run.copies:
        new = Copy(twin, peers[copy.peer], copy.prev)
        new.released = copy.released
        new.open = copy.open
        new.flagged = copy.flagged
        twin.copies.append(new)
        if copy.open:
            new.peer.add_open(new)
        if copy is run.sole:
            twin.sole = new
    return twin
