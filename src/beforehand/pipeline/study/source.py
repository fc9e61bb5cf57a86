"""What a study replays: an ingest of sources, or the built-in workload; made once and then reused."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.ingest import FileCount, Options, RunCount, Summary, ingest
from beforehand.pipeline.ingest.ingest import claim, find
from beforehand.pipeline.schemas import FILES, MESSAGES, REJECTS
from beforehand.pipeline.storage import Storage, join, literal
from beforehand.pipeline.study import shop_workload
from beforehand.pipeline.study.schemas import write_rows
from beforehand.results.layout import IngestFolder, StudyFolder


def prepare(
    spark: SparkSession, out: str, sources: Sequence[str], options: Options, seed: int, force: bool
) -> bool:
    """Make sure that `out/ingest` holds the messages; returns whether it did already."""
    storage = Storage(spark)
    source = _source(storage, out, sources, options, seed)
    known = storage.read_note(out, StudyFolder.SOURCE)
    if known is None:
        _check_empty(storage, out)
    elif force:
        for name in (StudyFolder.NOTE, StudyFolder.ADVICE, *StudyFolder.PARTS):
            storage.delete(join(out, name))
    elif known != source:
        raise PipelineError(
            f"{out} holds a study of {_described(known)}, and this one is of {_described(source)} (or "
            "their content has changed since); choose another folder, or pass `force` to replace it"
        )
    storage.write_note(out, StudyFolder.SOURCE, source)
    storage.delete(join(out, StudyFolder.NOTE))
    folder = join(out, StudyFolder.INGEST)
    done = storage.read_note(folder, IngestFolder.NOTE) is not None
    if done and not storage.exists(join(folder, IngestFolder.UNFINISHED)):
        return True
    storage.delete(join(out, StudyFolder.CHARACTERISTICS))
    if sources:
        ingest(spark, sources, folder, options)
    else:
        _generate(spark, folder, seed)
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
    inside = [file.path.rpartition("/")[2] for file in storage.glob(f"{literal(out)}/*")]
    visible = sorted(name for name in inside if not name.startswith("."))
    if visible:
        raise PipelineError(f"{out} holds other files ({visible[0]}); choose another folder")


def _generate(spark: SparkSession, folder: str, seed: int) -> None:
    """Write the built-in workload as if it had been ingested."""
    rows = shop_workload.generate(seed)
    storage = Storage(spark)
    claim(storage, folder, force=True)
    count = len(rows)
    file = FileCount("generated", "generated", rows=count, accepted=count, note=f"seed {seed}")
    summary = Summary((file,), (RunCount(shop_workload.RUN, count, 0),), {}, {})
    for name, values, schema in (
        (IngestFolder.MESSAGES, rows, MESSAGES),
        (IngestFolder.REJECTS, [], REJECTS),
        (IngestFolder.FILES, [asdict(file)], FILES),
    ):
        write_rows(spark, values, schema, join(folder, name))
    storage.write_note(folder, IngestFolder.NOTE, summary.to_dict())
    storage.delete(join(folder, IngestFolder.UNFINISHED))
