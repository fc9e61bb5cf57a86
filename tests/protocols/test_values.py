"""Frames, effects and the entries of `held` are plain values, in both builds."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from beforehand.protocols.effects import Deliver, Held, Transmit, Wait
from beforehand.protocols.fence import Fenced
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage
from beforehand.protocols.reliable import Segment

VALUES = [
    HybridMessage(3, 1, True, (b"x", b"")),
    Fenced(0, ("dead",), 2, HybridAck(7)),
    Segment(4, Fenced(1, (), 0, HybridAck(1))),
    Transmit("b", HybridAck(1)),
    Deliver("a", 5, b"payload"),
    Wait("permit", "a", 3),
    Held("a", 3, ("b", "c"), 17, (Wait("permit", "x", 1),)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_can_be_pickled_copied_and_compared(value: object) -> None:
    """Other processes, and Spark tasks, get equal values; equal values have equal hashes."""
    for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert twin == value and hash(twin) == hash(value) and repr(twin) == repr(value)
        assert type(twin) is type(value)


def test_values_of_different_kinds_differ() -> None:
    """Neither the class nor any field is ignored."""
    assert len({*VALUES}) == len(VALUES)
    assert HybridAck(1) != HybridAck(2)
    assert HybridMessage(3, 1, True, (b"x",)) != HybridMessage(3, 1, False, (b"x",))
    assert Transmit("b", HybridAck(1)) != Transmit("c", HybridAck(1))
    assert Deliver("a", 5, b"x") != Deliver("a", 5, b"y")


def test_values_deep_inside_other_objects_are_freed_cleanly() -> None:
    """A long chain of tuples around frames must not corrupt memory when it goes away.

    Compiled classes without a garbage collector header did (mypyc's `acyclic`): a segmentation fault,
    hence the process of its own.
    """
    program = """
from beforehand.protocols.effects import Deliver
from beforehand.protocols.hybrid.frames import HybridAck
for _ in range(200):
    chain = None
    for number in range(200):
        chain = (chain, HybridAck(number), Deliver("a", number, b""))
    del chain
    others = [(number,) for number in range(1000)]
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
