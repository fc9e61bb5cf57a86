"""All outputs of a folder, read into the views of a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.commands import Commands, instruction
from beforehand.report.model import (
    AuditView,
    ClusterView,
    Provenance,
    ReportView,
    StudyView,
    SweepView,
)
from beforehand.report.reading.audits import read_lone_audit
from beforehand.report.reading.clusters import read_cluster
from beforehand.report.reading.context import ReadingContext
from beforehand.report.reading.discover import (
    DEEP,
    Output,
    find,
    is_trace,
    looked_for,
)
from beforehand.report.reading.files import read_note
from beforehand.report.reading.studies import read_study, read_traffic
from beforehand.report.reading.sweeps import read_sweep
from beforehand.report.reading.values import provenance_of
from beforehand.results.layout import DemoFolder, OutputKind, kind_of

# What the steps of a demo leave.
STEPS: Final[dict[str, tuple[OutputKind, str]]] = {
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
    clusters: list[ClusterView | None] = []
    studies: list[StudyView] = []
    sweeps: list[SweepView] = []
    audits: list[AuditView | None] = []
    outputs = list(find(root, context))
    for kind, where in outputs:
        if kind == "cluster":
            clusters.append(read_cluster(where, context))
        elif kind == "study":
            studies.append(read_study(where, context))
        elif kind == "traffic":
            studies.append(read_traffic(where, context))
        elif kind == "sweep":
            sweeps.append(read_sweep(where, context))
        else:
            audits.append(read_lone_audit(where, context))
    if not (clusters or studies or sweeps or audits or (root / DemoFolder.NOTE).exists()):
        raise ReportError(_nothing(root, commands))
    return ReportView(
        str(folder),
        _demo(root, outputs, context) or made or Provenance(commands.report(root)),
        tuple(each for each in clusters if each is not None),
        tuple(studies),
        tuple(sweeps),
        tuple(each for each in audits if each is not None),
        tuple(context.missing),
    )


def _checked(folder: str | Path, commands: Commands) -> Path:
    root = Path(folder)
    if "://" in str(folder) and not root.exists():
        raise ReportError(f"{folder}: a report needs local files; copy the folder here first")
    if not root.exists():
        raise ReportError(f"{folder}: there is no such folder; name one that the pipeline wrote")
    if not root.is_dir():
        remedy = (
            _for_traces(root, commands)
            if is_trace(root)
            else "name the folder that the pipeline wrote"
        )
        raise ReportError(f"{folder} is a file; {remedy}")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ReportError(
            f"{folder} cannot be read (permission denied); check that you may read it"
        )
    return root


def _nothing(root: Path, commands: Commands) -> str:
    whole = [each for each in root.resolve().parents[: DEEP + 1] if kind_of(each) is not None]
    if whole:
        whole_report = instruction(commands.report(whole[-1]), f"read {whole[-1]}")
        return f"{root} is part of a larger output; {whole_report} to report on all of it"
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
    for step, (kind, name) in STEPS.items() if done or note.get("finished") is False else ():
        if Output(kind, root / name) not in outputs:
            gone = f"{root / name} is gone, or no longer what it was"
            part.miss(f"the {step}", gone if step in done else "the demo was stopped before it")
    return provenance_of(note) if note.get("command") else None
