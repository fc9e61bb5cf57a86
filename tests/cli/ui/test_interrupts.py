"""Ctrl-C and SIGTERM: a sentence, an exit code, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer

from beforehand.cli.ui import interrupts
from beforehand.cli.ui.interrupts import end, on_interrupt

TIMEOUT = 30.0  # seconds: many times what any of these takes
START = """
import sys, time
from pathlib import Path
from beforehand.cli.ui import interrupts
interrupts.install()

def ready():
    print("ready", flush=True)

"""
END = """
except KeyboardInterrupt as problem:
    interrupts.end(problem)
"""


def interrupted(work: str, number: int = signal.SIGINT) -> tuple[int, str, str]:
    """Run code that says when it is ready for the signal; its exit code and both streams."""
    code = f"{START}try:\n{textwrap.indent(textwrap.dedent(work), '    ')}{END}"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            out, err = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_unwinds_the_work(number: int, code: int, word: str) -> None:
    """Clean-ups run as for any exception, and the code is that of the signal."""
    result = interrupted(
        """
        try:
            ready()
            time.sleep(60)
        finally:
            print("cleaned up")
        """,
        number,
    )
    assert result == (code, "cleaned up\n", f"beforehand: {word}; nothing was kept\n")


def test_work_that_does_not_unwind_is_ended_by_force(tmp_path: Path) -> None:
    """After its registered clean-ups; the sentence says what is kept."""
    half = tmp_path / "half"
    half.write_text("written")
    result = interrupted(
        f"""
        kept = "the first half is kept"
        with interrupts.on_interrupt(kept=kept, cleanup=Path({str(half)!r}).unlink):
            ready()
            while True:
                try:
                    time.sleep(60)
                except KeyboardInterrupt:
                    pass
        """
    )
    assert result == (130, "", "beforehand: interrupted; the first half is kept\n")
    assert not half.exists()


def test_a_second_signal_does_not_disturb_the_clean_up() -> None:
    """Impatient people press Ctrl-C twice."""
    result = interrupted(
        """
        import os, signal
        try:
            ready()
            time.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            print("cleaned up")
        """
    )
    assert result[:2] == (130, "cleaned up\n")


def test_worker_processes_end_too() -> None:
    """They ignore Ctrl-C themselves and are killed by the parent."""
    result = interrupted(
        """
        import multiprocessing, os, signal
        pipe, other = multiprocessing.Pipe()

        def work():
            os.kill(os.getpid(), signal.SIGINT)
            other.send("survived")
            time.sleep(60)

        worker = multiprocessing.get_context("fork").Process(target=work)
        worker.start()
        print(pipe.recv(), worker.pid, file=sys.stderr)
        ready()
        worker.join()
        """
    )
    assert result[0] == 130
    survived, sentence = result[2].splitlines()
    assert sentence == "beforehand: interrupted; nothing was kept"
    word, pid = survived.split()
    assert word == "survived" and not _is_running(int(pid))


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # a zombie waits for whoever adopted it


def test_outside_of_our_own_process_nothing_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    """An application that calls a command gets an exception, and the note is not kept for the next."""
    with pytest.raises(KeyboardInterrupt), on_interrupt(kept="half of it is kept"):
        raise KeyboardInterrupt
    for sentence in ("half of it is kept", "nothing was kept"):
        with pytest.raises(typer.Exit) as caught:
            end(KeyboardInterrupt())
        assert caught.value.exit_code == 130
        assert capsys.readouterr().err == f"beforehand: interrupted; {sentence}\n"


def test_a_note_ends_with_its_block(capsys: pytest.CaptureFixture[str]) -> None:
    """Whether the block succeeds or fails."""
    with on_interrupt(kept="half", cleanup=print):
        pass
    with pytest.raises(ValueError, match="bad"), on_interrupt(kept="half", cleanup=print):
        raise ValueError("bad")
    assert (interrupts._state.kept, interrupts._state.cleanups) == ([], [])
