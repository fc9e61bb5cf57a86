"""`beforehand study`: what causal delivery would cost on a workload, and which protocol to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from beforehand.cli import command_lines
from beforehand.cli import options as shared
from beforehand.cli.engine import open_engine, show_tasks
from beforehand.cli.options import SourceOptions, takes, value
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.cli.ui.progress import progress_steps
from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.engine import PipelineEngine
    from beforehand.pipeline.study import Candidate, Study, StudyResult
    from beforehand.pipeline.sweep import SweepProgress

CONTROL: Final = "control"  # the source of protocols that exist to be caught


@dataclass(frozen=True, kw_only=True)
class StudyOptions(SourceOptions):
    """What to study, and where to keep it."""

    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Spans, traces or lists of messages: files, folders or patterns, as for ingest. "
            "Default: a built-in workload.",
            show_default=False,
        ),
    ] = None
    out: Annotated[str, value("FOLDER", "The folder for everything.")]
    protocol: Annotated[
        list[str] | None, shared.protocols("Default: all that suit the workload.")
    ] = None
    network: Annotated[
        list[str] | None,
        shared.networks("Which networks: lan,wan or repeated. Default: lan, wan and mobile."),
    ] = None
    messages: Annotated[
        int, value("NUMBER", "Replay at most this many messages, the first of the run.", min=1)
    ] = 20_000
    seed: shared.StoredSeed = 1
    run: shared.Run = None


@takes(StudyOptions)
def command(options: StudyOptions) -> None:
    """Measure what causal order would cost on your workload, or a built-in one, and what to choose.

    Does it all: ingest, characterise, replay under every suitable protocol, audit, recommend. Finished
    steps are reused, so that an interrupted study continues where it stopped. Exits with 0 if all is
    well, 1 if a run failed or a protocol broke its promise, 2 if the study cannot be run.
    """
    with clear_errors():
        options.engine_options().check()  # before what needs its packages
        chosen = candidates(_listed(options.protocol))
        networks = _networks(_listed(options.network))
        study = _study(options, chosen, networks)
        with (
            open_engine(options.engine_options()) as engine,
            _shown_progress(engine) as (begin, progress),
            on_interrupt(kept=_kept(engine, options)),
        ):
            findings = run(engine, study, begin, progress)
    if options.as_json:
        print_json(to_dict(study, findings))
    else:
        _show(study, findings)
    if not findings.sound:
        raise typer.Exit(ExitCode.BROKEN)


def _kept(engine: PipelineEngine, options: StudyOptions) -> str | None:
    """What is there after an interrupt; None for nothing."""
    if not options.force:
        return f"finished steps are in {options.out}, and the same command goes on from there"
    is_there = engine.storage.exists(options.out)
    return f"the earlier study is still in {options.out}" if is_there else None


def run(
    engine: PipelineEngine,
    study: Study,
    begin: Callable[[str, str], None],
    progress: Callable[[SweepProgress], None],
) -> StudyResult:
    """Run a study, whose notes record the command lines that repeat it."""
    from beforehand.pipeline.study import run_study

    return run_study(
        engine,
        study,
        begin,
        progress,
        command=command_lines.study(study),
        audit_command=command_lines.audit,
    )


# ---- from options to a study ----


def _study(options: StudyOptions, candidates: list[Candidate], networks: list[str]) -> Study:
    from beforehand.pipeline.study import Study

    return Study(
        out=options.out,
        candidates=candidates,
        sources=options.sources or (),
        options=options.reading(),
        networks=networks,
        run=options.run,
        messages=options.messages,
        seed=options.seed,
        force=options.force,
        named=bool(options.protocol),
    )


def _listed(values: list[str] | None) -> list[str]:
    """The values of an option that may be repeated or have commas, without duplicates."""
    names = (name.strip() for value in values or [] for name in value.split(","))
    return list(dict.fromkeys(name for name in names if name))


def candidates(names: list[str]) -> list[Candidate]:
    """The named protocols; without names, all but those that exist to be refuted."""
    from beforehand import protocols
    from beforehand.pipeline.study.figures import Candidate

    known = [protocols.describe(name) for name in names or protocols.names()]
    return [
        Candidate(protocol.name, protocol.causal, protocol.metadata)
        for protocol in known
        if names or protocol.causal or protocol.source == CONTROL
    ]


def _networks(names: list[str]) -> list[str]:
    from beforehand.pipeline.study.study import NETWORKS as DEFAULT
    from beforehand.pipeline.sweep.networks import NETWORKS as KNOWN

    for name in names:
        if name not in KNOWN:
            raise PipelineError(f"there is no network {name!r}; choose from {', '.join(KNOWN)}")
    return names or list(DEFAULT)


@contextmanager
def _shown_progress(
    engine: PipelineEngine,
) -> Iterator[tuple[Callable[[str, str], None], Callable[[SweepProgress], None]]]:
    """A line for each step, and its progress: in runs while it replays, otherwise in tasks."""
    from beforehand.pipeline.study import STEPS

    with progress_steps(STEPS) as steps:

        def tasks(text: str) -> None:
            if steps.current != "replay":
                steps.update(0, 0, text)

        with show_tasks(engine, tasks):
            yield steps.begin, lambda so_far: steps.update(so_far.done, so_far.total)


# ---- for people and for programs ----


def _show(study: Study, findings: StudyResult) -> None:
    from beforehand.pipeline import prose
    from beforehand.pipeline.study.markdown import COLUMNS, LEGEND, by_network, line

    what = ", ".join(study.sources) or f"the built-in workload, seed {study.seed}"
    print_text(f"Source: {what}")
    print_text(f"Replayed: {findings.replayed.describe()}")
    for sentence in prose.sentences(findings.run, findings.flags):
        print_text(f"  {sentence}")
    for network, some in by_network(findings.protocols).items():
        typer.echo()
        print_text(f"On {network}, with {_described(network)}:")
        print_table(COLUMNS, [line(figures) for figures in some])
    print_text(f"In parentheses: controls, which do not preserve causal order. {LEGEND}.")
    typer.echo("\nWhat to choose:")
    print_table(
        ("when", "what"), [(advice.situation, advice.sentence) for advice in findings.advice]
    )
    for skipped in findings.excluded:
        print_text(f"Skipped: {', '.join(skipped.protocols)}: {skipped.reason}")
    if findings.reused:
        print_text(f"Reused from an earlier call: {', '.join(findings.reused)}.")
    print_text(f"Everything is in {study.out}; start with recommendation.md.")


def _described(network: str) -> str:
    """The properties of a network, as options of `beforehand simulate`."""
    from beforehand.pipeline.sweep.networks import NETWORKS

    fields = {name: value for name, value in NETWORKS[network].items() if name != "header"}
    return ", ".join(f"{name} {value}" for name, value in fields.items()) or "the default delays"


def to_dict(study: Study, findings: StudyResult) -> dict[str, Any]:
    """The findings as JSON."""
    return {
        "out": study.out,
        "sources": list(study.sources),
        "seed": study.seed,
        "run": findings.run,
        "replayed": findings.replayed.replayed,
        "protocols": [asdict(figures) for figures in findings.protocols],
        "recommendation": [asdict(advice) for advice in findings.advice],
        "left_out": [asdict(skipped) for skipped in findings.excluded],
        "reused": findings.reused,
        "sound": findings.sound,
    }
