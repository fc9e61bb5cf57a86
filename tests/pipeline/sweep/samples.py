"""A small workload to replay: requests and replies between services, as spans yield them."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.schemas import MESSAGES
from beforehand.results.layout import IngestFolder

Row = dict[str, Any]  # a row of the table MESSAGES


def calls(run: str, seed: int, requests: int = 6) -> list[Row]:
    """Requests that services forward to others, sequentially or concurrently, and their replies."""
    rng = random.Random(f"calls/{seed}")
    rows: list[Row] = []

    def send(sender: str, to: list[str], after: list[str], time: int, kind: str) -> str:
        name = f"m{len(rows):03}"
        rows.append(
            {
                "run": run,
                "id": name,
                "sender": sender,
                "to": to,
                "time_ns": time,
                "after": after,
                "payload_bytes": rng.choice([None, 10, 2000]),
                "kind": kind,
                "flags": [],
                "file": "calls",
                "position": len(rows) + 1,
            }
        )
        return name

    for number in range(requests):
        start = number * 3_000_000
        service, stores = f"s{rng.randrange(3)}", rng.sample(["db", "cache", "log"], 2)
        request = send("web", [service], [], start, "request")
        first = send(service, stores[:1], [request], start + 1_000_000, "request")
        answer = send(stores[0], [service], [first], start + 2_000_000, "reply")
        if rng.random() < 0.5:
            send(service, ["log", "web"], [answer], start + 2_500_000, "message")
        second = send(service, stores[1:], [answer], start + 4_000_000, "request")
        reply = send(stores[1], [service], [second], start + 5_000_000, "reply")
        send(service, ["web"], [answer, reply], start + 6_000_000, "reply")
    return rows


def write(engine: PipelineEngine, folder: str, rows: list[Row]) -> None:
    """Write the messages in the layout of an ingest folder."""
    messages = engine.table(pa.Table.from_pylist(rows, MESSAGES))
    messages.write(f"{folder}/{IngestFolder.MESSAGES}")
    engine.storage.write_note(folder, IngestFolder.NOTE, {"events": 0})
