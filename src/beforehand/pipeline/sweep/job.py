"""One wave: runs as the items of tasks, their results and events as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.engine.batches import unnested
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep.columns import degree
from beforehand.pipeline.sweep.costs import cost
from beforehand.pipeline.sweep.grid import Point
from beforehand.pipeline.sweep.schemas import BOTH, RESULTS
from beforehand.pipeline.sweep.tasks import Planned, Simulate, SweepTask
from beforehand.simulator import Program


class WaveJob:
    """What the waves of a sweep share: programs, sent to the workers once, and how to simulate."""

    def __init__(
        self, engine: PipelineEngine, programs: Iterable[Program], audit: bool, simulate: Simulate
    ) -> None:
        self._engine = engine
        self._audit = audit
        self._simulate = simulate
        known = {program.digest(): program for program in {id(p): p for p in programs}.values()}
        self._programs: Callable[[], Mapping[str, Program]] = engine.share(known) if known else dict
        self.begin()

    def begin(self) -> None:
        """Count anew, for the next wave."""
        self._done, self._failed = self._engine.counter(), self._engine.counter()

    def progress(self) -> tuple[int, int]:
        """Finished runs of the current wave, and those of them that failed."""
        return self._done.read(), self._failed.read()

    def run(
        self,
        points: Sequence[Point],
        per_unit: float,
        wave: str,
        results: str,
        traces: str | None,
        traced: Sequence[str],
    ) -> None:
        """Simulate, and write the results, and the events of the runs in `traced`.

        `per_unit` is an estimate of the seconds per unit of cost.
        """
        task = SweepTask(
            simulate=self._simulate,
            programs=self._programs,
            done=self._done,
            failed=self._failed,
            wave=wave,
            audit=self._audit,
        )
        items = [
            (per_unit * cost(point.scenario), _planned(point, point.run in traced))
            for point in points
        ]
        # Kept until both tables are written, or every run would be simulated twice.
        with self._engine.tasks(items, task, BOTH).kept() as both:
            if traces is not None:
                both.map(partial(unnested, column="event"), EVENTS).write(traces)
            both.map(partial(unnested, column="result"), RESULTS).write(results)


def _planned(point: Point, traced: bool) -> Planned:
    program = point.scenario.program
    return Planned(point_row(point), None if program is None else program.digest(), traced)


def point_row(point: Point) -> dict[str, Any]:
    """The columns POINT."""
    scenario = point.scenario
    values = scenario.to_dict()
    return {
        "run": point.run,
        "protocol": scenario.protocol,
        "workload": point.workload,
        "network": point.network,
        "setting": point.setting,
        "processes": len(scenario.names),
        "messages": None if scenario.program is not None else scenario.messages,
        "seed": scenario.seed,
        "degree": degree(scenario),
        "scenario": json.dumps(values, sort_keys=True),
    }
