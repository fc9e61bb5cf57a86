"""Violations for the page: hundreds of them, so as data from which a script renders the open ones."""

from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final
from zlib import compress

from beforehand.report import bundle
from beforehand.report.diagram.columns import columns
from beforehand.report.model import AuditView, ReportView, ViolationView
from beforehand.report.page.formats import visible

PRINTED: Final = 3  # violations of each run that stand in the page itself, for paper


@dataclass(frozen=True)
class ViolationGroup:
    """The violations of one run."""

    index: int  # in the data
    title: str
    run: str
    anchor: str | None
    kinds: tuple[tuple[str, int], ...]  # how many of each are listed
    listed: int
    printed: tuple[str, ...]  # sentences


def grouped(report: ReportView) -> list[tuple[AuditView, list[ViolationGroup]]]:
    """Each audit, and its violations by run, in their order."""
    audited = []
    index = 0
    for audit in audits(report):
        runs = _by_run(audit).values()
        audited.append((audit, [_group(n, violations) for n, violations in enumerate(runs, index)]))
        index += len(runs)
    return audited


def packed(report: ReportView) -> str:
    """For each group, in the order of `grouped`, the input of its script, as text.

    Thousands of small diagrams are megabytes of JSON with many repetitions. Compressed (zlib, in
    base64) it is ten times smaller, and browsers can decompress it.
    """
    groups = [_plain(run) for audit in audits(report) for run in _by_run(audit).values()]
    return b64encode(compress(bundle.as_json(groups).encode(), level=9)).decode()


def printed_diagrams(report: ReportView) -> list[list[dict[str, Any] | None]]:
    """For each group, in the order of `grouped`, the diagrams of the violations that it prints.

    They aren't compressed: browsers decompress in the background, and don't wait for it when they print.
    """
    return [
        [None if it.diagram is None else columns(it.diagram) for it in _printed(run)]
        for audit in audits(report)
        for run in _by_run(audit).values()
    ]


def audits(report: ReportView) -> list[AuditView]:
    """All of them: those of studies first."""
    return [*(study.audit for study in report.studies if study.audit is not None), *report.audits]


def kinds(audited: list[tuple[AuditView, list[ViolationGroup]]]) -> list[str]:
    """The kinds of violations that occur."""
    return sorted({kind for _, groups in audited for group in groups for kind, _ in group.kinds})


def _group(index: int, violations: list[ViolationView]) -> ViolationGroup:
    first = violations[0]
    return ViolationGroup(
        index,
        first.title,
        first.run,
        first.anchor,
        tuple(sorted(Counter(violation.kind for violation in violations).items())),
        len(violations),
        tuple(_short(violation, _labels(violations)) for violation in _printed(violations)),
    )


def _printed(violations: list[ViolationView]) -> list[ViolationView]:
    """The first ones with a diagram, then others: lost messages, for example, have none."""
    return sorted(violations, key=lambda violation: violation.diagram is None)[:PRINTED]


def _by_run(audit: AuditView) -> dict[str, list[ViolationView]]:
    runs: dict[str, list[ViolationView]] = {}
    for violation in audit.violations:
        runs.setdefault(violation.run, []).append(violation)
    return runs


def _plain(violations: list[ViolationView]) -> list[dict[str, Any]]:
    labels = _labels(violations)
    return [
        {
            "kind": visible(violation.kind),
            "sentence": visible(violation.sentence),
            "short": _short(violation, labels),
            "diagram": None if violation.diagram is None else columns(violation.diagram),
        }
        for violation in violations
    ]


def _labels(violations: list[ViolationView]) -> dict[str, str]:
    """The labels of processes in the diagrams of a run: n1 and not n1@9c017489ccba3459."""
    known: dict[str, set[str]] = {}
    for diagram in (violation.diagram for violation in violations if violation.diagram):
        for process, label in zip(diagram.processes, diagram.labels, strict=True):
            known.setdefault(visible(process), set()).add(visible(label))
    # A process with different labels in two diagrams keeps its name.
    return {
        name: min(labels) for name, labels in known.items() if {name} != labels and len(labels) == 1
    }


def _short(violation: ViolationView, labels: dict[str, str]) -> str:
    """Its sentence, with these labels of processes."""
    sentence = visible(violation.sentence)
    for name, label in labels.items():
        sentence = sentence.replace(name, label)
    return sentence
