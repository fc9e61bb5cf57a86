"""A seeded world of overlay cores: FIFO links, the oracle that checks them, processes that come and go.

Every choice comes from one seeded generator, so a seed is a run. What a core wants done is done in the
order of its effects, all of it before the next call. With `react`, an application sometimes answers
at once, and a message that came alone even before the effects that follow its delivery: there should be
none. A newcomer is a member from the `Admit` of its contact on, and the oracle holds it to what that
contact had not delivered by then.

The caller's side of the contract is kept here: a link is closed, and a process goes, only if the links
in use still connect all processes; and departed processes are dropped by the others, at some time.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from beforehand import protocols, wire
from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.protocols.effects import Admit, Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import Broadcast, Buffered

Pair = tuple[str, str]
Make = Callable[[str, Iterable[Pair]], Any]  # any core with links, also a broken copy of one

MOST_STEPS = 50_000  # until nothing is in flight: duplicates may circulate forever
MOST_ANSWERS = 30  # in a run: answers to answers must come to an end
ROUNDS = 60  # of ticks until a run must be quiet; patience with a handshake is 8, then 16, ...


def maker(name: str) -> Make:
    """How to make cores of a protocol."""
    return lambda process, links: protocols.create(name, process, links=links)


def random_links(names: list[str], degree: int, rng: random.Random) -> list[Pair]:
    """A ring in random order, so that all processes are connected, and further one-way links."""
    order = rng.sample(names, len(names))
    links = {(order[index - 1], order[index]) for index in range(len(order))}
    while len(links) < min(len(names) * degree, len(names) * (len(names) - 1)):
        a, b = rng.sample(names, 2)
        links.add((a, b))
    return sorted(links)


class OverlayWorld:
    """Cores on an overlay, what is in flight on each ordered pair, and an oracle."""

    def __init__(
        self,
        make: Make,
        names: Iterable[str],
        links: Iterable[Pair],
        seed: int = 0,
        *,
        react: float = 0.0,
        mirror: bool = False,
    ) -> None:
        self.make = make
        self.seed = seed
        self.random = random.Random(seed)
        self.react = react
        self.mirror = mirror  # every call is also made on a copy, which must do the same
        self.links = list(links)
        self.cores: dict[str, Any] = {name: make(name, self.links) for name in names}
        self.members = set(self.cores)
        self.gone: set[str] = set()  # crashed or left: frames to them vanish
        self.unaware: list[Pair] = []  # (process, who is gone without its knowing)
        self.flight: dict[Pair, deque[Frame]] = {}  # pairs without frames are absent
        self.oracle = Oracle()
        self.violations: list[object] = []
        self.delivered: dict[str, list[MessageId]] = {name: [] for name in self.cores}
        self.answers: Counter[str] = Counter()  # who is to answer its next deliveries at once
        self.safe: list[Pair] = []  # in the order in which it was announced
        self.count: Counter[str] = Counter()  # what happened
        self.now = 0
        self.named = 0  # newcomers so far

    # ---- what may happen ----

    def send(self, process: str) -> None:
        """A process broadcasts."""
        core = self.cores[process]
        effects = self._call(process, "send", None, b"%d" % (core.sent + 1))
        self.oracle.send(process, {process, *self.members}, number=core.sent)
        self.count["sends"] += 1
        self.carry_out(process, effects)

    def open(
        self, process: str, peer: str, via: list[str] | None = None, back: list[str] | None = None
    ) -> None:
        """A process opens a link."""
        self.count["opens"] += 1
        self.count["routes"] += via is not None
        self.carry_out(process, self._call(process, "open", peer, via, back))

    def close(self, process: str, peer: str) -> None:
        """A process closes a link, whether it is in use or being made."""
        self.count["closes"] += 1
        self.carry_out(process, self._call(process, "close", peer))

    def join(self, newcomer: str, contact: str) -> None:
        """A new process asks to take part, or one whose contact is gone asks another one."""
        self.count["joins"] += 1
        if newcomer not in self.cores:
            self.cores[newcomer] = self.make(newcomer, ())
            self.delivered[newcomer] = []
        self.carry_out(newcomer, self._call(newcomer, "join", contact))

    def leave(self, process: str) -> None:
        """A process leaves, and notifies its neighbours."""
        self.count["leaves"] += 1
        self.carry_out(process, self._call(process, "leave"))
        self._be_gone(process)

    def crash(self, process: str) -> None:
        """A process takes no further step; the others learn of it one by one."""
        self.count["crashes"] += 1
        making = [other for other in self.members if process in self._making(other)]
        self.count["crashes in a handshake"] += bool(making or self._making(process))
        self._be_gone(process)

    def drop(self, process: str, peer: str) -> None:
        """A process gives up on another one, which may well be alive."""
        self.count["drops"] += 1
        self.carry_out(process, self._call(process, "drop", peer))

    def tick(self, *processes: str) -> None:
        """Tick these processes, or all that are there."""
        for process in processes or sorted(set(self.cores) - self.gone):
            self.carry_out(process, self._call(process, "tick"))

    def arrive(self, sender: str, receiver: str) -> bool:
        """Let the next frame of a link arrive; False if there is none."""
        frames = self.flight.get((sender, receiver))
        if frames is None:
            return False
        frame = frames.popleft()
        if not frames:
            del self.flight[sender, receiver]
        if receiver not in self.gone:
            core = self.cores[receiver]
            before = core.ignored
            making = isinstance(frame, Buffered) and sender in getattr(core, "accepting", ())
            effects = self._call(receiver, "receive", sender, frame)
            self.count["ignored"] += core.ignored - before
            if making and sender in core.links.incoming:
                self.count["expected on a new link"] += len(core.expected.over(sender))
            alone = isinstance(frame, Broadcast)
            self.carry_out(receiver, effects, alone)
            if not alone and any(isinstance(effect, Deliver) for effect in effects):
                self._answer(receiver)
        return True

    def step(self) -> bool:
        """Let a frame of a random link arrive."""
        if not self.flight:
            return False
        return self.arrive(*self.random.choice(list(self.flight)))

    # ---- whole runs ----

    def churn(self, steps: int, *, sends: float = 0.12, changes: float = 1.0) -> None:
        """Random arrivals, broadcasts and changes of the overlay; the chance of each is for a step."""
        kinds: list[tuple[float, Callable[[], None]]] = [
            (sends, self.some_send),
            (0.05 * changes, self.some_open),
            (0.03 * changes, self.some_close),
            (0.008 * changes, self.some_join),
            (0.008 * changes, self.some_departure),
            (0.004 * changes, self.some_suspicion),
            (0.02 * changes, self.some_drop),
            (0.02, lambda: self.tick(self.random.choice(sorted(set(self.cores) - self.gone)))),
        ]
        for _ in range(steps):
            draw = self.random.random()
            for probability, act in kinds:
                draw -= probability
                if draw < 0:
                    act()
                    break
            else:
                self.step()
            if self.violations:
                return

    def some_send(self) -> None:
        """A random process broadcasts, perhaps one that is not admitted yet."""
        self.send(self.random.choice(sorted(set(self.cores) - self.gone)))

    def some_open(self) -> None:
        """A link between two members, over a route that exists, one that does not, or none."""
        process, peer = self.random.sample(sorted(self.members), 2)
        core = self.cores[process]
        if core.is_dropped(peer) or core.stage != 2:
            return
        edges = self.edges()
        luck = self.random.random()
        outward, back = route(edges, process, peer), route(edges, peer, process)
        if luck < 0.6 and outward is not None and back is not None:
            self.open(process, peer, outward, back)
        elif luck < 0.7 and edges[process]:
            mediator = self.random.choice(edges[process])
            if mediator != peer:
                self.open(process, peer, [mediator])
        else:
            self.open(process, peer)

    def some_close(self) -> None:
        """A link is closed, if the others keep the overlay connected."""
        process = self.random.choice(sorted(self.members))
        core = self.cores[process]
        peers = sorted({*core.links.out, *self._making(process, incoming=False)})
        if peers:
            peer = self.random.choice(peers)
            if self.connected(without=[(process, peer)]):
                self.close(process, peer)

    def some_join(self) -> None:
        """A new process joins, or one that has lost its contact asks again."""
        lost = [
            name
            for name in sorted(set(self.cores) - self.gone - self.members)
            if not self.cores[name].contact
        ]
        self.named += not lost
        newcomer = lost[0] if lost else f"n{self.named}"
        # Perhaps through somebody who is not in yet, but not through each other.
        asking = set(self.cores) - self.gone - self.members - {newcomer}
        soon = {name for name in asking if self.cores[name].contact in self.members}
        contact = self.random.choice(sorted(self.members | soon))
        if newcomer not in self.cores or not self.cores[newcomer].is_dropped(contact):
            self.join(newcomer, contact)

    def some_departure(self) -> None:
        """A process leaves or crashes, if the others stay connected."""
        process = self.random.choice(sorted(self.members))
        if len(self.members) > 3 and self.connected(gone=process):
            if self.random.random() < 0.4:
                self.leave(process)
            else:
                self.crash(process)

    def some_suspicion(self) -> None:
        """A process drops a live neighbour, if the others stay connected."""
        process, peer = self.random.sample(sorted(self.members), 2)
        if self.connected(without=[(process, peer), (peer, process)]):
            self.count["suspicions"] += not self.cores[process].is_dropped(peer)
            self.drop(process, peer)

    def some_drop(self) -> None:
        """A process learns that another one is gone."""
        if self.unaware:
            process, peer = self.unaware.pop(self.random.randrange(len(self.unaware)))
            if process not in self.gone:
                self.drop(process, peer)

    def settle(self) -> None:
        """Let everything arrive and become known, until no process waits for anything."""
        for _ in range(ROUNDS):
            for _ in range(MOST_STEPS):
                if self.violations or not self.step():
                    break
            if self.violations or self.flight:
                return
            while self.unaware:
                self.some_drop()
            for process in sorted(set(self.cores) - self.gone - self.members):
                if not self.cores[process].contact:
                    self._ask_somebody(process)
            self.tick()
            busy = any(self._making(process) for process in self.members)
            if not self.flight and not busy and not set(self.cores) - self.gone - self.members:
                return

    def _ask_somebody(self, process: str) -> None:
        core = self.cores[process]
        contacts = [name for name in sorted(self.members) if not core.is_dropped(name)]
        if contacts:
            self.join(process, self.random.choice(contacts))

    # ---- the graph ----

    def edges(self) -> dict[str, list[str]]:
        """The links that are in use as far as their openers know, between members that are there."""
        return {
            process: [
                peer
                for peer in sorted(self.cores[process].links.out)
                if peer in self.members and not self.cores[peer].is_dropped(process)
            ]
            for process in sorted(self.members)
        }

    def connected(self, without: Iterable[Pair] = (), gone: str = "") -> bool:
        """Whether the links in use, less some, connect all processes that are not gone."""
        missing = set(without)
        there = {
            process: [peer for peer in peers if peer != gone and (process, peer) not in missing]
            for process, peers in self.edges().items()
            if process != gone
        }
        back: dict[str, list[str]] = {process: [] for process in there}
        for process, peers in there.items():
            for peer in peers:
                back[peer].append(process)
        start = next(iter(there))
        return len(reached(there, start)) == len(there) == len(reached(back, start))

    def _making(self, process: str, incoming: bool = True) -> list[str]:
        """The other ends of the links that a process is making."""
        core = self.cores[process]
        opening = list(getattr(core, "opening", ()))
        return [*opening, *getattr(core, "accepting", ())] if incoming else opening

    def _be_gone(self, process: str) -> None:
        self.members.discard(process)
        self.gone.add(process)
        others = sorted(set(self.cores) - self.gone)
        self.unaware.extend((other, process) for other in others)

    # ---- judging ----

    def entries(self) -> int:
        """How many entries about messages the members hold."""
        return sum(self.cores[name].entries() for name in self.members)

    def undelivered(self) -> list[tuple[MessageId, str]]:
        """What a member should have delivered: all that members sent, and all that a member has."""
        seen = {message for name in self.members for message in self.delivered[name]}
        history = self.oracle.history
        for name in self.members:
            seen |= {MessageId(name, number + 1) for number in range(history.sends(name))}
        return [
            (message, name)
            for message in sorted(seen)
            for name in sorted(history.receivers(message) or ())
            if name in self.members and message not in self.delivered[name]
        ]

    def problem(self) -> str:
        """What is wrong with the run in a word and a line, empty if nothing is."""
        if self.violations:
            return str(self.violations[0])
        if self.flight:
            return "endless: frames go round and round"
        missing = self.undelivered()
        if missing:
            return f"undelivered: {missing[:3]}"
        waiting = sorted(name for name in self.members if self._making(name))
        return f"unfinished: links of {waiting}" if waiting else ""

    def about(self) -> str:
        """The run in a line, for assertion messages."""
        return f"seed={self.seed} members={sorted(self.members)} {dict(self.count)}"

    # ---- mechanics ----

    def carry_out(self, process: str, effects: Iterable[Effect], answer: bool = False) -> None:
        """Carry out effects, in order; the application may answer at the delivery."""
        for effect in effects:
            if isinstance(effect, Transmit):
                frame = effect.frame
                self.count[type(frame).__name__] += 1
                if isinstance(frame, Buffered):
                    self.count["messages kept for a new link"] += frame.messages()
                if self.mirror:
                    assert wire.decode(wire.encode(frame)) == frame
                self.flight.setdefault((process, effect.to), deque()).append(frame)
            elif isinstance(effect, Deliver):
                message = MessageId(effect.sender, effect.message_id)
                self.violations.extend(self.oracle.deliver(process, message))
                self.delivered[process].append(message)
                if effect.payload != b"%d" % effect.message_id:
                    self.violations.append(f"payload: {effect} at {process}")
                if answer:
                    self._answer(process)
            elif isinstance(effect, Admit):
                self.count["admitted"] += 1
                if effect.newcomer not in self.members:
                    self.members.add(effect.newcomer)
                    self.oracle.join(effect.newcomer, process)
            elif isinstance(effect, Safe):
                self.count["safe"] += 1
                self.safe.append((process, effect.peer))

    def _answer(self, process: str) -> None:
        if self.answers[process]:
            self.answers[process] -= 1
            self.send(process)
        elif self.count["answers"] < MOST_ANSWERS and self.random.random() < self.react:
            self.count["answers"] += 1
            self.send(process)

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
        assert (twin.entries(), twin.integers()) == (core.entries(), core.integers())
        return effects


def reached(edges: dict[str, list[str]], start: str) -> set[str]:
    """All processes that can be reached."""
    seen, todo = {start}, [start]
    while todo:
        for peer in edges[todo.pop()]:
            if peer not in seen:
                seen.add(peer)
                todo.append(peer)
    return seen


def route(edges: dict[str, list[str]], start: str, end: str) -> list[str] | None:
    """The processes between two on a shortest way; None if there is no way."""
    before: dict[str, str] = {start: start}
    todo = deque([start])
    while todo:
        node = todo.popleft()
        for peer in edges[node]:
            if peer not in before:
                before[peer] = node
                todo.append(peer)
    if end not in before:
        return None
    path = [end]
    while path[0] != start:
        path.insert(0, before[path[0]])
    return path[1:-1]


def world_of(
    name: str, processes: int, seed: int, *, mirror: bool = False, make: Make | None = None
) -> OverlayWorld:
    """A world of so many processes on random links."""
    rng = random.Random(-1 - seed)
    names = [f"p{number}" for number in range(processes)]
    links = random_links(names, 2, rng)
    react = rng.choice([0.0, 0.02, 0.1])
    return OverlayWorld(make or maker(name), names, links, seed, react=react, mirror=mirror)
