"""What a study replays: an ingest of sources, or the built-in workload; made once and then reused."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.ingest import FileCount, Options, RunCount, Summary, ingest
from beforehand.pipeline.ingest.ingest import find, write
from beforehand.pipeline.schemas import MESSAGES, REJECTS
from beforehand.pipeline.storage import Storage, join
from beforehand.pipeline.study import shop_workload
from beforehand.results.layout import IngestFolder, StudyFolder


def check_output(
    storage: Storage, out: str, sources: Sequence[str], options: Options, seed: int, force: bool
) -> dict[str, Any]:
    """What is studied, for the note; raises an error unless the folder may hold it."""
    storage.check_output(out)
    source = _source(storage, out, sources, options, seed)
    known = storage.read_note(out, StudyFolder.SOURCE)
    if known is None:
        _check_empty(storage, out)
    elif known != source and not force:
        raise PipelineError(
            f"{out} holds a study of {_described(known)}, and this one is of {_described(source)} (or "
            "their content has changed since); choose another folder, or pass `force` to replace it"
        )
    return source


def prepare(
    engine: PipelineEngine,
    out: str,
    sources: Sequence[str],
    options: Options,
    source: dict[str, Any],
) -> bool:
    """Make sure that `out/ingest` holds the messages; returns whether it did already."""
    storage, folder = engine.storage, join(out, StudyFolder.INGEST)
    storage.write_note(out, StudyFolder.SOURCE, source)
    storage.delete(join(out, StudyFolder.NOTE))
    if storage.read_note(folder, IngestFolder.NOTE) is not None:
        return True
    storage.delete(join(out, StudyFolder.CHARACTERISTICS))
    if sources:
        ingest(engine, sources, folder, options)
    else:
        _generate(engine, folder, source["seed"])
    return False


def _source(
    storage: Storage, out: str, sources: Sequence[str], options: Options, seed: int
) -> dict[str, Any]:
    """Everything that determines what is ingested, for the note."""
    if not sources:
        return {"version": 1, "sources": [], "seed": seed}
    return {
        "version": 1,
        "sources": list(sources),
        "files": [[file.path, file.size] for file in find(storage, sources, out)],
        "format": options.format,
        "columns": {name: list(column) for name, column in options.columns.items()},
        "pattern": options.pattern,
        "delimiter": options.delimiter,
    }


def _described(source: dict[str, Any]) -> str:
    if not source["sources"]:
        return f"the built-in workload with seed {source['seed']}"
    return ", ".join(source["sources"])


def _check_empty(storage: Storage, out: str) -> None:
    visible = [file.name for file in storage.inside(out) if not file.name.startswith(".")]
    if visible:
        raise PipelineError(f"{out} holds other files ({min(visible)}); choose another folder")


def _generate(engine: PipelineEngine, folder: str, seed: int) -> None:
    """Write the built-in workload as if it had been ingested."""
    rows = shop_workload.generate(seed)
    count = len(rows)
    file = FileCount("generated", "generated", rows=count, accepted=count, note=f"seed {seed}")
    summary = Summary((file,), (RunCount(shop_workload.RUN, count, 0),), {}, {})
    tables = {
        IngestFolder.MESSAGES: engine.table(pa.Table.from_pylist(rows, schema=MESSAGES)),
        IngestFolder.REJECTS: engine.table(REJECTS.empty_table()),
    }
    write(engine, tables, summary, folder)
