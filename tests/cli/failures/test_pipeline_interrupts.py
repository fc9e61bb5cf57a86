"""Ctrl-C in the phases of the pipeline's commands: a sentence, no process left, nothing half-written."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.failures.commands import (
    BEFOREHAND,
    CALLS,
    LIST,
    TIMEOUT,
    environment,
    files,
    run,
    sentence_of,
    temporary_files,
)

INGEST = f"ingest {{}} {LIST} --out messages --engine {{}}"
SWEEP = "sweep --protocol hybrid,rst --processes 10,12 --messages 60 --out sweep --engine local"
STUDY = f"study calls.csv {LIST} --network lan --protocol hybrid,rst --out study --engine local"


class Session(NamedTuple):
    """A command in a session of its own, as in a terminal, and the folders that it uses."""

    process: subprocess.Popen[str]
    folder: Path
    temporary: Path

    def others(self) -> list[str]:
        """The command lines of its processes besides the first, except for those that have ended."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.process.pid:
                continue
            try:
                state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == self.process.pid and state != "Z":
                    found.append((entry / "cmdline").read_text())
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found


Phase = Callable[[Session], bool]


def has_workers(session: Session) -> bool:
    """The local engine starts processes."""
    return any("forkserver" in line for line in session.others())


def is_reading(session: Session) -> bool:
    """Rows are on their way between stages."""
    return any(session.temporary.glob("beforehand-*/*/*.arrow"))


def is_writing(session: Session) -> bool:
    """The new output has files, next to where it will be."""
    return any(session.folder.glob(".messages.new/*"))


def has_jvm(session: Session) -> bool:
    """Spark starts: its JVM is there, and has not reported yet."""
    return any("java" in line for line in session.others())


def has_spark_workers(session: Session) -> bool:
    """Spark runs Python."""
    return any("pyspark" in line and "daemon" in line for line in session.others())


def is_sweeping(session: Session) -> bool:
    """The first wave runs."""
    return (session.folder / "sweep" / "_sweep.json").exists()


def is_replaying(session: Session) -> bool:
    """The steps before are finished."""
    return any(session.folder.glob("*study*/sweep/_sweep.json"))


def is_replaying_anew(session: Session) -> bool:
    """As above, next to the old study."""
    return (session.folder / ".study.new" / "sweep" / "_sweep.json").exists()


def interrupted(command: str, phase: Phase, folder: Path, temporary: Path) -> str:
    """Send Ctrl-C in a phase; the sentence. Afterwards no process and no temporary file is left."""
    with subprocess.Popen(
        [*BEFOREHAND, *shlex.split(command)],
        cwd=folder,
        env=environment(TMPDIR=str(temporary)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        session = Session(process, folder, temporary)
        try:
            while not phase(session):
                assert process.poll() is None, "the phase was never reached"
                time.sleep(0.005)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=TIMEOUT)
            deadline = time.monotonic() + TIMEOUT
            while (left := session.others()) and time.monotonic() < deadline:
                time.sleep(0.05)  # they notice that the first one has ended
            assert not left
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (130, ""), err
    assert temporary_files(temporary) == []
    return sentence_of(err)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a short list of calls."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "calls.csv").write_text(CALLS)
    return work


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Long lists of calls: in files that are worth a pool of processes, and in one that isn't."""
    folder = tmp_path_factory.mktemp("lists")
    (folder / "large").mkdir()
    for part in range(4):
        calls = (f"shop-{n % 40},bank-{n % 37},{n}\n" for n in range(part, 800_000, 4))
        (folder / "large" / f"{part}.csv").write_text("".join(calls))
    medium = folder / "medium.csv"
    medium.write_text("".join(f"shop-{n % 40},bank-{n % 37},{n}\n" for n in range(30_000)))
    return {"large": folder / "large", "medium": medium}


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


@pytest.mark.parametrize(
    ("source", "engine", "phase"),
    [
        ("large", "local", has_workers),
        ("large", "local", is_reading),
        ("medium", "local", is_writing),
        *(
            pytest.param("large", "spark", phase, marks=pytest.mark.spark)
            for phase in (has_jvm, has_spark_workers, is_writing)
        ),
    ],
)
def test_an_interrupted_ingest_leaves_nothing(
    source: str,
    engine: str,
    phase: Phase,
    folder: Path,
    temporary: Path,
    lists: dict[str, Path],
) -> None:
    """Neither a part of its output nor a hidden folder next to it."""
    before = files(folder)
    sentence = interrupted(INGEST.format(lists[source], engine), phase, folder, temporary)
    assert sentence == "beforehand: interrupted; nothing was kept"
    assert files(folder) == before


def test_an_interrupted_ingest_keeps_the_old_output(
    folder: Path, temporary: Path, lists: dict[str, Path]
) -> None:
    """With --force, which replaces it only by a complete one."""
    assert run(shlex.split(INGEST.format("calls.csv", "local")), folder).returncode == 0
    before = files(folder)
    anew = f"{INGEST.format(lists['medium'], 'local')} --force"
    interrupted(anew, is_writing, folder, temporary)
    assert files(folder) == before and "messages/_ingest.json" in before


def test_an_interrupted_audit_leaves_nothing(folder: Path, temporary: Path) -> None:
    """Here while it waits for the rest of a file: a pipe."""
    os.mkfifo(folder / "trace.jsonl")

    def is_open(session: Session) -> bool:
        try:
            os.close(os.open(folder / "trace.jsonl", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    before = set(os.listdir(folder))
    command = "audit trace.jsonl --out verdicts --engine local"
    sentence = interrupted(command, is_open, folder, temporary)
    assert sentence == "beforehand: interrupted; nothing was kept"
    assert set(os.listdir(folder)) == before


@pytest.mark.parametrize(("command", "phase"), [(SWEEP, is_sweeping), (STUDY, is_replaying)])
def test_an_interrupted_command_continues(
    command: str, phase: Phase, folder: Path, temporary: Path
) -> None:
    """The sentence says that finished parts are kept, and the same command completes them."""
    sentence = interrupted(command, phase, folder, temporary)
    assert "finished" in sentence and "the same command goes on from there" in sentence
    again = run(shlex.split(command), folder)
    assert again.returncode == 0, again.stderr
    if command == STUDY:
        assert "Reused from an earlier call: the ingest" in again.stdout


def test_an_interrupted_study_keeps_the_old_one(folder: Path, temporary: Path) -> None:
    """With --force, which replaces it only by a complete one."""
    assert run(shlex.split(STUDY), folder).returncode == 0
    before = files(folder)
    sentence = interrupted(f"{STUDY} --force", is_replaying_anew, folder, temporary)
    assert sentence == "beforehand: interrupted; the earlier study is still in study"
    assert files(folder) == before
