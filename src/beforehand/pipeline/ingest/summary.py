"""What an ingest has found: the counts of its files and of its runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from beforehand.pipeline.ingest.read.read import UNKNOWN
from beforehand.pipeline.ingest.run_names import names_of

# What is counted of the rows of a file, and of a run; flags are counted under names of their own.
ROWS, ACCEPTED, REJECTED, DUPLICATES, FLAGGED = (
    "rows",
    "accepted",
    "rejected",
    "duplicates",
    "flagged",
)
MESSAGES, EVENTS = "messages", "events"
FLAG: Final = "flag: "

VERSION: Final = 1  # of the note; grows when a reader of the old one would misunderstand it


class Tally(NamedTuple):
    """One count, of a file or of a run; several of the same are to be added up."""

    run: str  # its key, or empty
    file: str
    format: str
    what: str
    number: int
    note: str = ""


@dataclass(frozen=True)
class FileCount:
    """What became of the rows of a file."""

    file: str
    format: str
    rows: int
    accepted: int
    rejected: int
    duplicates: int
    flagged: int
    note: str


@dataclass(frozen=True, order=True)
class RunCount:
    """What a run holds."""

    run: str
    messages: int
    events: int


@dataclass(frozen=True)
class Summary:
    """The counts of all files and runs, and of what is odd in them."""

    files: tuple[FileCount, ...]
    runs: tuple[RunCount, ...]
    flags: dict[str, int]
    names: dict[str, str]  # the names of runs by their keys

    def total(self, what: str) -> int:
        """The sum over all files of `rows`, `accepted`, `rejected`, `duplicates` or `flagged`."""
        return sum(getattr(each, what) for each in self.files)

    def to_dict(self) -> dict[str, Any]:
        """For the note and for programs."""
        return {
            "version": VERSION,
            "formats": sorted({each.format for each in self.files} - {UNKNOWN}),
            **{what: self.total(what) for what in (ROWS, ACCEPTED, REJECTED, DUPLICATES, FLAGGED)},
            MESSAGES: sum(each.messages for each in self.runs),
            EVENTS: sum(each.events for each in self.runs),
            "flags": self.flags,
            "runs": [asdict(each) for each in self.runs],
            "files": [asdict(each) for each in self.files],
        }


def summed(tallies: Iterable[Tally], paths: Iterable[str]) -> Summary:
    """Add up; `paths` are the files that were to be read.

    Whatever happens, no file and no row may be missing: that would be an error in this program.
    """
    files: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    runs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    notes: dict[str, str] = {}
    flags: Counter[str] = Counter()
    for each in tallies:
        if each.what in (MESSAGES, EVENTS):
            runs[each.run][each.what] += each.number
            continue
        files[each.file, each.format][each.what] += each.number
        if each.what.startswith(FLAG):
            flags[each.what.removeprefix(FLAG)] += each.number
        if each.note:
            notes[each.file] = each.note
    counted = [_file(*key, counts, notes) for key, counts in sorted(files.items())]
    missing = set(paths) ^ {each.file for each in counted}
    assert not missing, f"files that were not read, or not asked for: {sorted(missing)[:5]}"
    names = names_of(runs)
    return Summary(
        tuple(counted),
        tuple(sorted(RunCount(names[key], c[MESSAGES], c[EVENTS]) for key, c in runs.items())),
        dict(sorted(flags.items())),
        names,
    )


def _file(file: str, format_name: str, counts: Counter[str], notes: dict[str, str]) -> FileCount:
    rows, accepted = counts[ROWS], counts[ACCEPTED]
    refused, copies = counts[REJECTED], counts[DUPLICATES]
    assert rows == accepted + refused + copies, (
        f"{file}: {rows} rows, but {accepted} accepted, {refused} rejected and {copies} duplicates"
    )
    note = notes.get(file, "")
    return FileCount(file, format_name, rows, accepted, refused, copies, counts[FLAGGED], note)
