"""Where the results of a sweep are, and which of them count.

A sweep runs in waves. Its folder holds

    results/WAVE/    the results of a wave's runs: Parquet with the columns RESULTS
    traces/WAVE/     their events, if requested: Parquet with the columns EVENTS
    waves/WAVE.json  which runs these are; written last, atomically

Only waves with a note count, so a killed wave is never visible; its leftovers are removed when the next
sweep starts. A run that was repeated belongs to the last wave that contains it.
"""

import json
import re
import uuid
from dataclasses import asdict, dataclass, field
from typing import Final

import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.storage import absolute, join
from beforehand.pipeline.sweep.schemas import RESULTS
from beforehand.results.layout import SweepFolder

_NAME: Final = re.compile(r"\d{5}-[0-9a-f]{8}")


@dataclass(frozen=True)
class Wave:
    """The note of a wave that is complete."""

    name: str
    runs: list[str]
    failed: list[str]
    traced: list[str]  # runs whose events are in its traces
    audited: bool
    # Provenance; empty in notes of older versions.
    command: str = ""  # for the whole grid
    commands: dict[str, str] = field(default_factory=dict)  # run -> command for this run alone
    environment: dict[str, str] = field(default_factory=dict)
    when: str = ""


class Waves:
    """The waves in a folder."""

    def __init__(self, engine: PipelineEngine, out: str) -> None:
        self._engine = engine
        self._storage = engine.storage
        self.out = absolute(out)
        self.complete = self._read()

    def _read(self) -> list[Wave]:
        folder = join(self.out, SweepFolder.WAVES)
        files = [f for f in self._storage.inside(folder) if f.name.endswith(".json")]
        return [Wave(**json.loads(self._storage.read_text(file.path))) for file in files]

    # ---- what is there ----

    def owners(self) -> dict[str, Wave]:
        """For each run, the wave whose result counts."""
        return {run: wave for wave in self.complete for run in wave.runs}

    def traced(self) -> dict[str, Wave]:
        """For each run with events, the wave that contains them."""
        return {run: wave for wave in self.complete for run in wave.traced}

    def stored(self) -> pa.Table:
        """The results of all runs in the folder, each once, with the names of their own grids."""
        owners = self.owners()
        folders = sorted({self.results(wave.name) for wave in owners.values()})
        if not folders:
            return RESULTS.empty_table()
        rows = self._engine.read(folders, RESULTS).collect()
        pairs = zip(rows["run"].to_pylist(), rows["wave"].to_pylist(), strict=True)
        return rows.filter(pa.array([owners[run].name == wave for run, wave in pairs]))

    def results(self, wave: str) -> str:
        """The folder for the results of a wave."""
        return join(self.out, SweepFolder.RESULTS, wave)

    def failed(self, wave: str) -> list[str]:
        """The failed runs of a written wave, whether or not it counts yet."""
        rows = self._engine.read([self.results(wave)], RESULTS).collect()
        failed: list[str] = rows.filter(rows["error"].is_valid())["run"].to_pylist()
        return failed

    def traces(self, wave: str) -> str:
        """The folder for the events of a wave."""
        return join(self.out, SweepFolder.TRACES, wave)

    # ---- what is added ----

    def tidy(self) -> None:
        """Mark the folder as a sweep's, and remove the leftovers of killed waves."""
        if self._storage.read_note(self.out, SweepFolder.MARK) is None:
            for name in (SweepFolder.RESULTS, SweepFolder.TRACES, SweepFolder.WAVES):
                if self._storage.exists(join(self.out, name)):
                    raise PipelineError(
                        f"{self.out} has a {name!r} that isn't from a sweep; choose another folder"
                    )
            self._storage.write_note(
                self.out, SweepFolder.MARK, {"holds": "the results of beforehand sweep"}
            )
        known = {wave.name for wave in self.complete}
        for table in (SweepFolder.RESULTS, SweepFolder.TRACES):
            for file in self._storage.inside(join(self.out, table)):
                if _NAME.fullmatch(file.name) and file.name not in known:
                    self.discard(file.name)

    def new_name(self) -> str:
        """A name for the next wave, later than all others.

        The random token keeps it apart from the wave of a killed sweep, whose JVM may live on for a
        moment and write into its folder.
        """
        last = max((int(wave.name[:5]) for wave in self.complete), default=0)
        return f"{last + 1:05}-{uuid.uuid4().hex[:8]}"

    def discard(self, name: str) -> None:
        """Remove what a failed wave may have written."""
        self._storage.delete(self.results(name))
        self._storage.delete(self.traces(name))

    def add(self, wave: Wave) -> None:
        """Make a complete wave count."""
        self._storage.write_note(
            join(self.out, SweepFolder.WAVES), f"{wave.name}.json", asdict(wave)
        )
        self.complete.append(wave)
