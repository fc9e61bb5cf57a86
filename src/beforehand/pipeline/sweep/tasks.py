"""What runs in the tasks: scenarios come in as rows, what they gave goes out. Plain Python, no Spark.

A run that fails is a row with its error, and its events are nowhere: they wait in a file until the
run is over, so that memory stays bounded and no half run gets out.
"""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from beforehand.errors import TraceError
from beforehand.pipeline.sweep import columns
from beforehand.simulator import Program, Result, Scenario
from beforehand.trace.checks import first_problem
from beforehand.trace.recorder import Columns, Recorder, Sink
from beforehand.trace.sinks import table_of

Simulate = Callable[..., Result]  # like simulator.run
FRAMES: Final = 3  # of a traceback that are worth keeping


class Spool(Sink):
    """Events in a file of Arrow batches, to be read back when the run is over."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.file = tempfile.TemporaryFile(prefix="beforehand-sweep-")  # noqa: SIM115
        self.writer = pa.ipc.new_stream(self.file, schema)

    def write(self, columns: Columns) -> None:
        table = table_of(columns)
        found = first_problem(table)
        if found is not None:
            raise TraceError(f"the simulator recorded an event that makes no sense: {found[1]}")
        arrays = [pa.array(c, f.type) for c, f in zip(table, self.schema, strict=True)]
        self.writer.write_batch(pa.record_batch(arrays, schema=self.schema))

    def close(self) -> None:
        self.writer.close()
        self.file.seek(0)

    def abort(self) -> None:
        self.writer.close()
        self.file.close()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All that was written, once."""
        with self.file, pa.ipc.open_stream(self.file) as reader:
            yield from reader


class Task:
    """Does the runs of its rows, one after the other; is called with batches of PLANNED."""

    def __init__(
        self,
        simulate: Simulate,
        programs: Callable[[], Mapping[str, Program]],
        finished: Callable[[bool], None],
        wave: str,
        audit: bool,
        results: pa.Schema,
        events: pa.Schema | None,
    ) -> None:
        self.simulate = simulate
        self.programs = programs  # by their digests
        self.finished = finished  # is told of each run whether it failed
        self.wave = wave
        self.audit = audit
        self.results = results
        self.events = events  # None: no events go out, and result rows are not wrapped

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each run, and its events before it."""
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
            found = columns.measured(result)
        except Exception as problem:
            found = {"error": told(problem)}
        else:
            if spool is not None:
                yield from map(self._event, spool.batches())
        self.finished(found["error"] is not None)
        yield self._result({**todo, "wave": self.wave, **found})

    def scenario(self, todo: dict[str, Any]) -> Scenario:
        """The scenario of a row, which must be the one that the row is named after."""
        fields = json.loads(todo["scenario"])
        if todo["program"] is not None:
            fields["program"] = self.programs()[todo["program"]]
        scenario = Scenario(**fields)
        if scenario.digest() != todo["run"]:
            raise ValueError(
                f"the worker understands run {todo['run']} as another one, {scenario.digest()}; "
                "install the same version of beforehand on driver and workers"
            )
        return scenario

    def _result(self, row: dict[str, Any]) -> pa.RecordBatch:
        batch = pa.RecordBatch.from_pylist([row], schema=self.results)
        return batch if self.events is None else self._wrapped(result=batch)

    def _event(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return self._wrapped(event=batch)

    def _wrapped(self, **part: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of one of the two tables, with nothing beside them for the other one."""
        [rows] = map(len, part.values())
        schemas = {"result": self.results, "event": self.events}
        kinds = {name: pa.struct(list(schema)) for name, schema in schemas.items()}
        arrays = [
            part[name].to_struct_array().cast(kind) if name in part else pa.nulls(rows, kind)
            for name, kind in kinds.items()
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(kinds))


def told(problem: BaseException) -> str:
    """An error for the table: its type and text, and where it came from."""
    frames = traceback.extract_tb(problem.__traceback__)[-FRAMES:]
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n  ".join([f"{type(problem).__name__}: {problem}", *places])
