"""The check for the one prerequisite: it accepts what Spark accepts and explains the rest."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check-java"


def check(home: Path, answer: str | None) -> subprocess.CompletedProcess[str]:
    """Run the check with a JAVA_HOME whose java prints that answer, or that has no java."""
    if answer is not None:
        java = home / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{answer}\nEND\n")
        java.chmod(0o755)
    environment = os.environ | {"JAVA_HOME": str(home)}
    return subprocess.run(
        [SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "answer",
    [
        'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)',
        'java version "21" 2023-09-19 LTS',
        'openjdk version "25-ea" 2025-09-16',
        'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.2" 2022-01-18',
    ],
)
def test_a_recent_java_passes_silently(tmp_path: Path, answer: str) -> None:
    """No output if the requirement is met."""
    result = check(tmp_path, answer)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ('java version "1.8.0_392"', "is version 1"),
        ('openjdk version "11.0.21" 2023-10-17', "is version 11"),
        ("Segmentation fault", "could not be understood"),
        (None, "there is no"),
    ],
)
def test_anything_else_is_explained(tmp_path: Path, answer: str | None, problem: str) -> None:
    """The message states what is wrong, what is needed and how to get it."""
    result = check(tmp_path, answer)
    assert result.returncode == 1
    assert "needs Java 17 or newer" in result.stderr
    assert problem in result.stderr
    assert "JAVA_HOME" in result.stderr
