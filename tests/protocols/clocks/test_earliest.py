"""`rst` and `ks` deliver at the same, earliest possible step; `ks` does it with less metadata.

Compared with an omniscient receiver (`tests/support/causal.py`), which delivers a message as soon as
all that precede it and go there have been delivered.
"""

from __future__ import annotations

import random

import pytest

from beforehand import protocols
from beforehand.protocols.clocks.ks import KsMessage
from beforehand.protocols.clocks.ks_log import identifiers
from beforehand.protocols.clocks.rst import RstMessage
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Transmit
from beforehand.protocols.frames import Frame
from tests.support.causal import Omniscient

Flight = tuple[str, str, int, dict[str, Frame]]  # from, to, number, the frame of each protocol


def metadata(frame: Frame) -> int:
    """Integers and identifiers of causality that a frame carries."""
    if isinstance(frame, RstMessage):
        return sum(len(row) for row in frame.matrix)
    assert isinstance(frame, KsMessage)
    return identifiers(frame.log)


def run(seed: int, size: int, sends: int, multicast: float) -> tuple[dict[str, int], int, int]:
    """Play one random schedule with both protocols and the omniscient receiver, step by step.

    Returns the metadata sent by each protocol, and how many arrivals had to wait and did not.
    """
    rng = random.Random(seed)
    names = [f"p{index}" for index in range(size)]
    cores: dict[str, dict[str, Core]] = {
        protocol: {name: protocols.create(protocol, name, processes=names) for name in names}
        for protocol in ("rst", "ks")
    }
    truth = Omniscient(names)
    flight: list[Flight] = []
    carried = {"rst": 0, "ks": 0}
    waited = at_once = 0
    while sends or flight:
        if sends and (not flight or rng.random() < 0.35):
            sends -= 1
            sender = rng.choice(names)
            others = [name for name in names if name != sender]
            most = len(others) if rng.random() < multicast else 1
            receivers = rng.sample(others, rng.randint(1, most))
            frames: dict[str, dict[str, Frame]] = {receiver: {} for receiver in receivers}
            for protocol, members in cores.items():
                for effect in members[sender].send(receivers, b""):
                    assert isinstance(effect, Transmit)
                    frames[effect.to][protocol] = effect.frame
                    carried[protocol] += metadata(effect.frame)
            number = int(cores["ks"][sender].sent)
            truth.send((sender, number), receivers)
            flight += [(sender, receiver, number, frames[receiver]) for receiver in receivers]
        else:
            sender, receiver, number, both = flight.pop(rng.randrange(len(flight)))
            expected = set(truth.arrive(receiver, (sender, number)))
            for protocol, frame in both.items():
                effects = cores[protocol][receiver].receive(sender, frame)
                delivered = [
                    (e.sender, int(e.message_id)) for e in effects if isinstance(e, Deliver)
                ]
                assert len(delivered) == len(set(delivered)), f"{protocol}, seed {seed}"
                assert set(delivered) == expected, f"{protocol} at {receiver}, seed {seed}"
                assert len(cores[protocol][receiver].held()) == len(truth.waiting[receiver])
            at_once += bool(expected)
            waited += not expected
    return carried, waited, at_once


def test_both_deliver_at_the_earliest_possible_step() -> None:
    """On thousands of random schedules without FIFO links, unicast and multicast."""
    waited = at_once = 0
    for seed in range(2_000):
        _, late, early = run(seed, size=2 + seed % 4, sends=4 + seed % 12, multicast=seed % 3 / 2)
        waited += late
        at_once += early
    assert waited > 2_000 and at_once > 2_000, (waited, at_once)


@pytest.mark.slow
def test_both_deliver_at_the_earliest_possible_step_at_length() -> None:
    """The same with more processes and longer runs."""
    for seed in range(2_000):
        run(seed, size=2 + seed % 7, sends=40, multicast=seed % 3 / 2)


@pytest.mark.parametrize(("size", "most"), [(10, 0.95), (20, 0.6)])
def test_ks_carries_less_than_rst(size: int, most: float) -> None:
    """The log stays well below n * n, and the share shrinks as n grows (uniform unicast)."""
    for seed in range(3):
        carried, _, _ = run(seed, size, sends=20 * size, multicast=0.0)
        share = carried["ks"] / carried["rst"]
        assert 0.01 < share < most, f"seed {seed}: {share:.2f} of n * n"
