"""The built-in workload: its properties, and that it can be replayed."""

from __future__ import annotations

from collections import Counter
from statistics import median

import pytest

from beforehand.pipeline.study.shop_workload import CUSTOMERS, WEB, generate
from beforehand.simulator import Program
from beforehand.simulator.program import Send

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_a_valid_program(seed: int) -> None:
    """Every cause exists and is known to its sender, and there are no cycles."""
    rows = generate(seed)
    sends = (Send(r["id"], r["sender"], tuple(r["to"]), tuple(r["after"])) for r in rows)
    program = Program(sends)
    assert 1_000 < len(program.sends) < 2_500
    assert len(program.processes) == 16


@pytest.mark.parametrize("seed", SEEDS)
def test_it_has_fan_out_replies_and_hot_spots(seed: int) -> None:
    """Every request is answered, some messages are multicast, and some services receive far more."""
    rows = generate(seed)
    kinds = Counter(row["kind"] for row in rows)
    assert kinds["request"] == kinds["reply"] > 500
    assert any(len(row["to"]) > 2 for row in rows)
    received = Counter(name for row in rows for name in row["to"])
    assert {*WEB, CUSTOMERS, "stock"} <= set(received)
    assert received.most_common(1)[0][1] > 2.5 * median(received.values())


def test_causes_are_sent_first() -> None:
    """Its clocks are right: no message is sent before its causes."""
    times: dict[str, int] = {}
    for row in generate(1):
        assert all(times[cause] <= row["time_ns"] for cause in row["after"])
        times[row["id"]] = row["time_ns"]


def test_the_seed_determines_the_workload() -> None:
    """Equal seeds give equal workloads, different seeds different ones."""
    assert generate(7) == generate(7) != generate(8)
