"""What runs in the tasks: scenarios in, results out, both as rows.

A failed run yields a row with its error and no events: events are spooled to a file until the run is
over, so that memory stays bounded and no partial run gets out.
"""

import json
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from beforehand.errors import TraceError
from beforehand.pipeline.engine import Counter
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep import columns
from beforehand.pipeline.sweep.schemas import BOTH, RESULTS
from beforehand.simulator import Program, Result, Scenario
from beforehand.trace.checks import first_problem
from beforehand.trace.recorder import Columns, Recorder, Sink
from beforehand.trace.sinks import table_of

Simulate = Callable[..., Result]  # like simulator.run
FRAMES: Final = 3  # of a traceback that are kept


class Planned(NamedTuple):
    """A run to do."""

    row: dict[str, Any]  # the columns of its point
    program: str | None  # digest of the program that it replays
    traced: bool  # whether to keep its events


class Spool(Sink):
    """Events in a file of Arrow batches, read back when the run is over."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.file = tempfile.TemporaryFile(prefix="beforehand-sweep-")  # noqa: SIM115
        self.writer = pa.ipc.new_stream(self.file, schema)

    def write(self, columns: Columns) -> None:
        table = table_of(columns)
        problem = first_problem(table)
        if problem is not None:
            raise TraceError(f"the simulator recorded an invalid event: {problem[1]}")
        arrays = [pa.array(c, f.type) for c, f in zip(table, self.schema, strict=True)]
        self.writer.write_batch(pa.record_batch(arrays, schema=self.schema))

    def close(self) -> None:
        self.writer.close()
        self.file.seek(0)

    def abort(self) -> None:
        self.writer.close()
        self.file.close()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All events, readable once."""
        with self.file, pa.ipc.open_stream(self.file) as reader:
            yield from reader


@dataclass(frozen=True, kw_only=True)
class SweepTask:
    """Simulates the runs that a wave has planned."""

    simulate: Simulate
    programs: Callable[[], Mapping[str, Program]]  # by their digests
    done: Counter
    failed: Counter
    wave: str
    audit: bool

    def __call__(self, planned: Planned) -> Iterator[pa.RecordBatch]:
        """The events of a run, if they are kept, and then its result."""
        spool = Spool(EVENTS) if planned.traced else None
        row = planned.row
        try:
            scenario = self.scenario(planned)
            if spool is None:
                result = self.simulate(scenario, audit=self.audit)
            else:
                with Recorder(row["run"], spool) as recorder:
                    result = self.simulate(scenario, audit=self.audit, recorder=recorder)
            outcome = columns.measured(result)
        except Exception as problem:
            outcome = {"error": described(problem)}
        else:
            if spool is not None:
                yield from (_wrapped(event=batch) for batch in spool.batches())
        self.done.add(1)
        if outcome["error"] is not None:
            self.failed.add(1)
        complete = {**row, "wave": self.wave, **outcome}
        yield _wrapped(result=pa.RecordBatch.from_pylist([complete], schema=RESULTS))

    def scenario(self, planned: Planned) -> Scenario:
        """The scenario of a run, whose digest must be its name."""
        run, fields = planned.row["run"], json.loads(planned.row["scenario"])
        if planned.program is not None:
            fields["program"] = self.programs()[planned.program]
        scenario = Scenario(**fields)
        if scenario.digest() != run:
            raise ValueError(
                f"the worker reads run {run} as another one, {scenario.digest()}; "
                "install the same version of beforehand on driver and workers"
            )
        return scenario


def _wrapped(**part: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of one of the tables of BOTH, with nulls for the other one."""
    [rows] = map(len, part.values())
    arrays = [
        part[field.name].to_struct_array().cast(field.type)
        if field.name in part
        else pa.nulls(rows, field.type)
        for field in BOTH
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BOTH)


def described(problem: BaseException) -> str:
    """An error for the table: its type, text and innermost frames."""
    frames = traceback.extract_tb(problem.__traceback__)[-FRAMES:]
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n  ".join([f"{type(problem).__name__}: {problem}", *places])
