"""How the tests of failures run a command and judge its end: code, one sentence, nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TIMEOUT = 120.0  # seconds: many times what any of these takes
# Lines of a log, which a loaded machine may see: "messages: 0 of 40 (2 s)", "sending: 5 sent, ...".
PROGRESS = re.compile(r"^[a-z ]+(: .*| \.\.\.) \(\d+ s\)$|^[a-z]+: [\d,]+ sent, [\d,]+ deliveries$")
BEFOREHAND = (sys.executable, "-m", "beforehand")


def environment(**variables: str) -> dict[str, str]:
    """That of the tests, without what would change the output."""
    return {**os.environ, "BEFOREHAND_DEBUG": "0", **variables}


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their contents, and the folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


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
    result = subprocess.run(
        [*python, *arguments],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert result.returncode == code, (result.returncode, result.stderr, result.stdout)
    assert result.stdout == ""
    *progress, sentence = result.stderr.splitlines()
    assert sentence.startswith("beforehand: ")
    assert all(PROGRESS.search(line) for line in progress), result.stderr
    assert files(folder) == before
    return sentence
