"""All outputs of a folder, read into the views of a report."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from beforehand.errors import ReportError
from beforehand.report.commands import Commands, instruction
from beforehand.report.model import (
    AuditView,
    ClusterView,
    ComparisonView,
    PartView,
    Provenance,
    ReportView,
    StudyView,
    SweepView,
)
from beforehand.report.reading.audits import read_lone_audit
from beforehand.report.reading.clusters import read_cluster
from beforehand.report.reading.comparisons import read_comparison
from beforehand.report.reading.context import ReadingContext
from beforehand.report.reading.discover import DEEP, Output, find, is_trace, looked_for
from beforehand.report.reading.files import read_note
from beforehand.report.reading.studies import read_study, read_traffic
from beforehand.report.reading.sweeps import read_sweep
from beforehand.report.reading.values import provenance_of
from beforehand.results.layout import DemoFolder, OutputKind, kind_of

T = TypeVar("T", bound=PartView)

# None where nothing of an output can be read, which is then listed as missing.
READERS: Final[dict[OutputKind, Callable[[Path, ReadingContext], PartView | None]]] = {
    "comparison": read_comparison,
    "cluster": read_cluster,
    "study": read_study,
    "ingest": read_traffic,
    "sweep": read_sweep,
    "audit": read_lone_audit,
}
# The outputs of the steps of a demo, and of those that only a full one has.
STEPS: Final[dict[str, tuple[OutputKind, str]]] = {
    "chat": ("comparison", DemoFolder.CHAT),
    "shop": ("comparison", DemoFolder.SHOP),
}
FULL_STEPS: Final[dict[str, tuple[OutputKind, str]]] = {
    "cluster": ("cluster", DemoFolder.CLUSTER),
    "audit": ("audit", DemoFolder.AUDIT),
    "cluster study": ("study", DemoFolder.CLUSTER_STUDY),
    "shop study": ("study", DemoFolder.SHOP_STUDY),
    "growth": ("sweep", DemoFolder.GROWTH),
}


def read(folder: str | Path, made: Provenance | None, commands: Commands) -> ReportView:
    """Read all outputs in a folder or below it; see `report.read`."""
    root = _checked(folder, commands)
    context = ReadingContext(root, commands)
    outputs = list(find(root, context))
    if not outputs and not (root / DemoFolder.NOTE).exists():
        raise ReportError(_nothing(root, commands))
    views = [READERS[kind](where, context) for kind, where in outputs]
    return ReportView(
        str(folder),
        _demo(root, outputs, context) or made or Provenance(commands.report(root)),
        _of_type(ClusterView, views),
        _of_type(StudyView, views),
        _of_type(SweepView, views),
        _of_type(AuditView, views),
        tuple(context.missing),
        commands.suggestions,
        comparisons=_of_type(ComparisonView, views),
    )


def _of_type(type_: type[T], views: Sequence[PartView | None]) -> tuple[T, ...]:
    return tuple(view for view in views if isinstance(view, type_))


def _checked(folder: str | Path, commands: Commands) -> Path:
    root = Path(folder)
    if "://" in str(folder) and not root.exists():
        raise ReportError(f"{folder}: a report needs local files; copy the folder here first")
    if not root.exists():
        raise ReportError(f"{folder}: there is no such folder; name one that the pipeline wrote")
    if not root.is_dir():
        folder_wanted = "name the folder that the pipeline wrote"
        remedy = _for_traces(root, commands) if is_trace(root) else folder_wanted
        raise ReportError(f"{folder} is a file; {remedy}")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ReportError(
            f"{folder} cannot be read (permission denied); check that you may read it"
        )
    return root


def _nothing(root: Path, commands: Commands) -> str:
    outputs = [parent for parent in root.resolve().parents[: DEEP + 1] if kind_of(parent)]
    if outputs:
        read_whole = instruction(commands.report(outputs[-1]), f"read {outputs[-1]}")
        return f"{root} is part of a larger output; {read_whole} to report on all of it"
    if is_trace(root):
        return f"{root} holds traces and no results; {_for_traces(root, commands)}"
    return (
        f"{root}: nothing to report in it or up to {DEEP} folders below (looked for "
        f"{looked_for()}); name the output folder of a study, sweep, audit, ingest or demo"
    )


def _for_traces(path: Path, commands: Commands) -> str:
    audit = instruction(commands.audit(str(path), "NEW"), "audit them")
    diagram = instruction(commands.diagram(path, ""), "draw them")
    return f"{audit} and report on that, or {diagram}"


def _demo(root: Path, outputs: Sequence[Output], context: ReadingContext) -> Provenance | None:
    """How a whole demo was made, if it is one; steps without output are listed as missing."""
    if not (root / DemoFolder.NOTE).exists():
        return None
    again = instruction(context.commands.demo(root), "run the demo")
    part = context.part("the demo", f"{again} again")
    note = part.attempt("the origin", partial(read_note, root / DemoFolder.NOTE))
    if note is None:
        return None
    seconds: Any = note.get("seconds")  # of each step that is over
    done = seconds if isinstance(seconds, dict) else {}
    known = bool(done) or note.get("finished") is False
    steps = STEPS | (FULL_STEPS if note.get("full") is True else {})
    for step, (kind, name) in steps.items() if known else ():
        if Output(kind, root / name) not in outputs:
            gone = f"{root / name} is gone, or no longer what it was"
            part.miss(f"the {step}", gone if step in done else "the demo was stopped before it")
    return provenance_of(note) if note.get("command") else None
