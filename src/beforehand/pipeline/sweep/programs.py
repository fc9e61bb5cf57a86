"""The workloads of a grid that replay something: `replay:PATH` becomes programs.

PATH is what `beforehand ingest` has written, with `#RUN` behind it for one of its runs (otherwise all
of them take part, each as a workload of its own), or a program or trace of `beforehand simulate`.
"""

from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc

from beforehand.errors import BeforehandError, PipelineError
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.ingest import read_messages
from beforehand.pipeline.replay import program_of
from beforehand.pipeline.storage import join
from beforehand.pipeline.sweep.grid import PREFIX, Grid
from beforehand.results.format import some
from beforehand.results.layout import IngestFolder
from beforehand.simulator import Program


def with_programs(engine: PipelineEngine, grid: Grid) -> Grid:
    """The same grid, with the programs that it replays."""
    workloads: dict[str, None] = {}
    programs = dict(grid.programs)
    for workload in grid.workload:
        if workload in programs or not workload.startswith(PREFIX):
            workloads[workload] = None
            continue
        replays = _read(engine, workload.removeprefix(PREFIX))
        programs |= replays
        workloads |= dict.fromkeys(replays)
    return replace(grid, workload=tuple(workloads), programs=programs)


def _read(engine: PipelineEngine, text: str) -> dict[str, Program]:
    """Workload -> program."""
    path, _, run = text.partition("#")
    if path and engine.storage.exists(join(path, IngestFolder.MESSAGES)):
        return _ingested(engine, path, run)
    if run:
        raise PipelineError(
            f"{PREFIX}{text}: {path} has no messages, so no run {run!r} of it can be replayed; name a "
            "folder that `beforehand ingest` has written"
        )
    if not path or not Path(path).exists():
        raise PipelineError(
            f"{PREFIX}{text}: there is no such file or folder; name what `beforehand ingest` has "
            "written, a program (.jsonl) or a trace"
        )
    return {PREFIX + text: Program.read(Path(path))}


def _ingested(engine: PipelineEngine, path: str, run: str) -> dict[str, Program]:
    table = read_messages(engine, path).collect()
    runs = sorted(table["run"].unique().to_pylist())
    if not runs:
        raise PipelineError(f"{PREFIX}{path}: it holds no messages, so there is nothing to replay")
    if run and run not in runs:
        raise PipelineError(f"{PREFIX}{path}: it has no run {run!r}; its runs: {some(runs, 10)}")
    programs = {}
    for chosen in [run] if run else runs:
        rows = table.filter(pc.equal(table["run"], chosen)).to_pylist()
        name = f"{PREFIX}{path}#{chosen}" if run or len(runs) > 1 else PREFIX + path
        try:
            programs[name] = program_of(rows)
        except BeforehandError as problem:
            raise PipelineError(f"{name}: {problem}") from None
    return programs
