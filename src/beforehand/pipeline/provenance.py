"""How an output was made, for its note, including the engine."""

from typing import Any

from beforehand.pipeline.engine import PipelineEngine
from beforehand.results.provenance import provenance


def engine_provenance(engine: PipelineEngine, command: str) -> dict[str, Any]:
    """The command that reproduces an output (empty if there is none), its environment and its time."""
    note = provenance(command)
    note["environment"] |= engine.environment()
    return note
