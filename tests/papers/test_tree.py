"""Blessing et al., claim by claim: the shop on three topologies, its histories, and "arrives before".

The paper gives each node an in-queue and an out-queue for each neighbour. Here an edge has one queue for
each direction. It stands for the out-queue of its sender, and the in-queue of its receiver is always
empty: the arrival of a frame is M-Forward and then, at once, M-Route or M-Receive. Every run is
therefore one of the paper's runs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.frames import TreeMessage
from beforehand.protocols.tree.topology import Tree
from tests.support.network import World
from tests.support.trees import random_tree

# ---- section 2: a customer, a shop and a bank ----

History = tuple[str, ...]  # "Snd credit", "Rec credit" and so on

FIGURE_1 = {"customer": "relay", "relay": "bank", "shop": "bank"}  # customer - relay - bank - shop
FIGURE_2_LEFT = {
    "customer": "relay",
    "shop": "customer",
    "relay": "bank",
}  # debit goes over customer
FIGURE_2_RIGHT = {"customer": "relay", "shop": "relay", "bank": "relay"}  # the relay in the middle


@dataclass
class Moment:
    """A moment of the shop's run: the cores, the queue of each edge, and what each has yet to send."""

    cores: dict[str, Core]
    queues: dict[tuple[str, str], tuple[Frame, ...]] = field(default_factory=dict)
    todo: tuple[tuple[str, str, str], ...] = (
        ("customer", "bank", "credit"),
        ("customer", "shop", "buy"),
    )
    history: History = ()

    def successors(self) -> list[Moment]:
        """Each process with a message to send sends the next one, or a frame arrives."""
        matches = []
        senders = [sender for sender, _, _ in self.todo]
        for index, (sender, to, label) in enumerate(self.todo):
            if sender not in senders[:index]:
                after = self._copy(sender)
                after.todo = self.todo[:index] + self.todo[index + 1 :]
                after.history += (f"Snd {label}",)
                after._carry_out(sender, after.cores[sender].send(to, label.encode()))
                matches.append(after)
        for (sender, receiver), frames in self.queues.items():
            if frames:
                after = self._copy(receiver)
                after.queues[sender, receiver] = frames[1:]
                after._carry_out(receiver, after.cores[receiver].receive(sender, frames[0]))
                matches.append(after)
        return matches

    def _copy(self, mover: str) -> Moment:
        cores = {**self.cores, mover: self.cores[mover].copy()}
        return Moment(cores, dict(self.queues), self.todo, self.history)

    def _carry_out(self, process: str, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Transmit):
                link = (process, effect.to)
                self.queues[link] = (*self.queues.get(link, ()), effect.frame)
            elif isinstance(effect, Deliver):
                self.history += (f"Rec {effect.payload.decode()}",)
                if effect.payload == b"buy":
                    self.todo += (("shop", "bank", "debit"),)


def histories(parents: dict[str, str]) -> set[History]:
    """The histories of all interleavings, each to its end."""
    tree = Tree(parents)
    frontier = [Moment({name: TreeCore(name, tree) for name in tree.names})]
    ends: set[History] = set()
    while frontier:
        moment = frontier.pop()
        successors = moment.successors()
        frontier += successors
        if not successors:
            ends.add(moment.history)
    return ends


@pytest.mark.parametrize("parents", [FIGURE_1, FIGURE_2_LEFT, FIGURE_2_RIGHT])
def test_section_2_credit_always_comes_before_debit(parents: dict[str, str]) -> None:
    """On all three topologies, in every interleaving."""
    ends = histories(parents)
    for history in ends:
        assert len(history) == 6 and history.index("Rec credit") < history.index("Rec debit")
    overtaken = [h for h in ends if h.index("Rec buy") < h.index("Rec credit")]
    # In figure 1 the credit's route is a prefix of that of buy; in figure 2 they go apart, and the
    # shop may well have the order before the bank has the money.
    assert bool(overtaken) is (parents is not FIGURE_1)


def test_section_3_1_the_two_histories_of_figure_1() -> None:
    """There are exactly the two that the paper lists."""
    end = ("Rec buy", "Snd debit", "Rec debit")
    assert histories(FIGURE_1) == {
        ("Snd credit", "Rec credit", "Snd buy", *end),
        ("Snd credit", "Snd buy", "Rec credit", *end),
    }


# ---- section 3.4: "arrives before", the invariant of the proof ----

Message = tuple[str, int]


@dataclass
class Configuration:
    """The tree, the history and the queues of a run with unicasts only, kept up from outside."""

    tree: Tree
    dest: dict[Message, str] = field(default_factory=dict)
    past: dict[Message, set[Message]] = field(default_factory=dict)  # what causes it: figure 7
    known: dict[str, set[Message]] = field(default_factory=dict)  # what causes its next message
    received: dict[Message, int] = field(default_factory=dict)  # Rec(m), and when
    out: dict[tuple[str, str], list[Message]] = field(default_factory=dict)

    def snapshot(self, world: World) -> None:
        """Take a snapshot of the queues."""
        self.out = {}
        for link, frames in world.flight.items():
            for frame in frames:
                assert isinstance(frame, TreeMessage)
                self.out.setdefault(link, []).append((frame.source, int(frame.number)))

    def send(self, sender: str, number: int, to: str) -> None:
        """Snd(m, sender)."""
        known = self.known.setdefault(sender, set())
        self.dest[sender, number] = to
        self.past[sender, number] = known.copy()
        known.add((sender, number))

    def receive(self, message: Message) -> None:
        """Rec(m)."""
        self.received[message] = len(self.received)
        self.known.setdefault(self.dest[message], set()).update(self.past[message], {message})

    def queue_of(self, message: Message) -> tuple[str, str] | None:
        """The queue that a message is in; by definition 3.3 there is at most one."""
        matches = [link for link, queue in self.out.items() if message in queue]
        assert len(matches) <= 1, f"{message} is in {matches}"
        return matches[0] if matches else None

    def arrives_before(self, m: Message, n: Message, printed: bool = False) -> bool:
        """Figure 8: m arrives at its destination before n could.

        Two changes, both left out if `printed`. Case 5 as it is printed holds for all that is still on
        its way; here one of the two must have been received. And the figure forgets two messages in
        different out-queues of one node, as after two sends: they go apart for good (case 6).
        """
        here, there, dest = self.queue_of(m), self.queue_of(n), self.dest[m]
        if here is not None and here == there and self.out[here].index(m) < self.out[here].index(n):
            return True  # case 1; case 2 is about in-queues, which are empty here
        if here is not None and there is not None and here[0] != there[0]:
            path = self.tree.path(here[0], dest)
            longer = self.tree.path(there[0], dest)
            if len(longer) > len(path) and longer[-len(path) :] == path:
                return True  # case 3
        if dest != self.dest[n]:
            if m in self.received or n in self.received:
                return True  # case 4
        elif n not in self.received:
            if printed or m in self.received:
                return True  # case 5, nothing to compare yet
        elif m in self.received and self.received[m] < self.received[n]:
            return True  # case 5
        apart = here is not None and there is not None and here[0] == there[0] and here != there
        return apart and not printed  # case 6

    def problem(self, printed: bool = False) -> str:
        """Why the configuration is not consistent (definitions 3.4 and 3.8); empty if it is."""
        for (here, neighbour), queue in self.out.items():
            for m in queue:
                if self.tree.next(here, self.dest[m]) != neighbour:
                    return f"{m} to {self.dest[m]} waits at {here} to go to {neighbour}"
        for n, past in self.past.items():
            for m in past:
                if not self.arrives_before(m, n, printed):
                    return f"{m} causes {n}, but need not arrive before it"
        return ""


def consistent_run(seed: int, fifo: bool) -> tuple[str, int]:
    """The first problem of a random run of unicasts, and how many pairs were in flight together."""
    rng = random.Random(seed)
    tree = Tree(random_tree(rng, rng.randint(3, 7)))
    world = World({name: TreeCore(name, tree) for name in tree.names}, seed, fifo=fifo)
    configuration = Configuration(tree)
    flying = sends = 0
    while sends < 20 or world.flight:
        if sends < 20 and rng.random() < 0.4:
            sender, to = rng.sample(tree.names, 2)
            world.send(sender, to)
            configuration.send(sender, int(world.cores[sender].sent), to)
            sends += 1
        elif world.flight:
            before = {name: len(world.delivered[name]) for name in tree.names}
            world.step()
            for name in tree.names:
                for message in world.delivered[name][before[name] :]:
                    configuration.receive((message.sender, message.number))
        configuration.snapshot(world)
        flying += sum(len(queue) for queue in configuration.out.values()) > 1
        problem = configuration.problem()
        if problem:
            return f"seed {seed}: {problem}", flying
    return "", flying


def test_section_4_runs_stay_consistent() -> None:
    """After every step of random runs, whatever causes a message will arrive before it."""
    flying = 0
    for seed in range(40):
        problem, together = consistent_run(seed, fifo=True)
        assert not problem, problem
        flying += together
    assert flying > 400


def test_section_2_without_the_order_of_links_runs_become_inconsistent() -> None:
    """The one assumption of the paper, FIFO links as of TCP, is needed: without it the check fails."""
    broken = [consistent_run(seed, fifo=False)[0] for seed in range(20)]
    assert sum(bool(problem) for problem in broken) > 10, broken


def test_figure_8_forgets_messages_that_go_apart() -> None:
    """The smallest run: two sends in different directions. The printed cases do not relate them."""
    tree = Tree(FIGURE_2_LEFT)
    world = World({name: TreeCore(name, tree) for name in tree.names}, seed=0, fifo=True)
    configuration = Configuration(tree)
    for number, to in ((1, "bank"), (2, "shop")):
        world.send("customer", to)
        configuration.send("customer", number, to)
    configuration.snapshot(world)
    assert "need not arrive before" in configuration.problem(printed=True)
    assert configuration.problem() == ""
