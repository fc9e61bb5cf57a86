"""Copies of the project to build, and spoil, as in a fresh clone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]

# Every build here starts from scratch, whatever the environment of the tests.
UNSET = {"BEFOREHAND_PURE", "BEFOREHAND_STRICT", "CC", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}


def clean_environment() -> dict[str, str]:
    """The environment of the tests, without what would change a build."""
    return {name: value for name, value in os.environ.items() if name not in UNSET}


def build(project: Path, target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build the project into a directory, with two processes, and return the output."""
    folders = (f"--build-base={target}/base", f"--build-lib={target}/lib")
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--parallel=2", *folders],
        cwd=project,
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def version(target: Path) -> str:
    """The output of `--version` of the package that was built there."""
    command = [sys.executable, "-m", "beforehand", "--version"]
    environment = os.environ | {"PYTHONPATH": str(target / "lib")}
    result = subprocess.run(
        command, cwd=target, env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def files(package: Path) -> set[Path]:
    """All files of a package: modules and data."""
    paths = (path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(package) for path in paths if "__pycache__" not in path.parts}


def copy_of_the_project(target: Path) -> Path:
    """Everything that a build needs."""
    for name in (
        "setup.py",
        "pyproject.toml",
        "MANIFEST.in",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
    ):
        shutil.copy(PROJECT / name, target)
    (target / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts" / "build_wheel.py", target / "scripts")
    # Without the metadata of earlier builds, which may list files that no longer exist.
    shutil.copytree(PROJECT / "src", target / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    return target


def copy_with_few_cores(target: Path) -> Path:
    """The whole package, but with one small folder compiled, to be built in seconds."""
    project = copy_of_the_project(target)
    setup = project / "setup.py"
    text, replaced = re.subn(
        r"(?s)COMPILED_FOLDERS = \(.*?\n\)", 'COMPILED_FOLDERS = ("encoding",)', setup.read_text()
    )
    assert replaced == 1
    setup.write_text(text)
    return project
