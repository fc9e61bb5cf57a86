"""A study as a whole. Every step writes its tables, and a second call reuses those that are complete."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline import characterise as characteristics
from beforehand.pipeline.audit import audit
from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.ingest import Options, read_messages, read_summary
from beforehand.pipeline.prose import sentences, title
from beforehand.pipeline.provenance import engine_provenance
from beforehand.pipeline.schemas import VERDICTS
from beforehand.pipeline.storage import absolute, join, replacing
from beforehand.pipeline.study import source
from beforehand.pipeline.study.advice import Advice, advise
from beforehand.pipeline.study.eligibility import Excluded, eligible, grouped
from beforehand.pipeline.study.figures import Candidate, ProtocolFigures, figures
from beforehand.pipeline.study.markdown import recommendation
from beforehand.pipeline.study.replayed_run import ReplayedRun, choose, replay_of
from beforehand.pipeline.study.schemas import PROTOCOLS, RECOMMENDATION, write_rows
from beforehand.pipeline.sweep import Grid, SweepProgress, SweepResult, run_sweep
from beforehand.results.layout import AuditFolder, StudyFolder

NETWORKS: Final = ("lan", "wan", "mobile")
MESSAGES: Final = 20_000  # to replay: minutes for all protocols on two cores
STEPS: Final = ("ingest", "characterise", "replay", "audit", "recommend")

StepListener = Callable[[str, str], None]  # the step that begins, and what it does
AuditCommand = Callable[[Sequence[str], str], str]  # sources and output folder -> command line


@dataclass(frozen=True)
class Study:
    """What to study, and how."""

    out: str
    candidates: Sequence[Candidate]
    sources: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    networks: Sequence[str] = NETWORKS
    run: str | None = None
    messages: int = MESSAGES
    seed: int = 1
    force: bool = False
    named: bool = True  # whether the user named the candidates; otherwise they are all protocols


@dataclass(frozen=True)
class StudyResult:
    """The outcome of a study."""

    replayed: ReplayedRun
    run: dict[str, Any]  # its row of the characteristics
    flags: list[dict[str, Any]]
    protocols: list[ProtocolFigures]
    advice: list[Advice]
    excluded: list[Excluded]
    reused: list[str]  # what was complete already, in words

    @property
    def sound(self) -> bool:
        """Whether every run finished, and every causal protocol kept causal order."""
        return not any(row.error or (row.causal and not row.usable) for row in self.protocols)


def run_study(
    engine: PipelineEngine,
    study: Study,
    report_step: StepListener = lambda step, text: None,
    progress: Callable[[SweepProgress], None] | None = None,
    *,
    command: str = "",
    audit_command: AuditCommand = lambda sources, out: "",
) -> StudyResult:
    """Complete a study in its folder, and return all of it.

    With `force`, everything is done anew, and an older study stays in the folder until the new one is
    complete. The notes record `command`, the command line of the study, and that of its audit.
    """
    source_note = source.check_output(
        engine.storage, study.out, study.sources, study.options, study.seed, study.force
    )
    progress_of = _Run(engine, study, source_note, report_step, progress, command, audit_command)
    if not study.force:
        return progress_of.complete(study.out)
    with replacing(engine.storage, study.out) as folder:
        return progress_of.complete(folder)


@dataclass(frozen=True)
class _Run:
    """One call of run_study."""

    engine: PipelineEngine
    study: Study
    source_note: dict[str, Any]
    report_step: StepListener
    progress: Callable[[SweepProgress], None] | None
    command: str
    audit_command: AuditCommand

    def complete(self, out: str) -> StudyResult:
        """Do what is missing in a folder, which may still have a temporary name."""
        engine, study = self.engine, self.study
        generating = "reading the sources" if study.sources else "generating a workload"
        self.report_step("ingest", generating)
        ingested = source.prepare(engine, out, study.sources, study.options, self.source_note)
        folder = join(out, StudyFolder.INGEST)
        summary, messages = read_summary(engine.storage, folder), read_messages(engine, folder)
        run = choose(summary, study.run, folder)

        self.report_step("characterise", "analysing the workload")
        folder = join(out, StudyFolder.CHARACTERISTICS)
        tables, described = _characteristics(engine, messages, folder, study.seed)

        self.report_step("replay", f"replaying {run}")
        replayed = replay_of(messages, summary, run, study.messages)
        chosen, excluded = eligible(study.candidates, len(replayed.program.processes))
        swept = self._sweep(out, replayed, chosen)
        excluded += grouped((point.what.partition(",")[0], point.reason) for point in swept.skipped)

        self.report_step("audit", "checking every delivery")
        rows = swept.results.drop_columns(["series", "scenario"]).to_pylist()
        needed = {row["run"] for row in rows if row["error"] is None}
        verdicts, audited = self._audit(out, swept.traces, needed)

        self.report_step("recommend", "comparing protocols")
        protocols = figures(rows, verdicts, chosen, study.networks, replayed.replayed)
        (row,) = _rows_of(tables["runs"], run)
        reused = {
            "the ingest": ingested,
            "the characteristics": described,
            f"{swept.reused:,} of {swept.reused + swept.done:,} replays": swept.reused,
            "the audit": audited,
        }
        result = StudyResult(
            replayed=replayed,
            run=row,
            flags=_rows_of(tables["flags"].sort_by("flag"), run),
            protocols=protocols,
            advice=advise(protocols),
            excluded=excluded,
            reused=[what for what, is_reused in reused.items() if is_reused],
        )
        _write(engine, study, result, out, self.command)
        return result

    def _sweep(self, out: str, replayed: ReplayedRun, chosen: Sequence[Candidate]) -> SweepResult:
        workload = f"replay:{replayed.run}"
        grid = Grid(
            protocol=[candidate.name for candidate in chosen],
            workload=[workload],
            network=list(self.study.networks),
            seed=[self.study.seed],
            programs={workload: replayed.program},
        )
        return run_sweep(
            self.engine,
            grid,
            join(out, StudyFolder.SWEEP),
            traces=True,
            progress=self.progress,
            command=self.command,
        )

    def _audit(
        self, out: str, traces: Sequence[str], needed: set[str]
    ) -> tuple[dict[str, dict[str, Any]], bool]:
        """The verdicts by run, and whether they were complete already."""
        storage, folder = self.engine.storage, join(out, StudyFolder.AUDIT)
        note = storage.read_note(folder, AuditFolder.AUDITED)
        known = note is not None and needed <= set(note["runs"])
        if not known and needed:
            # The notes have the names that the folders will keep.
            final = absolute(self.study.out)
            named = [trace.replace(absolute(out), final, 1) for trace in traces]
            command = self.audit_command(named, join(self.study.out, StudyFolder.AUDIT))
            with audit(self.engine, list(traces)) as judged:
                judged.write(folder, command, named)
        verdicts: dict[str, dict[str, Any]] = {}
        if needed:
            table = self.engine.read([join(folder, AuditFolder.VERDICTS)], VERDICTS).collect()
            verdicts = {row["run"]: row for row in table.to_pylist()}
        if not known:
            content = {"version": 1, "runs": sorted(verdicts)}
            storage.write_note(folder, AuditFolder.AUDITED, content)
        return verdicts, known


def _rows_of(table: pa.Table, run: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["run"], run)).to_pylist()
    return rows


def _characteristics(
    engine: PipelineEngine, messages: Table, folder: str, seed: int
) -> tuple[dict[str, pa.Table], bool]:
    """The tables that describe the workload, and whether they were complete already."""
    if characteristics.read_note(engine.storage, folder) is not None:
        return characteristics.read(engine, folder), True
    return characteristics.characterise(engine, messages, folder, seed=seed), False


def _write(
    engine: PipelineEngine, study: Study, result: StudyResult, out: str, command: str
) -> None:
    storage, folder = engine.storage, join(out, StudyFolder.TABLES)
    replayed = result.replayed
    advice = [{"place": place, **asdict(rule)} for place, rule in enumerate(result.advice)]
    protocols = [asdict(row) for row in result.protocols]
    write_rows(engine, protocols, PROTOCOLS, join(folder, StudyFolder.PROTOCOLS))
    write_rows(engine, advice, RECOMMENDATION, join(folder, StudyFolder.RECOMMENDATION))
    text = recommendation(
        replayed, result.run, result.flags, result.protocols, result.advice, result.excluded
    )
    storage.write_text(join(out, StudyFolder.ADVICE), text)
    storage.write_note(
        out,
        StudyFolder.NOTE,
        {
            "version": 1,
            "sources": list(study.sources),
            "seed": study.seed,
            "run": replayed.run,
            "runs": replayed.runs,
            "messages": replayed.messages,
            "replayed": replayed.replayed,
            "quiet_ns": replayed.quiet_ns,
            "processes": len(replayed.program.processes),
            "protocols": list(dict.fromkeys(row.protocol for row in result.protocols)),
            "networks": list(study.networks),
            "left_out": {name: e.reason for e in result.excluded for name in e.protocols},
            "sound": result.sound,
            "title": title(result.run),
            "sentences": sentences(result.run, result.flags),
            "told": replayed.describe(),
            **engine_provenance(engine, command),
        },
    )
