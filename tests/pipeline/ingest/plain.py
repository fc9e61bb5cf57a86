"""Ingest without an engine: the same readers and resolvers, combined with sorted() and a dictionary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beforehand.pipeline.ingest import tasks
from beforehand.pipeline.ingest.read.options import Options
from beforehand.pipeline.ingest.summary import FileCount, Summary, Tally, summed
from beforehand.pipeline.replay import program_of

FOLDER = "file:/data"
REAL = Path(__file__).parents[4] / "shared" / "traces"
NO_REAL = f"the real traces are not here ({REAL})"

Record = dict[str, Any]


@dataclass
class Ingested:
    """The ingested tables as lists."""

    messages: list[Record]
    events: list[Record]
    rejects: list[Record]
    summary: Summary

    @property
    def file(self) -> FileCount:
        """The counts of the only file."""
        [counts] = self.summary.files
        return counts

    @property
    def after(self) -> dict[str, set[str]]:
        """The ids of the messages that each message follows."""
        return {message["id"]: set(message["after"]) for message in self.messages}

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """Position and reason of each rejected row."""
        return sorted((reject["position"], reject["reason"]) for reject in self.rejects)

    def run(self, name: str) -> list[Record]:
        """The messages of one run."""
        return [message for message in self.messages if message["run"] == name]


def ingest_files(files: Mapping[str, bytes], options: Options | None = None) -> Ingested:
    """Ingest files by path and content. Every resulting run must be replayable, whatever the input."""
    records = [
        {"body": None, "reason": None, "rows": None, **record}
        for path, content in files.items()
        for record in tasks.rows_of_file(path, content, options or Options())
    ]
    order = ("run", "group", "part", "order", "file", "position")
    records.sort(key=lambda record: tuple(record[name] for name in order))
    outcomes: defaultdict[str, list[Record]] = defaultdict(list)
    for outcome in tasks.resolved(records):
        [(kind, value)] = outcome.items()
        outcomes[kind].append(value)
    summary = summed(Tally(**tally) for tally in outcomes["tally"])
    assert {file.file for file in summary.files} == set(files)
    for row in outcomes["message"] + outcomes["event"]:
        row["run"] = summary.names[row["run"]]
    result = Ingested(outcomes["message"], outcomes["event"], outcomes["reject"], summary)
    for run_count in summary.runs:
        if run_count.messages:
            program_of(result.run(run_count.run))
    return result


def ingest_one(content: bytes | str, options: Options | None = None, name: str = "x") -> Ingested:
    """Ingest a single file."""
    data = content.encode() if isinstance(content, str) else content
    return ingest_files({f"{FOLDER}/{name}": data}, options)


def ancestors(after: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    """All messages that each message follows, directly or not; slow and simple."""
    closed: dict[str, frozenset[str]] = {}
    for name in after:
        stack = [name]
        while stack:
            missing = [cause for cause in after[stack[-1]] if cause not in closed]
            if missing:
                stack += missing
                continue
            top = stack.pop()
            closed[top] = frozenset(after[top]).union(*(closed[cause] for cause in after[top]))
    return closed
