"""Building blocks of the sample outputs in `folders.py`: files in the format of Spark, and their rows.

Alice sends a question to Bob and Carol, and Bob an answer to Carol; in a late run, Carol delivers the
answer first.
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
    """Write a table as Spark does: part files with checksums, and the success marker."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(parts):
        name = f"part-{part:05}-0000-c000.snappy.parquet"
        table = pa.Table.from_pylist([dict(row) for row in rows[part::parts]], schema=schema)
        pq.write_table(table, folder / name)
        (folder / f".{name}.crc").write_bytes(b"crc")
    (folder / "_SUCCESS").touch()


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """Write a note as `Storage.write_note` does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


# ---- rows ----


def run_name(protocol: str, network: str) -> str:
    """Return the name of the run of a protocol on a network."""
    return f"{PROTOCOLS.index(protocol)}{NETWORKS.index(network)}".rjust(16, "a")


def pairs() -> list[tuple[str, str]]:
    """Return protocols and networks, in the order of a study."""
    return [(protocol, network) for network in NETWORKS for protocol in PROTOCOLS]


def sample_row(schema: pa.Schema, index: int, **known: Any) -> dict[str, Any]:
    """Return a row whose numbers encode their position; texts are null unless given."""
    row: dict[str, Any] = dict.fromkeys(schema.names)
    for column, field in enumerate(schema):
        if pa.types.is_integer(field.type):
            row[field.name] = 1000 * (index + 1) + column
        elif pa.types.is_floating(field.type):
            row[field.name] = 1000 * (index + 1) + column + 0.1
    return row | known


def events(run: str, late: bool, people: Sequence[str] = PEOPLE) -> list[dict[str, Any]]:
    """Return the trace of a run; if it is late, Carol delivers the answer first."""
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
    """Return the violation of a late run."""
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
