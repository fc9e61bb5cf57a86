"""All of a folder, read into the contents of a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.contents import Audit, Cluster, Contents, Made, Study, Sweep
from beforehand.report.reading import commands
from beforehand.report.reading.audits import read_lone_audit
from beforehand.report.reading.clusters import read_cluster
from beforehand.report.reading.files import read_note
from beforehand.report.reading.finding import DEEP, Found, Kind, find, is_trace, kind_of, looked_for
from beforehand.report.reading.register import Register
from beforehand.report.reading.studies import read_study, read_traffic
from beforehand.report.reading.sweeps import read_sweep
from beforehand.report.reading.values import made_of

DEMO: Final = "_demo.json"
# What the steps of a demo leave.
STEPS: Final[dict[str, tuple[Kind, str]]] = {
    "cluster": ("cluster", "cluster"),
    "audit": ("audit", "cluster-audit"),
    "cluster study": ("study", "cluster-study"),
    "shop study": ("study", "shop-study"),
    "growth": ("sweep", "growth"),
}


def read(folder: str | Path, made: Made | None = None) -> Contents:
    """What the pipeline has left in a folder or below it; `made` tells how the report comes about.

    What is missing or damaged is told in the contents. Only a folder with nothing of ours in it is an
    error.
    """
    root = _checked(folder)
    register = Register(root)
    clusters: list[Cluster | None] = []
    studies: list[Study] = []
    sweeps: list[Sweep] = []
    audits: list[Audit | None] = []
    outputs = list(find(root, register))
    for kind, where in outputs:
        if kind == "cluster":
            clusters.append(read_cluster(where, register))
        elif kind == "study":
            studies.append(read_study(where, register))
        elif kind == "traffic":
            studies.append(read_traffic(where, register))
        elif kind == "sweep":
            sweeps.append(read_sweep(where, register))
        else:
            audits.append(read_lone_audit(where, register))
    if not (clusters or studies or sweeps or audits or (root / DEMO).exists()):
        raise ReportError(_nothing(root))
    return Contents(
        str(folder),
        _demo(root, outputs, register) or made or Made(commands.line("report", str(folder))),
        tuple(each for each in clusters if each is not None),
        tuple(studies),
        tuple(sweeps),
        tuple(each for each in audits if each is not None),
        tuple(register.missing),
    )


def _checked(folder: str | Path) -> Path:
    root = Path(folder)
    if "://" in str(folder) and not root.exists():
        raise ReportError(
            f"{folder}: a report is made from files of this machine; copy the folder here first"
        )
    if not root.exists():
        raise ReportError(
            f"{folder}: there is no such folder; name one that the pipeline has written"
        )
    if not root.is_dir():
        told = (
            _for_traces(root) if is_trace(root) else "name the folder that the pipeline has written"
        )
        raise ReportError(f"{folder} is a file; {told}")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ReportError(
            f"{folder} cannot be read (permission denied); check that you may read it"
        )
    return root


def _nothing(root: Path) -> str:
    whole = [each for each in root.resolve().parents[: DEEP + 1] if kind_of(each) is not None]
    if whole:
        again = commands.line("report", str(whole[-1]))
        return f"{root} is a part of something larger; run `{again}` to report on all of it"
    if is_trace(root):
        return f"{root} holds traces and no results; {_for_traces(root)}"
    return (
        f"{root}: there is nothing to report in it or up to {DEEP} folders below (looked for "
        f"{looked_for()}); name the --out of `beforehand study`, sweep, audit, ingest or demo"
    )


def _for_traces(path: Path) -> str:
    audit = commands.line("audit", str(path), "--out", "NEW")
    return f"run `{audit}` and report on that, or `{commands.line('diagram', str(path))}` to see it"


def _demo(root: Path, outputs: Sequence[Found], register: Register) -> Made | None:
    """How a whole demo was made, if it is one; what it should have left and has not is told."""
    if not (root / DEMO).exists():
        return None
    again = commands.line("demo", "--out", str(root))
    part = register.part("the demo", f"run `{again}` again")
    note = part.attempt("the origin", partial(read_note, root / DEMO))
    if note is None:
        return None
    seconds: Any = note.get("seconds")  # of each step that is over
    done = seconds if isinstance(seconds, dict) else {}
    for step, (kind, name) in STEPS.items() if done or note.get("finished") is False else ():
        if Found(kind, root / name) not in outputs:
            gone = f"{root / name} is not there any more, or not what it was"
            part.miss(f"the {step}", gone if step in done else "the demo was stopped before it")
    return made_of(note) if note.get("command") else None
