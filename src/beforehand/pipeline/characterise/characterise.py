"""All tables that characterise the workloads of an ingest: computed, written, read back."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise.runs import tables_of_run
from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.engine.batches import by_key, record_batches, unnested
from beforehand.pipeline.engine.engine import Batches
from beforehand.pipeline.schemas import MESSAGES, one_of
from beforehand.pipeline.storage import Storage, join, replacing
from beforehand.results.layout import CharacteristicsFolder
from beforehand.results.tables import characteristics

NOTE: Final = CharacteristicsFolder.NOTE
TABLES: Final = {name: table.arrow() for name, table in characteristics.TABLES.items()}

_ALL: Final = one_of(**TABLES)
_ROWS_PER_BATCH: Final = 4096


def characterise(
    engine: PipelineEngine, messages: Table, out: str, *, seed: int = 1
) -> dict[str, pa.Table]:
    """Write the tables into a folder, in place of an older one, and return them.

    The seed decides which messages are compared where there are too many to compare all.
    """
    work = partial(_characterised, seed=seed)
    note = {"version": 1, "seed": seed, "tables": list(TABLES)}
    with (
        messages.grouped(("run",), work, _ALL, order=("id",)).kept() as rows,
        replacing(engine.storage, out) as folder,
    ):
        for name, schema in TABLES.items():
            rows.map(partial(unnested, column=name), schema).write(join(folder, name))
        engine.storage.write_note(folder, NOTE, note)
    return read(engine, out)


def read(engine: PipelineEngine, folder: str) -> dict[str, pa.Table]:
    """The tables that `characterise` has written, by name."""
    if read_note(engine.storage, folder) is None:
        raise PipelineError(f"{folder}: no complete characteristics here; characterise it again")
    return {name: engine.read([join(folder, name)], TABLES[name]).collect() for name in TABLES}


def sorted_rows(tables: Mapping[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    """The tables as plain rows, in a defined order."""
    return {
        name: table.sort_by(
            [(column, "ascending") for column in table.column_names[:3]]
        ).to_pylist()
        for name, table in tables.items()
    }


def read_note(storage: Storage, folder: str) -> dict[str, Any] | None:
    """The note of a complete output, else None."""
    return storage.read_note(folder, NOTE)


def _characterised(batches: Batches, seed: int) -> Batches:
    """In a task: the rows of all tables, run after run; messages come sorted."""
    for messages in by_key(batches, MESSAGES, "run"):
        rows = ({name: row} for name, mine in tables_of_run(messages, seed).items() for row in mine)
        yield from record_batches(rows, _ALL, _ROWS_PER_BATCH)
