"""Small tables of messages, by hand and from seeds, as rows of the schema MESSAGES."""

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
    """One row."""
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
    """A customer asks a shop, which asks a bank and a store, one after the other, and answers."""
    return [
        message("m1", "customer", "shop", time_ns=0, payload_bytes=10, kind="request"),
        message("m2", "shop", "bank", ["m1"], time_ns=10 * MS, payload_bytes=20, kind="request"),
        message("m3", "bank", "shop", ["m2"], time_ns=20 * MS, kind="reply"),
        message("m4", "shop", "store", ["m3"], time_ns=30 * MS, payload_bytes=30, kind="request"),
        message("m5", "store", "shop", ["m4"], time_ns=25 * MS, flags=["clock skew"], kind="reply"),
        message("m6", "shop", "customer", ["m5"], time_ns=50 * MS, kind="reply"),
        message("m7", "store", ["bank", "shop"], time_ns=60 * MS, payload_bytes=40),
    ]


def at_random(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Messages between few processes, each after some that its sender knows; in any order."""
    chance = Random(seed)
    names = ["a", "b", "c", "d"]
    known: dict[str, list[str]] = {name: [] for name in names}
    rows = []
    for number in range(count):
        sender = chance.choice(names)
        to = chance.sample(names, chance.randint(1, 2))
        seen = known[sender]
        after = sorted(set(chance.choices(seen, k=chance.randint(0, 3)))) if seen else []
        rows.append(message(f"m{number}", sender, to, after, time_ns=chance.randrange(100 * MS)))
        for name in {sender, *to}:
            known[name].append(f"m{number}")
    chance.shuffle(rows)
    yield from rows
