"""Violations for the page: hundreds of them, so as data from which a script makes what is looked at."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final
from zlib import compress

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.model import AuditView, ReportView, ViolationView
from beforehand.report.page.formats import visible

PRINTED: Final = 3  # sentences of each run that stand in the page itself, for paper


@dataclass(frozen=True)
class ViolationGroup:
    """The violations of one run."""

    place: int  # in the data
    title: str
    run: str
    anchor: str | None
    kinds: tuple[tuple[str, int], ...]  # how many of each are listed
    listed: int
    first: tuple[str, ...]  # sentences


def grouped(contents: ReportView) -> list[tuple[AuditView, list[ViolationGroup]]]:
    """Each audit, and its violations by run, in their order."""
    found: list[tuple[AuditView, list[ViolationGroup]]] = []
    place = 0
    for audit in audits(contents):
        groups = [
            _group(place + number, run, of_run)
            for number, (run, of_run) in enumerate(_by_run(audit).items())
        ]
        place += len(groups)
        found.append((audit, groups))
    return found


def packed(contents: ReportView) -> str:
    """For each group, in the order of `grouped`, what its script needs, as text.

    Thousands of small diagrams are megabytes of JSON that is nearly the same again and again. So it is
    compressed (zlib, in base64), by which it becomes ten times smaller; browsers can undo that.
    """
    found = [_plain(of_run) for audit in audits(contents) for of_run in _by_run(audit).values()]
    return b64encode(compress(bundle.as_json(found).encode(), level=9)).decode()


def audits(contents: ReportView) -> list[AuditView]:
    """All of them: those of studies first."""
    own = [study.audit for study in contents.studies if study.audit is not None]
    return [*own, *contents.audits]


def kinds(audited: list[tuple[AuditView, list[ViolationGroup]]]) -> list[str]:
    """Each kind that is there, once."""
    return sorted({kind for _, groups in audited for group in groups for kind, _ in group.kinds})


def _group(place: int, run: str, found: list[ViolationView]) -> ViolationGroup:
    return ViolationGroup(
        place,
        found[0].title,
        run,
        found[0].anchor,
        tuple(sorted(Counter(each.kind for each in found).items())),
        len(found),
        tuple(each["short"] for each in _plain(found[:PRINTED])),
    )


def _by_run(audit: AuditView) -> dict[str, list[ViolationView]]:
    found: dict[str, list[ViolationView]] = {}
    for each in audit.violations:
        found.setdefault(each.run, []).append(each)
    return found


def _plain(found: list[ViolationView]) -> list[dict[str, Any]]:
    labels = _labels(found)
    return [
        {
            "kind": visible(each.kind),
            "sentence": visible(each.sentence),
            "short": _relabelled(visible(each.sentence), labels),
            "diagram": None if each.diagram is None else columns(each.diagram),
        }
        for each in found
    ]


def _labels(found: list[ViolationView]) -> dict[str, str]:
    """What the diagrams of a run call its processes: n1 and not n1@9c017489ccba3459."""
    known: dict[str, set[str]] = {}
    for each in found:
        drawn = each.diagram
        for process, label in zip(drawn.processes, drawn.labels, strict=True) if drawn else ():
            known.setdefault(visible(process), set()).add(visible(label))
    # One that is called differently in two of them keeps its name.
    return {
        name: min(labels) for name, labels in known.items() if {name} != labels and len(labels) == 1
    }


def _relabelled(sentence: str, labels: dict[str, str]) -> str:
    for name, label in labels.items():
        sentence = sentence.replace(name, label)
    return sentence
