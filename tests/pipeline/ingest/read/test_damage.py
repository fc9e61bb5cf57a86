"""Random damage: whatever a file contains, rows add up and messages can be replayed."""

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
SNIPPETS = (
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
    """The data after a few cuts, swaps, repetitions and insertions."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:a] + rng.choice(SNIPPETS) + data[a:]
        elif kind == 1:
            data = data[:a] + data[min(b, a + 8) :]
        elif kind == 2:
            data = data[:b] + data[a : min(b, a + 300)] + data[b:]
        elif kind == 3 and data:
            offset = min(a, len(data) - 1)
            data = data[:offset] + bytes([rng.randrange(256)]) + data[offset + 1 :]
        elif kind == 4:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
    return data


def check(ingested: Ingested, seed: int) -> None:
    """No reader failed and ids are unique; `ingest_one` has checked the sums and the programs."""
    assert not any("the reader failed" in reason for _, reason in ingested.reasons), (
        f"seed {seed}: {ingested.reasons}"
    )
    ids = [(message["run"], message["id"]) for message in ingested.messages]
    assert len(set(ids)) == len(ids), f"seed {seed}"


def mutated(value: Any, rng: random.Random) -> Any:
    """A JSON value in which something has another type, is missing, or is repeated."""
    if rng.random() < 0.15 or not isinstance(value, (list, dict)) or not value:
        return rng.choice(VALUES)
    if isinstance(value, list):
        index = rng.randrange(len(value))
        replacement = [mutated(value[index], rng)] if rng.random() < 0.8 else [value[index]] * 2
        return [*value[:index], *replacement, *value[index + 1 :]]
    name = rng.choice(list(value))
    if rng.random() < 0.2:
        return {key: field for key, field in value.items() if key != name}
    return {**value, name: mutated(value[name], rng)}


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_of_every_format(name: str) -> None:
    """Also read in other formats; some damage is noticed, and some files survive."""
    rejected = accepted = 0
    for seed in range(200):
        rng = random.Random(f"{name} {seed}")
        content = damaged(SAMPLES[name].encode() * (1 if name in DOCUMENTS else 2), rng)
        if rng.random() < 0.1:
            content = damaged(gzip.compress(content), rng)
        options = Options(format=rng.choice(["auto", "auto", name, rng.choice(FORMATS)]))
        ingested = ingest_one(content, options)
        check(ingested, seed)
        rejected += ingested.file.rejected > 0
        accepted += ingested.file.accepted > 0
    assert rejected > 20 and accepted > 5


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_with_unexpected_values(name: str) -> None:
    """Wrong types, missing and repeated fields are rejected or ignored, never an exception."""
    rejected = accepted = 0
    for seed in range(300):
        value = json.loads(SAMPLES[name])
        rng = random.Random(f"{name} {seed}")
        for _ in range(rng.randint(1, 3)):
            value = mutated(value, rng)
        ingested = ingest_one(json.dumps(value), Options(format=name))
        check(ingested, seed)
        rejected += ingested.file.rejected > 0
        accepted += ingested.file.accepted > 0
    assert rejected > 50 and accepted > 50
