"""The worker processes of the local engine: when they start, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from beforehand.errors import TraceError
from beforehand.pipeline.engine import LocalEngine
from tests.pipeline.engine import work
from tests.pipeline.engine.work import SCHEMA

SECONDS = 3.0  # of work, estimated, so that a pool is worth it


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    """An engine of its own for each test."""
    chosen = LocalEngine(workers=2)
    yield chosen
    chosen.close()


def is_running(process: int) -> bool:
    """Whether there is such a process, other than a zombie."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def ignores_interrupts(process: int) -> bool:
    """Whether Ctrl-C doesn't reach the code of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        name, _, mask = line.partition(":")
        if name in ("SigBlk", "SigIgn") and int(mask, 16) & 1 << (signal.SIGINT - 1):
            return True
    return False


def wait_until_gone(processes: list[int]) -> None:
    """Fail if one of these processes doesn't end."""
    deadline = time.monotonic() + work.WAIT_SECONDS / 2
    while any(map(is_running, processes)):
        assert time.monotonic() < deadline, f"still running: {processes}"
        time.sleep(0.05)


@pytest.mark.parametrize(("seconds", "items"), [(0.1, 4), (SECONDS, 1)])
def test_little_work_and_single_tasks_stay_in_this_process(
    engine: LocalEngine, seconds: float, items: int
) -> None:
    """No pool is started for them."""
    table = engine.tasks([(seconds, n) for n in range(items)], work.one_row, SCHEMA).collect()
    assert set(table["process"].to_pylist()) == {os.getpid()}


def test_much_work_is_done_by_workers(engine: LocalEngine) -> None:
    """They are started once, for all stages, and there are no more than allowed."""
    items = [(SECONDS, number) for number in range(20)]
    processes: set[int] = set()
    for _ in range(3):
        table = engine.tasks(items, work.spread, SCHEMA).grouped(("key",), work.summed, SCHEMA)
        processes |= set(table.collect()["process"].to_pylist())
    assert os.getpid() not in processes and 1 <= len(processes) <= 2


def test_any_exception_reaches_the_caller_as_it_is(engine: LocalEngine) -> None:
    """From this process and from workers, also a bug that nobody expects."""
    for seconds in (0.0, SECONDS):
        items = [(seconds, number) for number in range(5)]
        with pytest.raises(ZeroDivisionError, match="^by nothing$"):
            engine.tasks(items, work.break_down, SCHEMA).collect()


def test_a_failure_ends_the_other_tasks(engine: LocalEngine, tmp_path: Path) -> None:
    """Nobody waits for what is of no use any more."""
    fail = partial(work.fail_or_wait, folder=str(tmp_path))
    with pytest.raises(TraceError, match="one of the others"):
        engine.tasks([(SECONDS, number) for number in range(2)], fail, SCHEMA).collect()
    wait_until_gone([int((tmp_path / "started-0").read_text())])
    assert not (tmp_path / "waited").exists()


def test_closing_ends_the_workers_and_removes_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that was closed can be used again, and closed again."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = LocalEngine(workers=2)
    for _ in range(2):
        items = [(SECONDS, number) for number in range(4)]
        with engine.tasks(items, work.spread, SCHEMA).kept() as kept:
            workers = sorted(set(kept.collect()["process"].to_pylist()))
        assert workers and all(map(is_running, workers))
        assert any(tmp_path.rglob("*.arrow"))
        engine.close()
        wait_until_gone(workers)
        assert not list(tmp_path.iterdir())
    engine.close()


INTERRUPTED = """
import sys
from functools import partial
from beforehand.pipeline.engine import LocalEngine
from tests.pipeline.engine import work

engine = LocalEngine(workers=2)
wait = partial(work.wait_for_the_end, folder=sys.argv[1])
try:
    engine.tasks([(3.0, number) for number in range(8)], wait, work.SCHEMA).collect()
except KeyboardInterrupt:
    engine.close()
    print("interrupted")
"""


def _as_from_a_terminal() -> None:
    """Where tests run in the background, SIGINT is ignored from the start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_the_workers_without_a_word_from_them(tmp_path: Path) -> None:
    """The signal reaches the whole group of processes; only the first one reacts."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_as_from_a_terminal,
    ) as process:
        deadline = time.monotonic() + work.WAIT_SECONDS
        while len(list(tmp_path.glob("started-*"))) < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        workers = [int(file.read_text()) for file in tmp_path.glob("started-*")]
        assert all(map(ignores_interrupts, workers)) and not ignores_interrupts(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate()
    assert (process.returncode, output, errors) == (0, "interrupted\n", "")
    wait_until_gone(workers)
    assert not (tmp_path / "waited").exists() and len(list(tmp_path.glob("started-*"))) == 2
