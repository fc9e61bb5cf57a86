"""A study as a whole. Each step leaves its tables, and a second call starts from what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from beforehand.pipeline import characterise as characteristics
from beforehand.pipeline.audit import audit
from beforehand.pipeline.ingest import Options, read_messages, read_summary
from beforehand.pipeline.prose import sentences, title
from beforehand.pipeline.provenance import made
from beforehand.pipeline.schemas import VERDICTS
from beforehand.pipeline.storage import Storage, join, literal
from beforehand.pipeline.study import source
from beforehand.pipeline.study.advice import Advice, advise
from beforehand.pipeline.study.eligibility import Excluded, grouped, suitable
from beforehand.pipeline.study.figures import Candidate, ProtocolFigures, figures
from beforehand.pipeline.study.markdown import recommendation
from beforehand.pipeline.study.replayed_run import ReplayedRun, choose, traffic
from beforehand.pipeline.study.schemas import PROTOCOLS, RECOMMENDATION, write_rows
from beforehand.pipeline.sweep import Grid, SweepProgress, SweepResult, run_sweep
from beforehand.results.layout import AuditFolder, StudyFolder

NETWORKS: Final = ("lan", "wan", "mobile")
MESSAGES: Final = 20_000  # to replay: minutes for all protocols on two cores
STEPS: Final = ("ingest", "characterise", "replay", "audit", "recommend")


Tell = Callable[[str, str], None]  # step, and what there is to say of it
AuditCommand = Callable[[Sequence[str], str], str]  # sources and output folder -> command line


@dataclass(frozen=True)
class Study:
    """What is asked for."""

    out: str
    candidates: Sequence[Candidate]
    sources: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    networks: Sequence[str] = NETWORKS
    run: str | None = None
    messages: int = MESSAGES
    seed: int = 1
    force: bool = False
    named: bool = True  # whether the candidates were chosen, and are not all that there are


@dataclass(frozen=True)
class StudyResult:
    """What a study has found."""

    traffic: ReplayedRun
    run: dict[str, Any]  # its row of the characteristics
    flags: list[dict[str, Any]]
    protocols: list[ProtocolFigures]
    advice: list[Advice]
    left_out: list[Excluded]
    reused: list[str]  # in words: what was there already

    @property
    def sound(self) -> bool:
        """Whether every run finished, and every protocol has kept its promise."""
        return not any(each.error or (each.causal and not each.usable) for each in self.protocols)


def run_study(
    spark: SparkSession,
    asked: Study,
    tell: Tell = lambda step, text: None,
    progress: Callable[[SweepProgress], None] | None = None,
    *,
    command: str = "",
    audit_command: AuditCommand = lambda sources, out: "",
) -> StudyResult:
    """Do what is missing of a study in its folder, and return all of it.

    The notes record `command`, the command line of the study, and that of its audit.
    """
    out, reused = asked.out, []
    tell("ingest", "reading the sources" if asked.sources else "generating a traffic")
    if source.prepare(spark, out, asked.sources, asked.options, asked.seed, asked.force):
        reused.append("the ingest")
    folder = join(out, StudyFolder.INGEST)
    summary, messages = read_summary(spark, folder), read_messages(spark, folder)
    run = choose(summary, asked.run, folder)

    tell("characterise", "looking at the traffic")
    there = join(out, StudyFolder.CHARACTERISTICS)
    if characteristics.read_note(spark, there) is not None:
        reused.append("the characteristics")
    else:
        characteristics.characterise(spark, messages, there, seed=asked.seed)
    tables = characteristics.read(spark, there)

    tell("replay", f"replaying {run}")
    replayed = traffic(messages, summary, run, asked.messages)
    chosen, left_out = suitable(asked.candidates, len(replayed.program.processes))
    swept = _sweep(spark, asked, replayed, chosen, progress, command)
    left_out += grouped((each.what.partition(",")[0], each.reason) for each in swept.skipped)
    if swept.reused:
        reused.append(f"{swept.reused:,} of {swept.reused + swept.done:,} replays")

    tell("audit", "judging every delivery")
    rows = [row.asDict() for row in swept.results.drop("series", "scenario").collect()]
    needed = {row["run"] for row in rows if row["error"] is None}
    verdicts, known = _audit(
        spark, join(out, StudyFolder.AUDIT), swept.traces, needed, audit_command
    )
    if known:
        reused.append("the audit")

    tell("recommend", "comparing")
    found = figures(rows, verdicts, chosen, asked.networks, replayed.replayed)
    (row,) = tables["runs"].where(f.col("run") == run).collect()
    flags = tables["flags"].where(f.col("run") == run).orderBy("flag").collect()
    findings = StudyResult(
        replayed,
        row.asDict(),
        [each.asDict() for each in flags],
        found,
        advise(found),
        left_out,
        reused,
    )
    _write(spark, asked, findings, command)
    return findings


def _sweep(
    spark: SparkSession,
    asked: Study,
    replayed: ReplayedRun,
    chosen: Sequence[Candidate],
    progress: Callable[[SweepProgress], None] | None,
    command: str,
) -> SweepResult:
    workload = f"replay:{replayed.run}"
    grid = Grid(
        protocol=[each.name for each in chosen],
        workload=[workload],
        network=list(asked.networks),
        seed=[asked.seed],
        programs={workload: replayed.program},
    )
    return run_sweep(
        spark,
        grid,
        join(asked.out, StudyFolder.SWEEP),
        traces=True,
        progress=progress,
        command=command,
    )


def _audit(
    spark: SparkSession,
    folder: str,
    traces: Sequence[str],
    needed: set[str],
    command: AuditCommand,
) -> tuple[dict[str, dict[str, Any]], bool]:
    """The verdicts by run, and whether they were there already."""
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


def _write(spark: SparkSession, asked: Study, found: StudyResult, command: str) -> None:
    storage, folder = Storage(spark), join(asked.out, StudyFolder.TABLES)
    advice = [{"place": place, **asdict(each)} for place, each in enumerate(found.advice)]
    protocols = [asdict(each) for each in found.protocols]
    write_rows(spark, protocols, PROTOCOLS, join(folder, StudyFolder.PROTOCOLS))
    write_rows(spark, advice, RECOMMENDATION, join(folder, StudyFolder.RECOMMENDATION))
    text = recommendation(
        found.traffic, found.run, found.flags, found.protocols, found.advice, found.left_out
    )
    storage.write_text(join(asked.out, StudyFolder.ADVICE), text)
    storage.write_note(
        asked.out,
        StudyFolder.NOTE,
        {
            "version": 1,
            "sources": list(asked.sources),
            "seed": asked.seed,
            "run": found.traffic.run,
            "runs": found.traffic.runs,
            "messages": found.traffic.messages,
            "replayed": found.traffic.replayed,
            "quiet_ns": found.traffic.quiet_ns,
            "processes": len(found.traffic.program.processes),
            "protocols": list(dict.fromkeys(each.protocol for each in found.protocols)),
            "networks": list(asked.networks),
            "left_out": {name: e.reason for e in found.left_out for name in e.protocols},
            "sound": found.sound,
            "title": title(found.run),
            "sentences": sentences(found.run, found.flags),
            "told": found.traffic.told(),
            **made(spark, command),
        },
    )
