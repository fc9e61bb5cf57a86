"""Commands x Ctrl-C and SIGTERM, in each phase: one sentence, the code of the signal, nothing left."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.failures.commands import BEFOREHAND, TIMEOUT, environment, files

# command -> the beginning of a line on standard error that shows the phase
PHASES = {
    "simulate --processes 200 --messages 100000": "messages: ",
    "simulate --processes 200 --messages 100000 --audit --out run": "messages: ",
    "check --protocol hybrid --messages 4": "estimating ...",
    "check --protocol hybrid --processes 4 --messages 3 --workers 2": "exploring: ",
    "cluster --nodes 4 --messages 2000000 --trace traces": "sending: ",
    "node bob": "bob listens at ",
}


def interrupted(command: str, phase: str, number: int, folder: Path) -> tuple[int, list[str]]:
    """Send a signal to the whole group once the phase is reached; the code, and what followed."""
    with subprocess.Popen(
        [*BEFOREHAND, *shlex.split(command)],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal does
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith(phase):
                    break
            os.killpg(process.pid, number)
            out, err = process.communicate(timeout=TIMEOUT)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert out == ""
    return process.returncode, err.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", PHASES)
def test_a_signal_ends_the_command(command: str, number: int, tmp_path: Path) -> None:
    """The last line is our sentence, there is no traceback, and the folder is as it was."""
    before = files(tmp_path)
    code, lines = interrupted(command, PHASES[command], number, tmp_path)
    assert code == 128 + number, lines
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert lines[-1].startswith(f"beforehand: {word}; ")
    assert not any("Traceback" in line or "Error" in line for line in lines)
    assert {name for name in files(tmp_path) if "." not in name} == set(before)


def test_ctrl_c_while_the_command_loads(tmp_path: Path) -> None:
    """Before anything of it could run."""
    python, *rest = BEFOREHAND
    with subprocess.Popen(
        [python, "-X", "importtime", *rest, "protocols"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rstrip().endswith(" typer._click"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
    lines = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, out) == (130, "")
    assert lines == ["beforehand: interrupted; nothing was started"] or lines == [
        "beforehand: interrupted; nothing was kept"
    ]
