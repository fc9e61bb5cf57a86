"""Time what happens after `git clone`, part by part, as on a machine that has never seen the project.

    python3 scripts/time_fresh_clone.py [--commit REVISION] [--test] [--keep]

Clones this repository twice into a temporary folder, with empty caches of pip and uv. In one clone
everything runs as a new user would see it: `make demo`, `make demo` again and, with --test, `make test`.
In the other one the parts run one after the other: installing, mypyc, the C compiler.

CPU seconds are those of all child processes; unlike the elapsed time, they hardly depend on what else
the machine was doing.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pty
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A line of the demo that says whether causal order was kept.
VERDICT = re.compile(rb"in causal order|out of causal order")
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
ORPHANS_END = 20.0  # seconds; a JVM needs about one
# A C compiler that takes no time: what remains of a build is mypyc.
NO_COMPILER = '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n'


@dataclass(frozen=True)
class Timing:
    """One part: its seconds on the clock and on the processors, and whether it went well."""

    part: str
    elapsed: float
    cpu: float | None = None
    code: int = 0

    def __str__(self) -> str:
        cpu = "" if self.cpu is None else f"{self.cpu:8.1f}"
        return f"{self.part:36} {self.elapsed:8.1f} {cpu:>8}" + (
            f"  FAILED with {self.code}" if self.code else ""
        )


class FreshClone:
    """A clone of one commit, and commands that run in it."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.folder = folder
        for command in (
            ["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(folder)],
            ["git", "-C", str(folder), "checkout", "-q", "--detach", commit],
        ):
            subprocess.run(command, check=True)
        # Not the environment that runs this script, and nothing from earlier runs.
        self.environment = os.environ | {
            "PIP_NO_CACHE_DIR": "1",
            "UV_CACHE_DIR": str(folder / "uv-cache"),
            "PYTHONPATH": "",
        }

    def run(self, part: str, *command: str, **environment: str) -> Timing:
        """Time a command, whose output goes to a log next to the clone."""
        began, used = time.monotonic(), children_cpu()
        with self._log(part).open("wb") as log:
            code = subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment | environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            ).returncode
        elapsed = time.monotonic() - began
        return Timing(part, elapsed, children_cpu() - used, code)

    def watch(self, part: str, *command: str) -> list[Timing]:
        """Time a command, and when the first verdict appears on its screen."""
        began, used = time.monotonic(), children_cpu()
        # A terminal: programs hold back what they write to a pipe.
        master, screen = pty.openpty()
        job = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=screen, stderr=screen
        )
        os.close(screen)
        verdict = None
        with self._log(part).open("wb") as log:
            while output := read_screen(master):
                log.write(output)
                if verdict is None and VERDICT.search(output):
                    verdict = Timing(f"{part}: first verdict", time.monotonic() - began)
        os.close(master)
        code = job.wait()
        elapsed = time.monotonic() - began
        total = Timing(f"{part}: complete", elapsed, children_cpu() - used, code)
        return [total] if verdict is None else [verdict, total]

    def _log(self, part: str) -> Path:
        return self.folder.with_name(f"{self.folder.name}-{part.replace(' ', '-')}.log")


def read_screen(master: int) -> bytes:
    """The next output; empty when every program has closed the terminal."""
    try:
        return os.read(master, 65536)
    except OSError:  # Linux reports the end like this
        return b""


def adopt_orphans() -> None:
    """Become the parent of processes that outlive theirs, as Spark's JVM does: they count as well."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def children_cpu() -> float:
    """Seconds on all processors of the child processes that have ended; gives orphans time to end."""
    deadline = time.monotonic() + ORPHANS_END
    while time.monotonic() < deadline:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:  # there are none left
            break
        if not ended:
            time.sleep(0.1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_parts(clone: FreshClone) -> Iterator[Timing]:
    """Each part alone, so that none slows down another."""
    if "(VENV)/.base:" in (clone.folder / "Makefile").read_text():
        yield clone.run("install the package and reports", "make", ".venv/.base")
        yield clone.run("install Spark", "make", ".venv/.spark")
    yield clone.run("install what developers need", "make", ".venv/.stamp")
    compiler = clone.folder / "no-compiler"
    compiler.write_text(NO_COMPILER)
    compiler.chmod(0o755)
    scratch = ("--build-base", "build/scratch", "--build-lib", "build/scratch/lib")
    python = ".venv/bin/python"
    yield clone.run("mypyc", python, "setup.py", "-q", "build", *scratch, CC=str(compiler))
    yield clone.run("mypyc and the C compiler", "make", "compiled")
    (clone.folder / "setup.py").touch()
    yield clone.run("compile again, nothing changed", "make", "compiled")


def time_experience(clone: FreshClone, test: bool) -> Iterator[Timing]:
    """What a new user sees."""
    yield from clone.watch("make demo", "make", "demo")
    yield from clone.watch("make demo again", "make", "demo")
    if test:
        yield clone.run("make test", "make", "test")


def main() -> None:
    """Print the table as it grows."""
    parser = argparse.ArgumentParser(description="Time the path of a fresh clone.")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--test", action="store_true", help="also `make test`, in the first clone")
    parser.add_argument("--keep", action="store_true", help="keep the clones and their logs")
    options = parser.parse_args()
    revision = ["git", "-C", str(ROOT), "rev-parse", "--short", options.commit]
    commit = subprocess.run(revision, check=True, capture_output=True, text=True).stdout.strip()
    folder = Path(tempfile.mkdtemp(prefix="fresh-clone-"))
    adopt_orphans()
    print(f"commit {commit}, {os.cpu_count()} processors, in {folder}")
    print(f"{'part':36} {'elapsed':>8} {'CPU s':>8}", flush=True)
    failures = 0
    try:
        for timing in chain(
            time_experience(FreshClone(folder / "user", commit), options.test),
            time_parts(FreshClone(folder / "parts", commit)),
        ):
            print(timing, flush=True)
            failures += timing.code != 0
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
