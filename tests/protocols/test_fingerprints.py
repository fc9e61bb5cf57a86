"""Fingerprints: equal ones have equal futures, and what makes a difference shows in them.

The checker takes two cores with the same fingerprint for one. So cores that come to the same fingerprint
by different histories are given every possible input, and must answer alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from beforehand import protocols
from beforehand.errors import BeforehandError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.reliable import ReliableLink
from tests.support.groups import core_of

NAMES = ["a", "b", "c"]
Frames = list[tuple[str, Frame]]  # sender, frame


def answers(core: Core, frames: Frames) -> Iterator[object]:
    """What a core does on every input that it could get now, and where that leads."""
    for sender, frame in frames:
        yield _answer(core, "receive", sender, frame)
    for to in NAMES:
        yield _answer(core, "send", to, b"")
        yield _answer(core, "drop", to)
    yield _answer(core, "send", None, b"")
    yield _answer(core, "tick")
    yield [(held.sender, held.message_id, held.receivers, held.waits) for held in core.held()]
    yield core.integers()


def _answer(core: Core, method: str, *arguments: object) -> object:
    twin = core.copy()
    try:
        effects = getattr(twin, method)(*arguments)
    except BeforehandError as error:
        return str(error)
    # The order in which frames leave to different receivers is nothing that anybody could see.
    frames: dict[str, list[Frame]] = {}
    for effect in effects:
        if isinstance(effect, Transmit):
            frames.setdefault(effect.to, []).append(effect.frame)
    deliveries = [effect for effect in effects if isinstance(effect, Deliver)]
    return frames, deliveries, twin.fingerprint()


def create(name: str, process: str) -> Core:
    """A core of a protocol, or of raw in a link."""
    if name == "link":
        return ReliableLink(protocols.create("raw", process))
    return core_of(name, process, NAMES)


def histories(name: str, seed: int) -> Iterator[tuple[Core, Frames]]:
    """The core of b, and frames that may come to it, after each step of a short random run."""
    rng = random.Random(seed)
    cores = {process: create(name, process) for process in NAMES}
    description = protocols.describe("raw" if name == "link" else name)
    seen: Frames = []  # everything ever sent to b: with repetition, loss and reordering
    flight: list[tuple[str, str, Frame]] = []
    for _ in range(rng.randint(1, 14)):
        if flight and rng.random() < 0.6:
            index = rng.randrange(len(flight))
            if description.fifo_links:
                index = [entry[:2] for entry in flight].index(flight[index][:2])
            sender, receiver, frame = flight.pop(index)
            effects = cores[receiver].receive(sender, frame)
            actor = receiver
        elif description.timer and rng.random() < 0.4:
            actor = rng.choice(NAMES)
            effects = cores[actor].tick()
        else:
            actor = rng.choice(NAMES)
            to = rng.choice([p for p in NAMES if p != actor])
            effects = cores[actor].send(to if "unicast" in description.casts else None, b"")
        for effect in effects:
            if isinstance(effect, Transmit):
                flight.append((actor, effect.to, effect.frame))
                if effect.to == "b":
                    seen.append((actor, effect.frame))
        yield cores["b"].copy(), seen.copy()


@pytest.mark.parametrize("name", [*protocols.names(), "link"])
def test_equal_fingerprints_have_equal_futures(name: str) -> None:
    """Whatever comes next, both do the same and end alike."""
    known: dict[object, tuple[Core, Frames, int]] = {}
    met = 0
    for seed in range(250):
        for core, frames in histories(name, seed):
            fingerprint = core.fingerprint()
            if fingerprint not in known:
                known[fingerprint] = (core, frames, seed)
                continue
            other, others, first = known[fingerprint]
            met += first != seed
            probes = frames + others
            for one, two in zip(answers(core, probes), answers(other, probes), strict=True):
                assert one == two, f"seeds {first} and {seed}"
    assert met > 100 and len(known) > 5, (met, len(known))
