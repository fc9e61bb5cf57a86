"""Both engines give equal tables: the same functions on the same rows, in one task or in many."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from beforehand.pipeline.audit import audit
from beforehand.pipeline.engine import LocalEngine, PipelineEngine
from beforehand.pipeline.engine.balance import SMALL
from beforehand.pipeline.engine.spark import SparkEngine
from beforehand.pipeline.study import Candidate, Study, run_study
from tests.pipeline.audit.logs import random_run
from tests.pipeline.audit.test_audit import write
from tests.pipeline.ingest.plain import NO_REAL, REAL
from tests.pipeline.ingest.read.test_bad_files import SAMPLES
from tests.pipeline.ingest.test_real_traces import UNREADABLE
from tests.pipeline.outputs import Output, check_equal, read_output

BUILT_IN, OWN = "built-in", "samples"
CANDIDATES = (
    Candidate("hybrid-sps", True, "O(1)"),
    Candidate("rst", True, "O(n^2)"),
    Candidate("fifo", False, "O(1)"),
)
MESSAGES = {BUILT_IN: 1500}  # that are replayed: enough for fifo to break causal order
FEW_MESSAGES = 300
LARGE = {"messages"}  # compares almost two billion pairs of messages
TRACE_SETS = sorted(path.name for path in REAL.iterdir() if path.is_dir()) if REAL.is_dir() else []


def trace_set(name: str) -> object:
    """A parameter for one of the real trace sets; some have no reader yet."""
    if name in UNREADABLE:
        return pytest.param(name, marks=pytest.mark.skip(reason=f"no reader for {name} yet"))
    return pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name


SOURCES = [
    BUILT_IN,
    OWN,
    *(
        [trace_set(name) for name in TRACE_SETS]
        or [pytest.param("real traces", marks=pytest.mark.skip(reason=NO_REAL))]
    ),
]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("spark", SMALL), marks=pytest.mark.spark, id="spark"),
        pytest.param(("spark", 0.0), marks=pytest.mark.spark, id="spark-in-many-tasks"),
        pytest.param(("local", 0.0), id="local-in-many-tasks"),
    ],
)
def other(request: pytest.FixtureRequest) -> Iterator[LocalEngine | SparkEngine]:
    """An engine to compare with the local one, which does so little in one task."""
    name, small = request.param
    chosen: LocalEngine | SparkEngine
    if name == "local":
        chosen = LocalEngine(workers=2, small=small)
    else:
        chosen = SparkEngine.of(request.getfixturevalue("spark"), small)
    yield chosen
    chosen.close()


@pytest.fixture(scope="module")
def own_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each format, twice to have duplicates, and one that is in none of them."""
    root = tmp_path_factory.mktemp("samples")
    for name, text in SAMPLES.items():
        for folder in (name, f"{name} again"):
            (root / folder).mkdir()
            (root / folder / "1").write_text(text)
            (root / folder / "2").write_text(text)
    people = [f"p{number}" for number in range(7)]
    lines = [f"{people[n % 7]} {people[n * n % 5]} {n}" for n in range(400)]
    (root / "list" / "long").write_text("".join(f"{line}\n" for line in lines))
    (root / "LICENSE").write_text("free\n")
    return root


def study(engine: PipelineEngine, name: str, sources: list[str], out: Path) -> Output:
    """Ingest, characterise, replay and audit."""
    most = MESSAGES.get(name, FEW_MESSAGES)
    asked = Study(str(out), CANDIDATES, sources, networks=("wan",), messages=most)
    run_study(engine, asked)
    return read_output(out)


@pytest.fixture(scope="module")
def reference(
    local_engine: LocalEngine, own_samples: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[list[str], Output]]:
    """The sources of a name, and what the local engine makes of them in single tasks; made once."""
    known: dict[str, tuple[list[str], Output]] = {}

    def make(name: str) -> tuple[list[str], Output]:
        if name not in known:
            folders = {BUILT_IN: [], OWN: [str(own_samples)]}
            sources = folders.get(name, [str(REAL / name)])
            out = tmp_path_factory.mktemp("reference") / "out"
            known[name] = sources, study(local_engine, name, sources, out)
        return known[name]

    return make


@pytest.mark.parametrize("name", SOURCES)
def test_studies_are_equal(
    other: LocalEngine | SparkEngine,
    name: str,
    reference: Callable[[str], tuple[list[str], Output]],
    tmp_path: Path,
) -> None:
    """All tables and notes of ingest, characterise, replays, audit and advice."""
    sources, expected = reference(name)
    made = study(other, name, sources, tmp_path / "out")
    check_equal(made, expected)
    for table in (
        "ingest/messages",
        "characteristics/runs",
        "characteristics/processes",
        "sweep/results/WAVE",
        "sweep/traces/WAVE",
        "audit/verdicts",
        "study/protocols",
    ):
        assert expected.rows(table), table
    assert set(expected.columns["study/protocols"]["protocol"]) >= {"hybrid-sps", "fifo"}
    if name == BUILT_IN:
        assert expected.rows("audit/violations"), "fifo should break causal order"
    if name == OWN:
        assert len(expected.texts["ingest/_ingest.json"]["formats"]) == len(SAMPLES)
        assert expected.rows("ingest/events") and expected.rows("ingest/rejects")
        assert sum(expected.columns["ingest/files"]["duplicates"])
        files = list((tmp_path / "out" / "ingest" / "messages").glob("*.parquet"))
        assert (len(files) > 1) is (other.small == 0.0)


def test_audits_are_equal(other: PipelineEngine, local_engine: LocalEngine, tmp_path: Path) -> None:
    """Of runs with all kinds of mistakes, spread over files of both formats."""
    events = [event for seed in range(40) for event in random_run(seed, run=f"run-{seed}")]
    random.Random(1).shuffle(events)
    (tmp_path / "traces").mkdir()
    for number, ending in enumerate((".parquet", ".jsonl.gz", ".parquet", ".jsonl.gz")):
        write(tmp_path / "traces" / f"{number}{ending}", events[number::4])
    (tmp_path / "traces" / "bad.jsonl").write_text("{")
    outputs = []
    for number, engine in enumerate((local_engine, other)):
        out = tmp_path / f"out-{number}"
        with audit(engine, [str(tmp_path / "traces")]) as judged:
            judged.write(str(out))
        outputs.append(read_output(out))
    check_equal(*outputs)
    assert outputs[0].rows("verdicts") == 40
    assert set(outputs[0].columns["violations"]["kind"]) == {
        "causal",
        "fifo",
        "duplicate",
        "invented",
        "lost",
    }
    assert outputs[0].texts["_audit.json"]["unreadable"]
