"""A study as a whole. Every step writes its tables, and a second call reuses those that are complete."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from beforehand.pipeline import characterise as characteristics
from beforehand.pipeline.audit import audit
from beforehand.pipeline.ingest import Options, read_messages, read_summary
from beforehand.pipeline.prose import sentences, title
from beforehand.pipeline.provenance import spark_provenance
from beforehand.pipeline.schemas import VERDICTS
from beforehand.pipeline.storage import Storage, join, literal
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
    spark: SparkSession,
    study: Study,
    report_step: StepListener = lambda step, text: None,
    progress: Callable[[SweepProgress], None] | None = None,
    *,
    command: str = "",
    audit_command: AuditCommand = lambda sources, out: "",
) -> StudyResult:
    """Complete a study in its folder, and return all of it.

    The notes record `command`, the command line of the study, and that of its audit.
    """
    out = study.out
    report_step("ingest", "reading the sources" if study.sources else "generating a workload")
    ingested = source.prepare(spark, out, study.sources, study.options, study.seed, study.force)
    folder = join(out, StudyFolder.INGEST)
    summary, messages = read_summary(spark, folder), read_messages(spark, folder)
    run = choose(summary, study.run, folder)

    report_step("characterise", "analysing the workload")
    folder = join(out, StudyFolder.CHARACTERISTICS)
    tables, described = _characteristics(spark, messages, folder, study.seed)

    report_step("replay", f"replaying {run}")
    replayed = replay_of(messages, summary, run, study.messages)
    chosen, excluded = eligible(study.candidates, len(replayed.program.processes))
    swept = _sweep(spark, study, replayed, chosen, progress, command)
    excluded += grouped((point.what.partition(",")[0], point.reason) for point in swept.skipped)

    report_step("audit", "checking every delivery")
    rows = [row.asDict() for row in swept.results.drop("series", "scenario").collect()]
    needed = {row["run"] for row in rows if row["error"] is None}
    folder = join(out, StudyFolder.AUDIT)
    verdicts, audited = _audit(spark, folder, swept.traces, needed, audit_command)

    report_step("recommend", "comparing protocols")
    protocols = figures(rows, verdicts, chosen, study.networks, replayed.replayed)
    (row,) = tables["runs"].where(f.col("run") == run).collect()
    flags = tables["flags"].where(f.col("run") == run).orderBy("flag").collect()
    reused = {
        "the ingest": ingested,
        "the characteristics": described,
        f"{swept.reused:,} of {swept.reused + swept.done:,} replays": swept.reused,
        "the audit": audited,
    }
    result = StudyResult(
        replayed=replayed,
        run=row.asDict(),
        flags=[flag.asDict() for flag in flags],
        protocols=protocols,
        advice=advise(protocols),
        excluded=excluded,
        reused=[what for what, is_reused in reused.items() if is_reused],
    )
    _write(spark, study, result, command)
    return result


def _characteristics(
    spark: SparkSession, messages: DataFrame, folder: str, seed: int
) -> tuple[dict[str, DataFrame], bool]:
    """The tables that describe the workload, and whether they were complete already."""
    known = characteristics.read_note(spark, folder) is not None
    if not known:
        characteristics.characterise(spark, messages, folder, seed=seed)
    return characteristics.read(spark, folder), known


def _sweep(
    spark: SparkSession,
    study: Study,
    replayed: ReplayedRun,
    chosen: Sequence[Candidate],
    progress: Callable[[SweepProgress], None] | None,
    command: str,
) -> SweepResult:
    workload = f"replay:{replayed.run}"
    grid = Grid(
        protocol=[candidate.name for candidate in chosen],
        workload=[workload],
        network=list(study.networks),
        seed=[study.seed],
        programs={workload: replayed.program},
    )
    return run_sweep(
        spark,
        grid,
        join(study.out, StudyFolder.SWEEP),
        traces=True,
        progress=progress,
        command=command,
    )


def _audit(
    spark: SparkSession, folder: str, traces: Sequence[str], needed: set[str], command: AuditCommand
) -> tuple[dict[str, dict[str, Any]], bool]:
    """The verdicts by run, and whether they were complete already."""
    storage = Storage(spark)
    note = storage.read_note(folder, AuditFolder.AUDITED)
    known = note is not None and needed <= set(note["runs"])
    if not known and needed:
        storage.delete(join(folder, AuditFolder.AUDITED))
        judged = audit(spark, list(traces))
        try:
            judged.write(folder, command(list(traces), folder))
        finally:
            judged.close()
    table = spark.read.schema(VERDICTS).parquet(literal(join(folder, AuditFolder.VERDICTS)))
    verdicts = {row["run"]: row.asDict() for row in table.collect()} if needed else {}
    if not known:
        storage.write_note(folder, AuditFolder.AUDITED, {"version": 1, "runs": sorted(verdicts)})
    return verdicts, known


def _write(spark: SparkSession, study: Study, result: StudyResult, command: str) -> None:
    storage, folder = Storage(spark), join(study.out, StudyFolder.TABLES)
    replayed = result.replayed
    advice = [{"place": place, **asdict(rule)} for place, rule in enumerate(result.advice)]
    protocols = [asdict(row) for row in result.protocols]
    write_rows(spark, protocols, PROTOCOLS, join(folder, StudyFolder.PROTOCOLS))
    write_rows(spark, advice, RECOMMENDATION, join(folder, StudyFolder.RECOMMENDATION))
    text = recommendation(
        replayed, result.run, result.flags, result.protocols, result.advice, result.excluded
    )
    storage.write_text(join(study.out, StudyFolder.ADVICE), text)
    storage.write_note(
        study.out,
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
            **spark_provenance(spark, command),
        },
    )
