"""Ingest without Spark: the same readers and settlers, put together with sorted() and a dictionary."""

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
    """The tables as lists."""

    messages: list[Record]
    events: list[Record]
    rejects: list[Record]
    summary: Summary

    @property
    def file(self) -> FileCount:
        """The counts of the only file."""
        [found] = self.summary.files
        return found

    @property
    def after(self) -> dict[str, set[str]]:
        """What each message follows, by their ids."""
        return {each["id"]: set(each["after"]) for each in self.messages}

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """Position and reason of each rejected row."""
        return sorted((each["position"], each["reason"]) for each in self.rejects)

    def run(self, name: str) -> list[Record]:
        """The messages of one run."""
        return [each for each in self.messages if each["run"] == name]


def ingest_files(files: Mapping[str, bytes], options: Options | None = None) -> Ingested:
    """Ingest files by path and content. Every run must be fit for a replay, whatever was in them."""
    groups: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for path, content in files.items():
        for record in tasks.rows_of_file(path, content, options or Options()):
            whole = {"body": None, "reason": None, "rows": None, **record}
            groups[record["run"], record["group"]].append(whole)
    found: defaultdict[str, list[Record]] = defaultdict(list)
    order = ("part", "order", "file", "position")
    for (run, _), records in sorted(groups.items()):
        records.sort(key=lambda record: tuple(record[name] for name in order))
        for outcome in tasks.resolved(run, records):
            [(kind, value)] = outcome.items()
            found[kind].append(value)
    summary = summed((Tally(**each) for each in found["tally"]), files)
    for each in found["message"] + found["event"]:
        each["run"] = summary.names[each["run"]]
    result = Ingested(found["message"], found["event"], found["reject"], summary)
    for run_count in summary.runs:
        if run_count.messages:
            program_of(result.run(run_count.run))
    return result


def ingest_one(content: bytes | str, options: Options | None = None, name: str = "x") -> Ingested:
    """Ingest one file."""
    data = content.encode() if isinstance(content, str) else content
    return ingest_files({f"{FOLDER}/{name}": data}, options)


def ancestors(after: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    """All that each message follows, directly or not; slow and simple."""
    done: dict[str, frozenset[str]] = {}
    for name in after:
        stack = [name]
        while stack:
            missing = [each for each in after[stack[-1]] if each not in done]
            if missing:
                stack += missing
                continue
            top = stack.pop()
            done[top] = frozenset(after[top]).union(*(done[each] for each in after[top]))
    return done
