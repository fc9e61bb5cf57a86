"""`make demo`: the first part at once, the rest prepared meanwhile, nothing left running."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.packaging.project import PROJECT, clean_environment


class FakeProject:
    """The script with a make, a demo and a Java that only write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls.txt"
        self.calls.touch()
        for name in ("scripts", "build"):
            (folder / name).mkdir()
        shutil.copy(PROJECT / "scripts" / "demo.py", folder / "scripts")
        self.program("scripts/check-java", "")
        self.program("demo", 'echo "demo $* on [$PYTHONPATH]" >> calls.txt')
        self.make(ready=False, body='sleep 0.2; echo noise; echo "prepared $*" >> calls.txt')

    def program(self, path: str, body: str) -> None:
        """Write a script."""
        script = self.folder / path
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)

    def make(self, ready: bool, body: str) -> None:
        """A make that knows whether targets are up to date, and does something if they are not."""
        self.program(
            "make",
            f'case "$*" in *--question*) exit {int(not ready)};; esac\n{body}',
        )

    def start(self) -> subprocess.Popen[str]:
        """Start the script."""
        arguments = ["./make", "spark", "compiled", "--", "./demo", "--out", "there"]
        return subprocess.Popen(
            [sys.executable, "scripts/demo.py", *arguments],
            cwd=self.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self) -> tuple[int, str]:
        """Its exit code and its output."""
        with self.start() as job:
            output, _ = job.communicate(timeout=60)
            return job.returncode, output

    def recorded(self) -> list[str]:
        """All calls so far."""
        return self.calls.read_text().splitlines()


@pytest.fixture
def project(tmp_path: Path) -> FakeProject:
    """A fresh clone: nothing is prepared."""
    return FakeProject(tmp_path)


def test_a_fresh_clone_runs_the_first_part_before_the_rest_is_ready(project: FakeProject) -> None:
    """Pure first, without the noise of the preparation, then everything on the compiled cores."""
    code, output = project.run()
    assert (code, "noise" in output) == (0, False)
    assert "noise" in (project.folder / "build/demo-preparation.log").read_text()
    assert project.recorded() == [
        "demo --out there on []",
        "prepared --no-print-directory --jobs=2 spark compiled",
        f"demo --out there --full on [{project.folder}/build/compiled]",
    ]


def test_what_is_up_to_date_is_not_prepared_again(project: FakeProject) -> None:
    """Then there is nothing to bridge, and the full demo contains the first part."""
    project.make(ready=True, body="echo prepared >> calls.txt")
    assert project.run() == (0, "")
    assert project.recorded() == [f"demo --out there --full on [{project.folder}/build/compiled]"]


def test_without_java_the_first_part_runs_and_the_rest_is_reported(project: FakeProject) -> None:
    """One sentence says what was skipped and why, and that is no failure."""
    project.program("scripts/check-java", "echo 'needs Java 17: there is no java.' >&2; exit 1")
    code, output = project.run()
    assert code == 0
    assert output == (
        "== skipped: the audit on Spark, the studies and the growth."
        " needs Java 17: there is no java.\n"
    )
    assert project.recorded() == ["demo --out there on []"]


def test_a_failed_first_part_ends_everything(project: FakeProject) -> None:
    """Its exit code is the one of the script; the preparation is stopped."""
    project.make(ready=False, body="sleep 60; echo prepared >> calls.txt")
    project.program("demo", "exit 5")
    began = time.monotonic()
    assert project.run()[0] == 5
    assert time.monotonic() - began < 50  # did not wait for the preparation
    assert project.recorded() == []


def test_a_failed_preparation_names_its_log(project: FakeProject) -> None:
    """The first part was still shown."""
    project.make(ready=False, body="exit 2")
    code, output = project.run()
    assert code == 3
    assert f"the reason is in {project.folder}/build/demo-preparation.log" in output
    assert project.recorded() == ["demo --out there on []"]


def _as_from_a_terminal() -> None:
    """Where tests run in the background, SIGINT is ignored, and a shell could not trap it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_demo_leaves_nothing_running(
    project: FakeProject, number: signal.Signals, code: int
) -> None:
    """The preparation ends with all its children, and the demo has time to clean up."""
    project.make(
        ready=False, body="sh -c 'while :; do echo tick >> ticks.txt; sleep 0.05; done'; echo"
    )
    project.program(
        "demo",
        'trap "sleep 0.3; echo cleaned >> calls.txt; exit 1" INT TERM\n'
        "echo started >> calls.txt\nwhile :; do sleep 0.05; done",
    )
    job = subprocess.Popen(
        [sys.executable, "scripts/demo.py", "./make", "spark", "--", "./demo"],
        cwd=project.folder,
        env=clean_environment(),
        start_new_session=True,  # a terminal sends Ctrl-C to a whole group
        preexec_fn=_as_from_a_terminal,
    )
    ticks = project.folder / "ticks.txt"
    deadline = time.monotonic() + 30
    while not (ticks.exists() and project.recorded()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ticks.exists()
    if number == signal.SIGINT:
        os.killpg(job.pid, number)
    else:
        job.send_signal(number)
    assert job.wait(timeout=30) == code
    assert "cleaned" in project.recorded()
    ended = ticks.read_text()
    time.sleep(0.3)
    assert ticks.read_text() == ended
