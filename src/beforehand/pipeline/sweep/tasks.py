"""What runs in the tasks: scenarios in, results out, both as rows. Plain Python, no Spark.

A failed run yields a row with its error and no events: events are spooled to a file until the run is
over, so that memory stays bounded and no partial run gets out.
"""

import json
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from beforehand.errors import TraceError
from beforehand.pipeline.sweep import columns
from beforehand.simulator import Program, Result, Scenario
from beforehand.trace.checks import first_problem
from beforehand.trace.recorder import Columns, Recorder, Sink
from beforehand.trace.sinks import table_of

Simulate = Callable[..., Result]  # like simulator.run
FRAMES: Final = 3  # of a traceback that are kept


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
class Task:
    """Simulates the rows of batches of PLANNED, one after the other."""

    simulate: Simulate
    programs: Callable[[], Mapping[str, Program]]  # by their digests
    finished: Callable[[bool], None]  # called after each run with whether it failed
    wave: str
    audit: bool
    results: pa.Schema
    events: pa.Schema | None  # None: no events go out, and result rows are not wrapped

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events and then the result of each run."""
        for batch in batches:
            for todo in batch.to_pylist():
                yield from self.run(todo)

    def run(self, todo: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """One run."""
        spool = Spool(self.events) if self.events is not None and todo["traced"] else None
        try:
            scenario = self.scenario(todo)
            if spool is None:
                result = self.simulate(scenario, audit=self.audit)
            else:
                with Recorder(todo["run"], spool) as recorder:
                    result = self.simulate(scenario, audit=self.audit, recorder=recorder)
            outcome = columns.measured(result)
        except Exception as problem:
            outcome = {"error": described(problem)}
        else:
            if spool is not None:
                yield from map(self._event, spool.batches())
        self.finished(outcome["error"] is not None)
        yield self._result({**todo, "wave": self.wave, **outcome})

    def scenario(self, todo: dict[str, Any]) -> Scenario:
        """The scenario of a row, whose digest must be the name of its run."""
        fields = json.loads(todo["scenario"])
        if todo["program"] is not None:
            fields["program"] = self.programs()[todo["program"]]
        scenario = Scenario(**fields)
        if scenario.digest() != todo["run"]:
            raise ValueError(
                f"the worker reads run {todo['run']} as another one, {scenario.digest()}; "
                "install the same version of beforehand on driver and workers"
            )
        return scenario

    def _result(self, row: dict[str, Any]) -> pa.RecordBatch:
        batch = pa.RecordBatch.from_pylist([row], schema=self.results)
        return batch if self.events is None else self._wrapped(result=batch)

    def _event(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return self._wrapped(event=batch)

    def _wrapped(self, **part: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of one of the two tables, with nulls for the other one."""
        [rows] = map(len, part.values())
        schemas = {"result": self.results, "event": self.events}
        kinds = {name: pa.struct(list(schema)) for name, schema in schemas.items()}
        arrays = [
            part[name].to_struct_array().cast(kind) if name in part else pa.nulls(rows, kind)
            for name, kind in kinds.items()
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(kinds))


def described(problem: BaseException) -> str:
    """An error for the table: its type, text and innermost frames."""
    frames = traceback.extract_tb(problem.__traceback__)[-FRAMES:]
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n  ".join([f"{type(problem).__name__}: {problem}", *places])
