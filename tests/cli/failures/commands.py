"""How the tests of failures run a command and judge its end: code, one sentence, nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TIMEOUT = 120.0  # seconds: many times what any of these takes
# Lines of a log, which a loaded machine may see: "messages: 0 of 40 (2 s)", "sending: 5 sent, ...", and
# the steps of a study: "[1/5] ingest: reading the sources".
PROGRESS = re.compile(
    r"^[a-z ]+(: .*| \.\.\.) \(\d+ s\)$|^[a-z]+: [\d,]+ sent, [\d,]+ deliveries$|^\[\d/\d\] [a-z]+: "
)
BEFOREHAND = (sys.executable, "-m", "beforehand")
TEMPORARY = ("beforehand-", "pymp-")  # how the temporary files of a command are called
LIST = "--map sender=1,receiver=2,time=3:ms"  # how to read CALLS
CALLS = "shop,bank,1\nbank,shop,2\nshop,stock,4\n"


def environment(**variables: str) -> dict[str, str]:
    """That of the tests, without what would change the output."""
    return {**os.environ, "BEFOREHAND_DEBUG": "0", **variables}


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their contents, and the folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def run(
    arguments: Sequence[str],
    folder: Path,
    *,
    python: Sequence[str] = BEFOREHAND,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it leaves no temporary files."""
    with tempfile.TemporaryDirectory() as temporary:
        result = subprocess.run(
            [*python, *arguments],
            cwd=folder,
            env=environment(**{"TMPDIR": temporary, **variables}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert temporary_files(Path(temporary)) == []
    return result


def temporary_files(folder: Path) -> list[str]:
    """What a command has left there; the JVM and numba leave files of their own."""
    return [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY)]


def sentence_of(err: str) -> str:
    """The only line on standard error besides progress."""
    *progress, sentence = err.splitlines()
    assert sentence.startswith("beforehand: "), err
    assert all(PROGRESS.search(line) for line in progress), err
    return sentence


def fails(
    arguments: Sequence[str],
    code: int,
    folder: Path,
    *,
    python: Sequence[str] = BEFOREHAND,
    **variables: str,
) -> str:
    """Run a command in a folder, which stays as it was; the sentence with which it failed."""
    before = files(folder)
    result = run(arguments, folder, python=python, **variables)
    assert result.returncode == code, (result.returncode, result.stderr, result.stdout)
    assert result.stdout == ""
    assert files(folder) == before
    return sentence_of(result.stderr)
