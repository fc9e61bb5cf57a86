"""What the made-up outputs of `folders.py` are put together from: files as Spark leaves them, and rows.

Alice asks Bob and Carol, Bob answers to Carol, and in a run that is late Carol hears the answer first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PEOPLE = ("alice", "bob", "carol")
PROTOCOLS = ("hybrid", "fifo")
NETWORKS = ("lan", "wan")
WAVE = "00001-0123abcd"
MADE = {
    "command": "beforehand study --out study",
    "environment": {"beforehand": "0.1.0 (pure Python: no compiled cores)", "cores": "2"},
    "when": "2026-11-16T18:00:00+00:00",
}

Rows = Sequence[Mapping[str, Any]]


# ---- files ----


def write_table(folder: Path, rows: Rows, schema: pa.Schema, parts: int = 1) -> None:
    """A table in some files, with a checksum next to each, and the mark that it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(parts):
        name = f"part-{part:05}-0000-c000.snappy.parquet"
        mine = pa.Table.from_pylist([dict(row) for row in rows[part::parts]], schema=schema)
        pq.write_table(mine, folder / name)
        (folder / f".{name}.crc").write_bytes(b"crc")
    (folder / "_SUCCESS").touch()


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """A note, as `Storage.write_note` writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


# ---- rows ----


def run_name(protocol: str, network: str) -> str:
    """The name of the run of a protocol on a network."""
    return f"{PROTOCOLS.index(protocol)}{NETWORKS.index(network)}".rjust(16, "a")


def pairs() -> list[tuple[str, str]]:
    """Protocols and networks, in the order of a study."""
    return [(protocol, network) for network in NETWORKS for protocol in PROTOCOLS]


def made_up(schema: pa.Schema, index: int, **known: Any) -> dict[str, Any]:
    """A row whose numbers encode their position; texts are what is known, or none."""
    row: dict[str, Any] = dict.fromkeys(schema.names)
    for at, field in enumerate(schema):
        if pa.types.is_integer(field.type):
            row[field.name] = 1000 * (index + 1) + at
        elif pa.types.is_floating(field.type):
            row[field.name] = 1000 * (index + 1) + at + 0.1
    return row | known


def events(run: str, late: bool, people: Sequence[str] = PEOPLE) -> list[dict[str, Any]]:
    """The trace of a run; with `late`, Carol hears the answer first."""
    alice, bob, carol = people
    rows: list[dict[str, Any]] = []
    counts = dict.fromkeys(people, 0)

    def add(process: str, kind: str, sender: str, to: Iterable[str] | None = None) -> None:
        counts[process] += 1
        rows.append(
            {
                "run": run,
                "process": process,
                "seq": counts[process],
                "kind": kind,
                "sender": sender,
                "mid": 1,
                "to": None if to is None else list(to),
                "time_ns": 1000 * len(rows),
                "payload_bytes": 5,
                "meta_bytes": 2,
                "detail": "",
            }
        )

    add(alice, "send", alice, (bob, carol))
    add(alice, "release", alice, (bob,))
    add(alice, "release", alice, (carol,))
    for kind in ("receive", "deliver"):
        add(bob, kind, alice)
    for kind in ("send", "release"):
        add(bob, kind, bob, (carol,))
    for sender in (bob, alice) if late else (alice, bob):
        for kind in ("receive", "deliver"):
            add(carol, kind, sender)
    return rows


def broken(run: str, people: Sequence[str] = PEOPLE) -> dict[str, Any]:
    """The violation in a run where Carol hears the answer first."""
    alice, bob, carol = people
    chain = [f"{alice}#1", f"{bob}#1"]
    sentence = f"{carol} delivered {bob}#1 before {alice}#1, but {alice}#1 happened before {bob}#1."
    return {
        "run": run,
        "kind": "causal",
        "process": carol,
        "sender": alice,
        "mid": 1,
        "seq": 4,
        "early": chain[-1],
        "chain": chain,
        "sentence": sentence,
    }
