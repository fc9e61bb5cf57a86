"""The output of ingest: its layout, and reading it back."""

from typing import Any

from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.schemas import EVENTS, MESSAGES
from beforehand.pipeline.storage import Storage, join
from beforehand.results.layout import IngestFolder


def read_summary(storage: Storage, folder: str) -> dict[str, Any]:
    """The summary of an ingest; raise PipelineError if the folder doesn't hold a complete one."""
    if not storage.exists(folder):
        raise PipelineError(
            f"{folder}: there is no such folder; check the path, or run ingest first"
        )
    note = storage.read_note(folder, IngestFolder.NOTE)
    if note is None:
        raise PipelineError(
            f"{folder}: not the output of ingest: it has no {IngestFolder.NOTE}; give the folder that "
            "ingest wrote"
        )
    return note


def read_messages(engine: PipelineEngine, folder: str) -> Table:
    """The messages of an ingest."""
    read_summary(engine.storage, folder)
    return engine.read([join(folder, IngestFolder.MESSAGES)], MESSAGES)


def read_events(engine: PipelineEngine, folder: str) -> Table:
    """The events of an ingest; none if its sources had none."""
    if not read_summary(engine.storage, folder)["events"]:
        return engine.table(EVENTS.empty_table())
    return engine.read([join(folder, IngestFolder.EVENTS)], EVENTS)
