"""Small message tables, made by hand and from seeds, as rows of the schema MESSAGES."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

MS = 10**6


def message(
    name: str,
    sender: str,
    to: str | Iterable[str],
    after: Iterable[str] = (),
    *,
    run: str = "r",
    time_ns: int = 0,
    kind: str = "message",
    payload_bytes: int | None = None,
    flags: Iterable[str] = (),
) -> dict[str, Any]:
    """A row of the table."""
    return {
        "run": run,
        "id": name,
        "sender": sender,
        "to": [to] if isinstance(to, str) else list(to),
        "time_ns": time_ns,
        "after": list(after),
        "payload_bytes": payload_bytes,
        "kind": kind,
        "flags": list(flags),
        "file": "by hand",
        "position": 1,
    }


def shop() -> list[dict[str, Any]]:
    """A customer asks a shop, which asks a bank and then a store, and answers."""
    return [
        message("m1", "customer", "shop", time_ns=0, payload_bytes=10, kind="request"),
        message("m2", "shop", "bank", ["m1"], time_ns=10 * MS, payload_bytes=20, kind="request"),
        message("m3", "bank", "shop", ["m2"], time_ns=20 * MS, kind="reply"),
        message("m4", "shop", "store", ["m3"], time_ns=30 * MS, payload_bytes=30, kind="request"),
        message("m5", "store", "shop", ["m4"], time_ns=25 * MS, flags=["clock skew"], kind="reply"),
        message("m6", "shop", "customer", ["m5"], time_ns=50 * MS, kind="reply"),
        message("m7", "store", ["bank", "shop"], time_ns=60 * MS, payload_bytes=40),
    ]


def random_messages(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Messages between a few processes, each after some that its sender knows; rows are shuffled."""
    rng = Random(seed)
    names = ["a", "b", "c", "d"]
    known: dict[str, list[str]] = {name: [] for name in names}
    rows = []
    for number in range(count):
        sender = rng.choice(names)
        to = rng.sample(names, rng.randint(1, 2))
        seen = known[sender]
        after = sorted(set(rng.choices(seen, k=rng.randint(0, 3)))) if seen else []
        rows.append(message(f"m{number}", sender, to, after, time_ns=rng.randrange(100 * MS)))
        for name in {sender, *to}:
            known[name].append(f"m{number}")
    rng.shuffle(rows)
    yield from rows
