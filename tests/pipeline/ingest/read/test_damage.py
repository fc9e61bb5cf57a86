"""Damage of all kinds, from seeds: whatever is in a file, rows add up and messages can be replayed."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest

from beforehand.pipeline.ingest.read.options import FORMATS, Options
from tests.pipeline.ingest.plain import Ingested, ingest_one
from tests.pipeline.ingest.read.test_bad_files import SAMPLES

DOCUMENTS = ("otlp", "jaeger", "zipkin", "graph")
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7,
    2**70,
    1.5,
    "",
    "x",
    "\ud800",
    "é" * 200,
    [],
    [1],
    {},
    {"a": 1},
    [[]],
)
WORDS = (
    b"\0",
    b"\xff",
    b"null",
    b"-1",
    b"1e400",
    b"[",
    b"}",
    b'"',
    b",",
    b"\n",
    b"9" * 25,
    b"true",
    b"{}",
)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A few cuts, swaps, repetitions and insertions."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:a] + rng.choice(WORDS) + data[a:]
        elif kind == 1:
            data = data[:a] + data[min(b, a + 8) :]
        elif kind == 2:
            data = data[:b] + data[a : min(b, a + 300)] + data[b:]
        elif kind == 3 and data:
            place = min(a, len(data) - 1)
            data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
        elif kind == 4:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
    return data


def check(found: Ingested, seed: int) -> None:
    """`ingest_one` has checked the sums, and that every run makes a program."""
    assert not any("the reader failed" in reason for _, reason in found.reasons), (
        f"seed {seed}: {found.reasons}"
    )
    ids = [(each["run"], each["id"]) for each in found.messages]
    assert len(set(ids)) == len(ids), f"seed {seed}"


def disturbed(value: Any, rng: random.Random) -> Any:
    """A JSON value in which something has another type, or is gone, or is there twice."""
    if rng.random() < 0.15 or not isinstance(value, (list, dict)) or not value:
        return rng.choice(VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        inside = [disturbed(value[place], rng)] if rng.random() < 0.8 else [value[place]] * 2
        return [*value[:place], *inside, *value[place + 1 :]]
    name = rng.choice(list(value))
    if rng.random() < 0.2:
        return {key: each for key, each in value.items() if key != name}
    return {**value, name: disturbed(value[name], rng)}


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_of_every_format(name: str) -> None:
    """Also read as what they are not; some damage is noticed, and some files survive."""
    rejected = accepted = 0
    for seed in range(200):
        rng = random.Random(f"{name} {seed}")
        content = damaged(SAMPLES[name].encode() * (1 if name in DOCUMENTS else 2), rng)
        if rng.random() < 0.1:
            content = damaged(gzip.compress(content), rng)
        options = Options(format=rng.choice(["auto", "auto", name, rng.choice(FORMATS)]))
        found = ingest_one(content, options)
        check(found, seed)
        rejected += found.file.rejected > 0
        accepted += found.file.accepted > 0
    assert rejected > 20 and accepted > 5


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_with_other_values_than_expected(name: str) -> None:
    """Types, missing fields, repetitions: each is a reject or passed over, and none is an exception."""
    rejected = accepted = 0
    for seed in range(300):
        value = json.loads(SAMPLES[name])
        rng = random.Random(f"{name} {seed}")
        for _ in range(rng.randint(1, 3)):
            value = disturbed(value, rng)
        found = ingest_one(json.dumps(value), Options(format=name))
        check(found, seed)
        rejected += found.file.rejected > 0
        accepted += found.file.accepted > 0
    assert rejected > 50 and accepted > 50
