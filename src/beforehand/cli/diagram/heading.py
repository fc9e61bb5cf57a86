"""What stands above a diagram: the protocol, if a note next to the trace has it, and a verdict."""

import json
from pathlib import Path
from typing import Any

from beforehand.report.diagram.model import Diagram
from beforehand.results.layout import ClusterFolder, SimulationFolder


def protocol_of(source: Path) -> str:
    """The protocol, from the note of a cluster or of a simulation; empty if there is none."""
    folder = source if source.is_dir() else source.parent
    cluster, simulation = (
        _note(folder / ClusterFolder.NOTE),
        _note(folder / SimulationFolder.RESULT),
    )
    is_simulated = source.is_dir() or source.name == SimulationFolder.TRACE
    if cluster:
        return _text(cluster, "plan")
    return _text(simulation, "scenario") if is_simulated else ""


def verdict_on(diagram: Diagram, is_judged: bool) -> str:
    """A few words on the deliveries that are shown."""
    deliveries = sum(mark.kind == "deliver" for mark in diagram.marks)
    if not is_judged or not deliveries:
        return ""
    if not diagram.flags:
        return f"no wrong delivery among {deliveries:,}"
    verb = "is" if len(diagram.flags) == 1 else "are"
    return f"{len(diagram.flags):,} of {deliveries:,} deliveries {verb} wrong"


def _note(file: Path) -> dict[str, Any]:
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a heading is not worth an error
    return note if isinstance(note, dict) else {}


def _text(note: dict[str, Any], part: str) -> str:
    value = note.get(part)
    protocol = value.get("protocol") if isinstance(value, dict) else None
    return protocol if isinstance(protocol, str) else ""
