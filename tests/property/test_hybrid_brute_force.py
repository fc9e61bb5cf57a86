"""The hybrids against brute force: every release, flag and permit at exactly the first step allowed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand._build import is_compiled
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.sps import HybridSps
from tests.support.brute import BruteForce
from tests.support.network import World

# For each variant, fewer on pure cores, which are slower; `make slow` runs twenty times as many.
SCHEDULES = 1_500 if is_compiled() else 500
RULES = {"csps": Hybrid, "sps": HybridSps}


class Watched(World):
    """A reliable, reordering world in which brute force follows every process."""

    def __init__(self, rule: str, seed: int) -> None:
        size = random.Random(seed).randint(2, 6)
        cores: dict[str, Core] = {name: RULES[rule](name) for name in "abcdef"[:size]}
        super().__init__(cores, seed)
        self.brute = {name: BruteForce(rule) for name in cores}
        self.flags: dict[tuple[str, int, str], bool] = {}
        self.permitted: dict[tuple[str, str], int] = {}
        self.seen: Counter[str] = Counter()

    def send_somewhere(self) -> None:
        """A random process causal-sends a random number of messages to a random set."""
        process = self.random.choice(list(self.cores))
        others = [name for name in self.cores if name != process]
        most = self.random.choice([1, 1, len(others)])
        receivers = self.random.sample(others, self.random.randint(1, most))
        count = self.random.choice([1, 1, 1, 3])
        effects = self.send(process, receivers, count=count)
        self.brute[process].causal_send(receivers, count)
        self.compare(process, effects)

    def arrive_somewhere(self) -> None:
        """A random frame arrives."""
        link = self.random.choice(list(self.flight))
        index = self.random.randrange(len(self.flight[link]))
        frame = self.flight[link][index]
        effects = self.arrive(link, index)
        sender, process = link
        brute = self.brute[process]
        for effect in effects:
            if isinstance(effect, Deliver):
                flagged = self.flags[effect.sender, int(effect.message_id), process]
                brute.delivered(effect.sender, int(effect.message_id), flagged)
        if isinstance(frame, HybridAck):
            brute.ack(sender, int(frame.upto))
        elif isinstance(frame, HybridPermit):
            brute.permit(sender, int(frame.upto))
        self.compare(process, effects)

    def compare(self, process: str, effects: list[Effect]) -> None:
        """What the core has released, flagged and permitted so far equals what brute force computes."""
        for effect in effects:
            if isinstance(effect, Transmit) and isinstance(effect.frame, HybridMessage):
                frame = effect.frame
                self.seen["flagged" if frame.flagged else "plain"] += len(frame.payloads)
                for mid in range(int(frame.first), int(frame.first) + len(frame.payloads)):
                    self.flags[process, mid, effect.to] = frame.flagged
            elif isinstance(effect, Transmit) and isinstance(effect.frame, HybridPermit):
                self.seen["permit"] += 1
                self.permitted[process, effect.to] = int(effect.frame.upto)
        brute = self.brute[process]
        released = {(mid, to): flag for (p, mid, to), flag in self.flags.items() if p == process}
        assert released == brute.released, f"releases at {process}: {self.about()}"
        granted = {
            (mid, to)
            for (mid, to), flag in released.items()
            if flag and mid <= self.permitted.get((process, to), 0)
        }
        assert granted == brute.granted, f"permits at {process}: {self.about()}"
        self.seen["held"] += sum(1 for held in self.cores[process].held() if held.sender == process)


def run(rule: str, seed: int) -> Counter[str]:
    """One random schedule, compared after every single event."""
    world = Watched(rule, seed)
    sends = world.random.randint(5, 30)
    hurry = world.random.choice([0.1, 0.3, 0.5])
    while sends or world.flight:
        if sends and (not world.flight or world.random.random() < hurry):
            world.send_somewhere()
            sends -= 1
        else:
            world.arrive_somewhere()
    world.assert_causal_and_complete()
    assert not any(core.held() for core in world.cores.values()), world.about()
    world.seen["reordered"] += world.reordered
    return world.seen


def explore(rule: str, seeds: range) -> None:
    """Many schedules; and the interesting things must have happened in them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen += run(rule, seed)
    for event in ("flagged", "plain", "permit", "held", "reordered"):
        assert seen[event] > len(seeds), f"{event} hardly ever happened: {seen}"


@pytest.mark.parametrize("rule", ["csps", "sps"])
def test_each_step_is_the_first_allowed(rule: str) -> None:
    """On thousands of reliable, reordering schedules nothing goes a step too early or too late."""
    explore(rule, range(SCHEDULES))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["csps", "sps"])
def test_each_step_is_the_first_allowed_on_many_more_schedules(rule: str) -> None:
    """The same on twenty times as many schedules."""
    explore(rule, range(SCHEDULES, 21 * SCHEDULES))
