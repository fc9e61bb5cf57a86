"""A seeded random world of cores: the network, the oracle that checks it, and statistics.

A `World` holds one core for each process and the frames in flight on each directed link. Every choice
(which link, which frame of it, lost, duplicated) comes from one seeded generator, so a seed is a run.
Whatever a core delivers goes to the oracle; what it objects to ends up in `violations`.

    world = World({name: Mattern(name) for name in "abc"}, seed=7, loss=0.2, duplicate=0.2)
    world.run_random(sends=30)
    world.assert_causal_and_complete()
    assert world.lost and world.held_seen, world.about()
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame

Link = tuple[str, str]  # (from, to)

MOST_ROUNDS = 2_000  # of ticks; with a loss below 0.9 a live protocol is quiet long before


def unwrapped(frame: Frame) -> Frame:
    """The protocol's own frame, without the fence or the segment around it."""
    while True:
        inner = getattr(frame, "inner", None)
        if inner is None:
            return frame
        frame = inner


class World:
    """Cores, the network between them, and an oracle that sees every causal-send and delivery."""

    def __init__(
        self,
        cores: dict[str, Core],
        seed: int,
        loss: float = 0.0,
        duplicate: float = 0.0,
        fifo: bool = False,
        mirror: bool = False,
    ) -> None:
        self.cores = cores
        self.seed = seed
        self.random = random.Random(seed)
        self.loss = loss
        self.duplicate = duplicate
        self.fifo = fifo  # True: the frames of one link stay in order
        self.mirror = mirror  # True: every call is also made on a copy, which must do the same
        self.flight: dict[Link, list[Frame]] = {}  # links without frames are absent
        self.stopped: set[str] = set()  # crashed processes: they do nothing, frames to them vanish
        self.now = 0  # a step counter, handed to the cores as their clock

        self.oracle = Oracle()
        self.violations: list[object] = []
        self.delivered: dict[str, list[MessageId]] = {name: [] for name in cores}
        self.payloads: dict[tuple[str, MessageId], bytes] = {}

        self.sent = 0
        self.transmitted = 0
        self.lost = 0
        self.duplicated = 0
        self.reordered = 0  # arrivals that overtook an older frame of the same link
        self.control = 0  # transmitted frames without an application message
        self.held_seen = 0  # calls after which some message was held in that core
        self.held_most = 0
        self.kinds: Counter[str] = Counter()  # transmitted frames by class, unwrapped
        self.ticks = 0

    # ---- what may happen ----

    def send(
        self,
        process: str,
        to: str | Iterable[str] | None,
        payload: bytes | None = None,
        count: int = 1,
    ) -> list[Effect]:
        """Causal-send `count` messages (to None: to everybody); the oracle is informed first."""
        core = self.cores[process]
        everybody = self.cores if to is None else to
        receivers = [everybody] if isinstance(everybody, str) else list(everybody)
        first = core.sent + 1
        payloads = [
            b"%s/%d" % (process.encode(), first + offset) if payload is None else payload
            for offset in range(count)
        ]
        given = to if to is None or isinstance(to, str) else receivers
        if count == 1:
            effects = self._call(process, "send", given, payloads[0])
        else:
            effects = self._call(process, "send_many", given, payloads)
        for number in range(first, core.sent + 1):
            self.oracle.send(process, receivers, number=number)
            self.sent += 1
        self.carry_out(process, effects)
        return effects

    def tick(self, *processes: str) -> None:
        """Tick these processes, or all of them."""
        for process in processes or tuple(self.cores):
            if process not in self.stopped:
                self.ticks += 1
                self.carry_out(process, self._call(process, "tick"))

    def drop(self, process: str, peer: str) -> None:
        """`process` gives up on `peer`, which may well be alive."""
        self.carry_out(process, self._call(process, "drop", peer))

    def reparent(self, process: str, parent: str) -> None:
        """A process of a tree moves below another parent."""
        self.carry_out(process, self._call(process, "reparent", parent))

    def stop(self, process: str) -> None:
        """The process crashes: it takes no further step."""
        self.stopped.add(process)

    def step(self) -> bool:
        """Let one frame, chosen at random, arrive (or be lost); False if none is in flight."""
        if not self.flight:
            return False
        link = self.random.choice(list(self.flight))
        index = 0 if self.fifo else self.random.randrange(len(self.flight[link]))
        if self.random.random() < self.loss:
            self.take(link, index)
            self.lost += 1
            return True
        if self.random.random() < self.duplicate:
            self.duplicated += 1
            self.arrive(link, index, keep=True)
        else:
            self.arrive(link, index)
        return True

    def arrive(self, link: Link, index: int = 0, keep: bool = False) -> list[Effect]:
        """Let the frame at `index` of a link arrive; with `keep` a copy stays in flight."""
        self.reordered += index > 0
        frame = self.flight[link][index] if keep else self.take(link, index)
        sender, receiver = link
        if receiver in self.stopped:
            return []
        effects = self._call(receiver, "receive", sender, frame)
        self.carry_out(receiver, effects)
        return effects

    def take(self, link: Link, index: int = 0) -> Frame:
        """Remove a frame from a link."""
        frames = self.flight[link]
        frame = frames.pop(index)
        if not frames:
            del self.flight[link]
        return frame

    # ---- whole runs ----

    def run_random(
        self,
        sends: int,
        *,
        multicast: bool = False,
        broadcast: bool = False,
        burst: int = 1,
        hurry: float = 0.3,
        ticks: float = 0.02,
        settle: bool = True,
    ) -> None:
        """Random sends among random arrivals, then (with `settle`) until nothing moves any more.

        They go to one peer each, to several (`multicast`) or to everybody (`broadcast`).
        `hurry` is the chance that the next thing is a send rather than an arrival, `burst` the
        largest number of messages in one call, `ticks` the chance of an early tick.
        """
        names = [name for name in self.cores if self.peers(name) and name not in self.stopped]
        while sends and names:
            if self.flight and self.random.random() > hurry:
                self.step()
                continue
            process = self.random.choice(names)
            receivers = None if broadcast else self._some_peers(process, multicast)
            count = min(sends, self.random.randint(1, burst))
            self.send(process, receivers, count=count)
            sends -= count
            if self.random.random() < ticks:
                self.tick(self.random.choice(names))
        if settle:
            self.run_until_quiet()

    def _some_peers(self, process: str, multicast: bool) -> list[str]:
        others = self.peers(process)
        most = len(others) if multicast else 1
        return self.random.sample(others, self.random.randint(1, most))

    def peers(self, process: str) -> list[str]:
        """The peers that `process` may still send to."""
        unreachable = self.cores[process].dropped()
        return [name for name in self.cores if name != process and name not in unreachable]

    def run_until_quiet(self, tick: bool = True) -> None:
        """Until no frame is in flight and (with `tick`) a round of ticks brings none."""
        for _ in range(MOST_ROUNDS):
            while self.step():
                pass
            if tick:
                self.tick()
            if not self.flight:
                return
        raise AssertionError(f"still not quiet after {MOST_ROUNDS} rounds of ticks: {self.about()}")

    # ---- judging ----

    def undelivered(self, survivors: Iterable[str] | None = None) -> list[tuple[MessageId, str]]:
        """(message, receiver) pairs still missing, between these processes or between all."""
        among = set(self.cores) - self.stopped if survivors is None else set(survivors)
        return [
            (message, receiver)
            for message, receiver in self.oracle.undelivered()
            if message.sender in among and receiver in among
        ]

    def assert_causal_and_complete(self, survivors: Iterable[str] | None = None) -> None:
        """Nothing out of causal order anywhere, everything between the survivors delivered."""
        assert not self.violations, f"{self.violations[0]} in {self.about()}"
        missing = self.undelivered(survivors)
        assert not missing, f"never delivered: {missing[:3]} in {self.about()}"

    def about(self) -> str:
        """The run in a line, for assertion messages."""
        kinds = next(iter(self.cores.values()), None)
        return (
            f"seed={self.seed} {type(kinds).__name__} x{len(self.cores)} loss={self.loss} "
            f"duplicate={self.duplicate} fifo={self.fifo}: sent={self.sent} lost={self.lost} "
            f"duplicated={self.duplicated} reordered={self.reordered} held={self.held_seen} "
            f"control={self.control} violations={len(self.violations)} {dict(self.kinds)}"
        )

    # ---- mechanics ----

    def carry_out(self, process: str, effects: Iterable[Effect]) -> None:
        """Carry out effects: put frames on their links, report deliveries to the oracle."""
        for effect in effects:
            if isinstance(effect, Transmit):
                self.transmitted += 1
                self.control += effect.frame.messages() == 0
                self.kinds[type(unwrapped(effect.frame)).__name__] += 1
                self.flight.setdefault((process, effect.to), []).append(effect.frame)
            elif isinstance(effect, Deliver):
                message = MessageId(effect.sender, effect.message_id)
                self.violations.extend(self.oracle.deliver(process, message))
                self.delivered[process].append(message)
                self.payloads[process, message] = effect.payload
        held = len(self.cores[process].held())
        self.held_seen += held > 0
        self.held_most = max(self.held_most, held)

    def _call(self, process: str, method: str, *arguments: object) -> list[Effect]:
        self.now += 1
        core = self.cores[process]
        if not self.mirror:
            return getattr(core, method)(*arguments, now=self.now)  # type: ignore[no-any-return]
        twin = core.copy()
        before = core.fingerprint()
        assert twin.fingerprint() == before, f"a copy differs before {method}: {self.about()}"
        # The clock explains and never decides: another clock must change nothing.
        expected = getattr(twin, method)(*arguments, now=self.now + 1_000)
        assert core.fingerprint() == before, f"a copy shares state: {method} in {self.about()}"
        effects: list[Effect] = getattr(core, method)(*arguments, now=self.now)
        assert effects == expected, f"a copy does otherwise in {method}: {self.about()}"
        assert twin.fingerprint() == core.fingerprint(), f"a copy ends otherwise: {self.about()}"
        hash(core.fingerprint())
        return effects
