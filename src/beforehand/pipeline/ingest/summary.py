"""The summary of an ingest: the counts of its files and of its runs."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from beforehand.pipeline.ingest.read.read import UNKNOWN
from beforehand.pipeline.ingest.run_names import names_of

# What is counted per file, and per run; each flag is counted under its own name.
PER_FILE: Final = ("rows", "accepted", "rejected", "duplicates", "flagged")
ROWS, ACCEPTED, REJECTED, DUPLICATES, FLAGGED = PER_FILE
MESSAGES, EVENTS = "messages", "events"
FLAG: Final = "flag: "

VERSION: Final = 1  # of the note; raised when older readers would misread it


class Tally(NamedTuple):
    """One count, of a file or of a run; equal ones are added up."""

    run: str  # its key, or empty
    file: str
    format: str
    what: str
    number: int
    note: str = ""


@dataclass(frozen=True)
class FileCount:
    """The outcome for the rows of a file."""

    file: str
    format: str
    rows: int
    accepted: int
    rejected: int = 0
    duplicates: int = 0
    flagged: int = 0
    note: str = ""


@dataclass(frozen=True, order=True)
class RunCount:
    """The size of a run."""

    run: str
    messages: int
    events: int


@dataclass(frozen=True)
class Summary:
    """The counts of all files and runs, and of their flags."""

    files: tuple[FileCount, ...]
    runs: tuple[RunCount, ...]
    flags: dict[str, int]
    names: dict[str, str]  # the names of runs by their keys

    def total(self, what: str) -> int:
        """The sum over all files of one of PER_FILE."""
        return sum(getattr(file, what) for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """The content of the note, and of machine-readable output."""
        return {
            "version": VERSION,
            "formats": sorted({file.format for file in self.files} - {UNKNOWN}),
            **{what: self.total(what) for what in PER_FILE},
            MESSAGES: sum(run.messages for run in self.runs),
            EVENTS: sum(run.events for run in self.runs),
            "flags": self.flags,
            "runs": [asdict(run) for run in self.runs],
            "files": [asdict(file) for file in self.files],
        }


def summed(tallies: Iterable[Tally]) -> Summary:
    """Add up the tallies. No row may be unaccounted for: that would be a bug."""
    files: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    runs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    notes: dict[str, str] = {}
    flags: Counter[str] = Counter()
    for tally in tallies:
        if tally.what in (MESSAGES, EVENTS):
            runs[tally.run][tally.what] += tally.number
            continue
        files[tally.file, tally.format][tally.what] += tally.number
        if tally.what.startswith(FLAG):
            flags[tally.what.removeprefix(FLAG)] += tally.number
        if tally.note:
            notes[tally.file] = tally.note
    counted = [_file(*key, counts, notes) for key, counts in sorted(files.items())]
    names = names_of(runs)
    return Summary(
        tuple(counted),
        tuple(sorted(RunCount(names[key], c[MESSAGES], c[EVENTS]) for key, c in runs.items())),
        dict(sorted(flags.items())),
        names,
    )


def _file(file: str, format_name: str, counts: Counter[str], notes: dict[str, str]) -> FileCount:
    numbers = {what: counts[what] for what in PER_FILE}
    count = FileCount(file, format_name, note=notes.get(file, ""), **numbers)
    assert count.rows == count.accepted + count.rejected + count.duplicates, f"rows lost: {count}"
    return count
