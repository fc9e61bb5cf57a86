"""`make demo`: something to look at from the first minute on, and everything as soon as it can run.

    python scripts/demo.py MAKE PREPARED... -- COMMAND...

COMMAND is the demo that needs neither Java nor compiled cores, and runs at once. Meanwhile
`MAKE PREPARED...` installs Spark and compiles the cores, with its output in a log. Then COMMAND runs
again with --full, on the compiled cores. If everything is up to date, only the full demo runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
COMPILED = ROOT / "build" / "compiled"
LOG = ROOT / "build" / "demo-preparation.log"

INTERRUPTED = 130
UNPREPARED = 3  # the machine lacks something, as in the command line's exit codes


class Preparation:
    """A background job in a session of its own, so that it can be stopped with all its children."""

    def __init__(self, command: list[str]) -> None:
        # The demo on the screen comes first.
        with LOG.open("w") as log:
            self.job = subprocess.Popen(
                ["nice", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> bool:
        """Whether it succeeded; says what it waits for if it has to."""
        if self.job.poll() is None:
            print(f"== preparing the rest: Spark and the compiled cores ({LOG})", flush=True)
        return self.job.wait() == 0

    def stop(self) -> None:
        """End it and everything that it started."""
        if self.job.poll() is None:
            os.killpg(self.job.pid, signal.SIGTERM)
            self.job.wait()


def run(command: list[str], python_path: str) -> int:
    """Run the demo on the screen; on Ctrl-C, which it receives too, let it clean up."""
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": python_path}) as job:
        try:
            return job.wait()
        except KeyboardInterrupt:
            job.wait()
            raise
        except SystemExit:
            job.terminate()
            raise


def why_no_java() -> str | None:
    """What is missing for Spark, in a sentence."""
    check = subprocess.run([ROOT / "scripts" / "check-java"], capture_output=True, text=True)
    return check.stderr.splitlines()[0] if check.returncode else None


def demo(make: list[str], prepared: list[str], command: list[str]) -> int:
    """Run what can run now, then the rest; the first exit code that is not 0."""
    compiled = (
        subprocess.run([*make, "--question", "compiled"], capture_output=True).returncode == 0
    )
    python_path = str(COMPILED) if compiled else ""
    if reason := why_no_java():
        code = run(command, python_path)
        print(f"== skipped: the audit on Spark, the studies and the growth. {reason}")
        return code
    if subprocess.run([*make, "--question", *prepared], capture_output=True).returncode:
        preparation = Preparation([*make, "--jobs=2", *prepared])
        try:
            if code := run(command, python_path):
                return code
            if not preparation.wait():
                print(f"== the rest could not be prepared; the reason is in {LOG}")
                return UNPREPARED
        finally:
            preparation.stop()
    return run([*command, "--full"], str(COMPILED))


def end(number: int, frame: FrameType | None) -> None:
    """Turn a signal into an exception, so that children are stopped."""
    sys.exit(128 + number)


def main() -> None:
    """Split the arguments at `--`."""
    arguments = sys.argv[1:]
    split = arguments.index("--")
    make, *prepared = arguments[:split]
    signal.signal(signal.SIGTERM, end)
    try:
        code = demo([make, "--no-print-directory"], prepared, arguments[split + 1 :])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
