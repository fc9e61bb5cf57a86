"""The exploration itself: one loop, whatever the order.

Take a block of worlds, let the workers find their successors (`kernels.py`), run on the real cores
whatever local steps were missing, and keep the successors that nobody had seen. Workers are threads,
since the loops hold no lock. Each remembers a part of the fingerprints of its own, so in the second half
of a turn, too, nobody waits for anybody, and what comes out does not depend on who was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from beforehand._kernel import Ints
from beforehand.checker.actions import Action, Kind, Run
from beforehand.checker.packed import buffers as findings
from beforehand.checker.packed import loops
from beforehand.checker.packed.local_steps import LocalSteps
from beforehand.checker.packed.tables import Tables, shape_of
from beforehand.checker.search.frontier import BLOCK, Block, Frontier, widened
from beforehand.checker.search.garbage import collecting_by_hand, keep_from_collector
from beforehand.checker.search.predecessors import Trail
from beforehand.checker.search.symmetry import Renaming
from beforehand.checker.search.visited import Visited
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Progress
from beforehand.errors import CheckError

_ROOM_FOR_FRAMES = 16  # at first
_BRANCHES = 6  # successors for each row that there is room for; with more, a worker stops early
_TOO_FEW = 512  # rows: less is not worth a second worker
_TELL_EVERY = 0.25  # seconds

_KINDS: dict[int, Kind] = {
    findings.ARRIVE: "arrive",
    findings.DUPLICATE: "duplicate",
    findings.LOSE: "lose",
}


@dataclass(frozen=True)
class Limits:
    """When to stop without having seen everything."""

    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None


def _room(width: int) -> findings.Found:
    """Room for what one worker finds in a turn."""
    room = _BRANCHES * BLOCK
    return findings.Found(
        np.zeros((room, width), np.uint32),
        np.zeros(room, np.uint64),
        np.zeros(room, np.int64),
        np.zeros(room, np.uint32),
        np.zeros(room, np.uint64),
        np.zeros(BLOCK, np.int64),
        np.zeros(findings.SAID, np.int64),
    )


def _is_too_much(said: Ints) -> bool:
    """Whether there will never be room for what can happen at one moment."""
    if said[findings.OVERFULL] == findings.TAKE_AWAY:
        return not said[findings.DONE] and not said[findings.MISSING]
    return bool(said[findings.OVERFULL] == findings.TOO_MANY_WAYS)


class Search:
    """One exploration, and what it has found so far."""

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
        self.tables = Tables(self.local)
        self.shape = shape_of(self.local, reduce)
        self.width = self.shape.faults_at + 3 + _ROOM_FOR_FRAMES
        self.workers = workers
        self.visited = Visited(workers)
        self.frontier = Frontier(depth_first)
        # A step of a reduced search may be several actions, so its trail would not tell a run.
        self.trail = None if depth_first or reduce else Trail()
        self.found: list[findings.Found] = []
        self.rooms: list[findings.Room] = []
        self._make_room()
        self.transitions = 0
        self.depth = 0
        self.seen = 0
        self.problem_at: int | None = None  # depth: nothing longer is of interest any more
        self.run_to_problem: Run | None = None  # known in breadth-first searches
        self.reason = ""  # why it stopped, if it was not because all was seen
        self._begin()

    # ---- the loop ----

    def explore(self, limits: Limits, progress: Callable[[Progress], None] | None = None) -> None:
        """Go on until everything is seen, something is wrong, or a limit is hit."""
        started = told = time.monotonic()
        with ThreadPoolExecutor(self.workers) as pool, collecting_by_hand():
            while not (self.problem_at is not None and self.frontier.depth_first):
                block = self.frontier.take()
                if block is None or (self.problem_at is not None and block.depth > self.problem_at):
                    return
                self._look(block, pool)
                now = time.monotonic()
                self.reason = self._limit_hit(limits, now - started)
                if self.reason and self.problem_at is None and self.frontier.waiting:
                    return
                self.reason = ""
                if progress is not None and now - told > _TELL_EVERY:
                    told = now
                    progress(self.progress(now - started))

    def progress(self, seconds: float) -> Progress:
        """How far it is."""
        return Progress(
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
        trail = 0 if self.trail is None else self.trail.bytes
        return self.visited.bytes + self.frontier.bytes + trail

    def _look(self, block: Block, pool: ThreadPoolExecutor) -> None:
        """Find and keep the successors of a block."""
        left: Ints = np.arange(len(block.rows))
        while len(left):
            parts = np.array_split(left, self.workers if len(left) >= _TOO_FEW else 1)
            self._expand(block, parts, pool)
            said = [found.said for found in self.found[: len(parts)]]
            if any(map(_is_too_much, said)):
                raise CheckError(
                    "too much can happen at one moment of one process; give smaller bounds"
                    + (", or switch the reduction off" if self.shape.reduce else "")
                )
            if any(each[findings.OVERFULL] == findings.FRAMES_LEFT_OVER for each in said):
                block = self._widen(block)
                continue
            self.transitions += sum(int(each[findings.TRANSITIONS]) for each in said)
            self.seen |= int(np.bitwise_or.reduce([each[findings.SEEN] for each in said]))
            if self._note_problem(block, said):
                return
            self._keep(block, len(parts), pool)
            self._resolve(len(parts))
            left = np.concatenate(
                [
                    rest
                    for part, found in zip(parts, self.found, strict=False)
                    for rest in (
                        found.retry[: found.said[findings.RETRY]],
                        part[found.said[findings.DONE] :],
                    )
                ]
            )

    def _begin(self) -> None:
        row: Ints = np.zeros((1, self.width), np.uint32)
        row[0, : len(self.local.names)] = self.local.start
        own: Ints = np.array(
            [loops.print_of(row[0], self.shape, self.tables.steps(), self.rooms[0].sums[0])],
            np.uint64,
        )
        for worker in range(self.workers):
            self.visited.keep(worker, own)
        self.frontier.put(row, 0, 0)
        if self.trail is not None:
            self.trail.add(np.zeros(1, np.uint32), np.zeros(1, np.uint32))

    def _expand(self, block: Block, parts: list[Ints], pool: ThreadPoolExecutor) -> None:
        steps = self.tables.steps()
        table = self.visited.table

        def expand(part: Ints, room: findings.Room, found: findings.Found) -> None:
            loops.expand(block.rows, part, self.shape, steps, table, room, found)

        list(pool.map(expand, parts, self.rooms, self.found))

    def _keep(self, block: Block, parts: int, pool: ThreadPoolExecutor) -> None:
        """Remember what is new; the states get their numbers."""
        counts = [int(found.said[findings.FOUND]) for found in self.found[:parts]]
        self.visited.make_room(sum(counts), pool)

        def keep(worker: int) -> list[tuple[Ints, Ints, Ints]]:
            parts = []
            for found, count in zip(self.found, counts, strict=False):
                new = self.visited.keep(worker, found.prints[:count])
                parts.append((found.rows[new], found.parents[new], found.events[new]))
            return parts

        for kept in pool.map(keep, range(self.workers)):
            for rows, parents, events in kept:
                if len(rows):
                    self.depth = max(self.depth, int(rows[:, self.shape.faults_at + 1].max()))
                    first = 0 if self.trail is None else self.trail.size
                    self.frontier.put(rows, block.depth + 1, first)
                    if self.trail is not None:
                        self.trail.add((parents + block.first).astype(np.uint32), events)

    def _resolve(self, parts: int) -> None:
        """Run the local steps that were missing on the real cores."""
        wanted = [found.missing[: found.said[findings.MISSING]] for found in self.found[:parts]]
        keys = np.unique(np.concatenate(wanted)).tolist()
        if keys:
            self.tables.resolve([(key >> 32, key & 0xFFFFFFFF) for key in keys])
            keep_from_collector()

    def _make_room(self) -> None:
        group = len(self.local.group)
        self.found = [_room(self.width) for _ in range(self.workers)]
        self.rooms = [findings.make_room(self.width, group) for _ in range(self.workers)]

    def _widen(self, block: Block) -> Block:
        """More frames are in flight than ever: make room for them."""
        self.width += _ROOM_FOR_FRAMES
        self.frontier.widen(self.width)
        self._make_room()
        return Block(widened(block.rows, self.width), block.depth, block.first)

    # ---- problems ----

    def _note_problem(self, block: Block, said: list[Ints]) -> bool:
        """Remember the first problem; True if nothing shorter can come.

        A run that ends badly here is one shorter than one that the next step breaks, so after the
        latter the search goes on to the end of this depth.
        """
        for each in said:
            problem = int(each[findings.PROBLEM])
            if problem == findings.NO_PROBLEM:
                continue
            ended = problem == findings.BAD_END
            if self.problem_at is None or ended:
                self.problem_at = block.depth
                if self.trail is not None:
                    last = [] if ended else [int(each[findings.EVENT])]
                    self.run_to_problem = self._run_to(
                        block.first + int(each[findings.WHERE]), last
                    )
            if ended or self.frontier.depth_first:
                return True
            each[findings.DONE] += 1
        return False

    def _run_to(self, state: int, more: Iterable[int] = ()) -> Run:
        assert self.trail is not None
        return tuple(map(self._action, [*self.trail.back(state), *more]))

    def _action(self, code: int) -> Action:
        event, kind = divmod(code, 4)
        if kind == findings.TIMERS:
            return Action("timers", "")
        return self.local.action(event, _KINDS[kind])
