"""The stages of ingest: files -> rows -> outcomes -> tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import pyarrow as pa

from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.engine.batches import replaced, unnested
from beforehand.pipeline.ingest import tasks
from beforehand.pipeline.ingest.read.options import Options
from beforehand.pipeline.schemas import EVENTS, MESSAGES, REJECTS, one_of
from beforehand.pipeline.storage import File
from beforehand.results.schema import Schema, integer, optional, text

# A row of a file, to be resolved with the others of its run and group; or a rejected row with its
# reason; or the end of a file with the number of its rows.
ROWS: Final = Schema(
    text("run"),
    text("group"),
    text("part"),
    integer("order"),
    text("file"),
    text("format"),
    integer("position"),
    text("digest"),
    text("raw"),
    optional(text("body")),
    optional(text("reason")),
    optional(integer("rows")),
).arrow()

# Counts; see summary.py.
TALLIES: Final = Schema(
    text("run"), text("file"), text("format"), text("what"), integer("number"), text("note")
).arrow()

OUTCOMES: Final = one_of(message=MESSAGES, event=EVENTS, reject=REJECTS, tally=TALLIES)

BYTES_PER_SECOND: Final = 2e6  # that one core reads and resolves


def rows_of_files(
    engine: PipelineEngine, files: Sequence[File], problems: Mapping[str, str], options: Options
) -> Table:
    """The rows of files; those with problems are rejected."""
    read = partial(tasks.read_source, options=options, schema=ROWS)
    return engine.files(files, read, ROWS, BYTES_PER_SECOND, problems)


def outcomes(rows: Table) -> Table:
    """The outcomes of rows; those of one run and group are resolved in one task."""
    resolve = partial(tasks.resolve_batches, schema=OUTCOMES)
    order = ("part", "order", "file", "position")
    return rows.grouped(("run", "group"), resolve, OUTCOMES, order)


def messages(resolved: Table, names: Mapping[str, str]) -> Table:
    """The messages, with the names of their runs."""
    return _named(_part(resolved, "message", MESSAGES), names)


def events(resolved: Table, names: Mapping[str, str]) -> Table:
    """The events, with the names of their runs."""
    return _named(_part(resolved, "event", EVENTS), names)


def rejects(resolved: Table) -> Table:
    """The rows that could not be used."""
    return _part(resolved, "reject", REJECTS)


def tallies(resolved: Table) -> Table:
    """All counts: few rows for each file and run, from each task."""
    return _part(resolved, "tally", TALLIES)


def _part(resolved: Table, name: str, schema: pa.Schema) -> Table:
    return resolved.map(partial(unnested, column=name), schema)


def _named(table: Table, names: Mapping[str, str]) -> Table:
    return table.map(partial(replaced, column="run", names=names), table.schema)
