"""Errors as one sentence and an exit code: who is at fault decides."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from beforehand.cli import app, protocols
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import DEBUG_VARIABLE, clear_errors, explained
from beforehand.errors import PipelineError, ResourceError, ScenarioError

runner = CliRunner()


class ArrowInvalid(ValueError):
    """Stands for an error of pyarrow."""


@pytest.mark.parametrize(
    ("problem", "code", "sentence"),
    [
        (ScenarioError("loss: 2 isn't a share"), 2, "loss: 2 isn't a share"),
        (PipelineError("add `force`"), 2, "add --force"),
        (ResourceError("a worker was lost"), 3, "a worker was lost"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), 2, "x: no such file; check"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "x"), 2, "x: not a directory"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "x"), 2, "x: is a directory"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 3, "x: permission denied;"),
        (OSError(errno.ENOSPC, "No space left", "x"), 3, "x: no space left; free some space"),
        (OSError(errno.EROFS, "Read-only file system", "x"), 3, "choose a folder that can be"),
        (OSError(errno.EMFILE, "Too many open files", "x"), 3, "with `ulimit -n`"),
        (OSError(errno.EIO, "Input/output error", "x"), 3, "x: input/output error; check the disk"),
        (OSError(errno.ENOTCONN, "Not connected"), 3, "not connected"),
        (MemoryError(), 3, "there is not enough memory; close other programs"),
        (ModuleNotFoundError("no", name="plotly.io"), 3, "run `pip install 'beforehand[report]'`"),
        (ModuleNotFoundError("no", name="colour"), 3, "this is a bug in beforehand: ModuleNotF"),
        (TypeError("one\ntwo"), 3, "bug in beforehand: TypeError: one two; run the command again"),
        (KeyError("x"), 3, "this is a bug in beforehand: KeyError: 'x'"),
    ],
)
def test_every_error_is_one_sentence_with_its_code(
    problem: Exception, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caller's errors exit with 2, the machine's and ours with 3, and none with 1."""
    with pytest.raises(typer.Exit) as caught, clear_errors():
        raise problem
    assert caught.value.exit_code == code
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert printed.err.startswith("beforehand: ") and sentence in printed.err


def test_an_error_of_arrow_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised without importing pyarrow, which is optional."""

    class Module:
        ArrowException = ArrowInvalid

    assert explained(ArrowInvalid("torn"))[0].startswith("this is a bug")
    monkeypatch.setitem(sys.modules, "pyarrow", Module)
    text, code = explained(ArrowInvalid("torn"))
    assert text == "a table cannot be read or written: torn; check the disk"
    assert code is ExitCode.MACHINE


def test_a_reworded_error_of_the_system_is_still_the_machines() -> None:
    """Libraries say which file; the cause decides about the code, and chance does not."""
    for number, code in ((errno.ENOSPC, 3), (errno.ENOENT, 2)):
        try:
            try:
                raise OSError(number, "something")
            except OSError:
                raise PipelineError("x: cannot be written") from None
        except PipelineError as problem:
            assert explained(problem) == ("x: cannot be written", code)
    try:
        try:
            raise OSError(errno.ENOSPC, "handled")
        except OSError:
            raise PipelineError("another thing")  # noqa: B904 (that is what is tested)
    except PipelineError as problem:
        assert explained(problem)[1] == 2


def test_a_decision_of_a_command_passes_through() -> None:
    """Exit codes of findings are not errors."""
    with pytest.raises(typer.Exit) as caught, clear_errors():
        raise typer.Exit(ExitCode.BROKEN)
    assert caught.value.exit_code == 1


# ---- for every command, at one place ----


def broken(*_: object, **__: object) -> None:
    """Stands for a bug."""
    raise RuntimeError("the impossible happened")


@pytest.mark.parametrize(
    "arguments", [["--debug", "protocols"], ["protocols", "--debug"], ["protocols"]]
)
def test_debug_shows_the_traceback_before_the_sentence(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after the name of the command; and nothing of it without the option."""
    monkeypatch.setenv(DEBUG_VARIABLE, "0")  # and restored afterwards
    monkeypatch.setattr(protocols, "print_table", broken)
    result = runner.invoke(app, arguments)
    assert result.exit_code == 3
    *before, last = result.stderr.splitlines()
    assert last.startswith("beforehand: this is a bug in beforehand: RuntimeError: the impossible")
    assert ("Traceback (most recent call last):" in before) is ("--debug" in arguments)


def test_debug_can_be_set_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """For scripts that run many commands."""
    monkeypatch.setenv(DEBUG_VARIABLE, "1")
    monkeypatch.setattr(protocols, "print_table", broken)
    assert "Traceback" in runner.invoke(app, ["protocols"]).stderr


def test_every_command_has_the_option() -> None:
    """Also those that declare no options of their own."""
    for command in typer.main.get_command(app).commands.values():  # type: ignore[attr-defined]
        assert "--debug" in [flag for option in command.params for flag in option.opts]


# ---- the output ----


def beforehand(*arguments: str, stdout: int) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with that standard output."""
    return subprocess.run(
        [sys.executable, "-m", "beforehand", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_under_standard_output_is_one_sentence() -> None:
    """Not a complaint of the interpreter at its exit."""
    with open("/dev/full", "w") as full:
        result = beforehand("protocols", stdout=full.fileno())
    assert result.returncode == 3
    assert result.stderr == (
        "beforehand: no space left on device; free some space, or choose a folder on another disk\n"
    )


def test_output_that_nobody_reads_ends_quietly() -> None:
    """As after `| head`: no sentence, and not the code of a success."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = beforehand("protocols", stdout=writer)
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (141, "")
