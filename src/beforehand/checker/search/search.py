"""The search itself: one loop, whatever the order.

Take a block of worlds, let the workers find their successors (`packed/successors.py`), run missing
local steps on the real cores, and keep the successors that were not visited before. Workers are
threads, since the compiled loops release the interpreter lock. Each owns a share of the fingerprints,
so no worker waits for another while successors are kept either, and the result does not depend on
their speed.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.actions import Action, ActionKind, Run
from beforehand.checker.packed import buffers
from beforehand.checker.packed.buffers import Expansion, Scratch, Workspace
from beforehand.checker.packed.fingerprints import fingerprint_of
from beforehand.checker.packed.local_steps import LocalSteps
from beforehand.checker.packed.successors import expand
from beforehand.checker.packed.tables import Tables, constants_of
from beforehand.checker.search.frontier import BLOCK, Frontier, RowBlock, widened
from beforehand.checker.search.gc_control import collect_and_freeze, collecting_by_hand
from beforehand.checker.search.predecessors import Predecessors
from beforehand.checker.search.reductions.symmetry import Renaming
from beforehand.checker.search.visited import Visited
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import SearchProgress
from beforehand.errors import CheckError

FRAME_COLUMNS = 16  # of a row at first, and how many are added when they do not suffice
BRANCHES = 6  # successors per row that fit into the buffers; with more, a worker stops early
ROWS_PER_WORKER = 512  # with fewer, a second worker does not pay off
PROGRESS_INTERVAL = 0.25  # seconds

_KINDS: dict[int, ActionKind] = {
    buffers.ARRIVE: "arrive",
    buffers.DUPLICATE: "duplicate",
    buffers.LOSE: "lose",
}


@dataclass(frozen=True)
class Limits:
    """When to stop before everything is explored."""

    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None


def _never_fits(status: Ints) -> bool:
    """Whether the events that are enabled at one world exceed the buffers even when they are empty."""
    if status[buffers.OVERFLOW] == buffers.EXPANSION_FULL:
        return not status[buffers.ROWS_DONE] and not status[buffers.MISSING]
    return bool(status[buffers.OVERFLOW] == buffers.TOO_MANY_BRANCHES)


class StateSearch:
    """One exploration, and its results so far."""

    def __init__(
        self,
        setting: Setting,
        group: Sequence[Renaming],
        *,
        reduce: bool,
        depth_first: bool,
        workers: int,
    ) -> None:
        self.local = LocalSteps(setting, group)
        self.reduce = reduce
        self.workers = workers
        self.visited = Visited(workers)
        self.frontier = Frontier(depth_first)
        # One step of a reduced search may be several actions, so predecessors would not give a run.
        self.predecessors = None if depth_first or reduce else Predecessors()
        self.transitions = 0
        self.depth = 0
        self.coverage = 0  # bits
        self.problem_depth: int | None = None  # longer runs are of no interest any more
        self.run_to_problem: Run | None = None  # known in plain breadth-first searches
        self.reason = ""  # why the search stopped early, if it did
        self._tables = Tables(self.local)
        self._constants = constants_of(self.local, reduce)
        self._width = self._constants.frames_at + FRAME_COLUMNS
        self._expansions: list[Expansion] = []
        self._scratch: list[Scratch] = []
        self._allocate()
        self._start()

    def explore(
        self, limits: Limits, progress: Callable[[SearchProgress], None] | None = None
    ) -> None:
        """Search until everything is explored, a problem is found, or a limit is hit."""
        started = reported = time.monotonic()
        with ThreadPoolExecutor(self.workers) as pool, collecting_by_hand():
            while not (self.problem_depth is not None and self.frontier.depth_first):
                block = self.frontier.take()
                if block is None or (
                    self.problem_depth is not None and block.depth > self.problem_depth
                ):
                    return
                self._process(block, pool)
                now = time.monotonic()
                self.reason = self._limit_hit(limits, now - started)
                if self.reason and self.problem_depth is None and self.frontier.waiting:
                    return
                self.reason = ""
                if progress is not None and now - reported > PROGRESS_INTERVAL:
                    reported = now
                    progress(self.progress(now - started))

    def progress(self, seconds: float) -> SearchProgress:
        """How far the search has got."""
        return SearchProgress(
            self.visited.count, self.transitions, self.depth, self.frontier.waiting, seconds
        )

    def _limit_hit(self, limits: Limits, seconds: float) -> str:
        if limits.states is not None and self.visited.count >= limits.states:
            return f"the limit of {limits.states:,} states was hit"
        if limits.seconds is not None and seconds >= limits.seconds:
            return f"the time limit of {limits.seconds:g} seconds was hit"
        if limits.bytes is not None and self.bytes > limits.bytes:
            return f"the memory limit of {limits.bytes / 2**30:.1f} GiB was hit"
        return ""

    @property
    def bytes(self) -> int:
        """About how much memory the states take."""
        predecessors = 0 if self.predecessors is None else self.predecessors.bytes
        return self.visited.bytes + self.frontier.bytes + predecessors

    def _process(self, block: RowBlock, pool: ThreadPoolExecutor) -> None:
        """Find and keep the successors of a block."""
        remaining: Ints = np.arange(len(block.rows))
        while len(remaining):
            workers = self.workers if len(remaining) >= ROWS_PER_WORKER else 1
            shares = np.array_split(remaining, workers)
            self._expand(block, shares, pool)
            expansions = self._expansions[:workers]
            statuses = [expansion.status for expansion in expansions]
            if any(map(_never_fits, statuses)):
                raise CheckError(
                    "too many events are enabled at one process at a time; give smaller bounds"
                    + (", or switch the reduction off" if self.reduce else "")
                )
            if any(status[buffers.OVERFLOW] == buffers.TOO_MANY_FRAMES for status in statuses):
                block = self._widen(block)
                continue
            self.transitions += sum(int(status[buffers.TRANSITIONS]) for status in statuses)
            self.coverage |= int(np.bitwise_or.reduce([s[buffers.COVERAGE] for s in statuses]))
            if self._record_problem(block, statuses):
                return
            self._keep_new(block, expansions, pool)
            self._resolve(expansions)
            remaining = np.concatenate(
                [
                    rows
                    for share, expansion in zip(shares, expansions, strict=True)
                    for rows in (
                        expansion.retry[: expansion.status[buffers.RETRIES]],
                        share[expansion.status[buffers.ROWS_DONE] :],
                    )
                ]
            )

    def _start(self) -> None:
        row: Ints = np.zeros((1, self._width), np.uint32)
        row[0, : len(self.local.names)] = self.local.start
        sums = self._scratch[0].sums[0]
        fingerprint = fingerprint_of(row[0], self._constants, self._tables.steps(), sums)
        for worker in range(self.workers):
            self.visited.add(worker, np.array([fingerprint], np.uint64))
        self.frontier.put(row, 0, 0)
        if self.predecessors is not None:
            self.predecessors.add(np.zeros(1, np.uint32), np.zeros(1, np.uint32))

    def _expand(self, block: RowBlock, shares: list[Ints], pool: ThreadPoolExecutor) -> None:
        steps = self._tables.steps()
        visited = self.visited.table

        def expand_share(share: Ints, scratch: Scratch, expansion: Expansion) -> None:
            work = Workspace(self._constants, steps, visited, scratch, expansion)
            expand(block.rows, share, work)

        list(pool.map(expand_share, shares, self._scratch, self._expansions))

    def _keep_new(
        self, block: RowBlock, expansions: list[Expansion], pool: ThreadPoolExecutor
    ) -> None:
        """Keep the successors that are new, and number them."""
        counts = [int(expansion.status[buffers.SUCCESSORS]) for expansion in expansions]
        self.visited.reserve(sum(counts), pool)

        def keep_owned(worker: int) -> list[tuple[Ints, Ints, Ints]]:
            kept = []
            for expansion, count in zip(expansions, counts, strict=True):
                new = self.visited.add(worker, expansion.fingerprints[:count])
                kept.append((expansion.rows[new], expansion.parents[new], expansion.events[new]))
            return kept

        for kept in pool.map(keep_owned, range(self.workers)):
            for rows, parents, events in kept:
                if len(rows):
                    self.depth = max(self.depth, int(rows[:, self._constants.depth_at].max()))
                    first = 0 if self.predecessors is None else self.predecessors.size
                    self.frontier.put(rows, block.depth + 1, first)
                    if self.predecessors is not None:
                        numbers = (parents + block.first).astype(np.uint32)
                        self.predecessors.add(numbers, events)

    def _resolve(self, expansions: list[Expansion]) -> None:
        """Run the missing local steps on the real cores."""
        missing = [e.missing[: e.status[buffers.MISSING]] for e in expansions]
        keys = np.unique(np.concatenate(missing)).tolist()
        if keys:
            self._tables.resolve([(key >> 32, key & 0xFFFFFFFF) for key in keys])
            collect_and_freeze()

    def _allocate(self) -> None:
        workers, group = range(self.workers), len(self.local.group)
        self._expansions = [
            buffers.make_expansion(BRANCHES * BLOCK, BLOCK, self._width) for _ in workers
        ]
        self._scratch = [buffers.make_scratch(self._width, group) for _ in workers]

    def _widen(self, block: RowBlock) -> RowBlock:
        """Add columns to all rows: more frames are in flight than ever before."""
        self._width += FRAME_COLUMNS
        self.frontier.widen(self._width)
        self._allocate()
        return RowBlock(widened(block.rows, self._width), block.depth, block.first)

    def _record_problem(self, block: RowBlock, statuses: list[Ints]) -> bool:
        """Record the first problem; True if no shorter run to one can follow.

        A run with a bad end is one action shorter than a run with a bad next step, so after the latter
        the search goes on to the end of this depth.
        """
        for status in statuses:
            problem = int(status[buffers.PROBLEM])
            if problem == buffers.NO_PROBLEM:
                continue
            ended = problem == buffers.BAD_END
            if self.problem_depth is None or ended:
                self.problem_depth = block.depth
                last = [] if ended else [int(status[buffers.PROBLEM_EVENT])]
                state = block.first + int(status[buffers.PROBLEM_ROW])
                self.run_to_problem = self._run_to(state, last)
            if ended or self.frontier.depth_first:
                return True
            status[buffers.ROWS_DONE] += 1
        return False

    def _run_to(self, state: int, last: Iterable[int]) -> Run | None:
        if self.predecessors is None:
            return None
        return tuple(map(self._action, [*self.predecessors.events_to(state), *last]))

    def _action(self, code: int) -> Action:
        event, kind = divmod(code, 4)
        if kind == buffers.TIMERS:
            return Action("timers", "")
        return self.local.action(event, _KINDS[kind])
