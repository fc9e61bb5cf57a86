"""Installing into the environment: the right packages, with uv if it can be had, otherwise with pip."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.packaging.project import PROJECT, clean_environment

SCRIPT = PROJECT / "scripts" / "install.py"


class FakeEnvironment:
    """An environment and a PATH whose programs only write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls.txt"
        self.calls.touch()
        (folder / "venv/bin").mkdir(parents=True)
        (folder / "path").mkdir()
        self.program("venv/bin/python", "pip", 'case "$*" in *" uv") exit 1;; esac')
        self.program("venv/bin/pip", "pip")

    def program(self, path: str, name: str, body: str = "") -> None:
        """Write a script that records its arguments after a name."""
        script = self.folder / path
        script.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.calls}\n{body}\n')
        script.chmod(0o755)

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the script in it."""
        return subprocess.run(
            [sys.executable, SCRIPT, str(self.folder / "venv"), *arguments],
            env=clean_environment() | {"PATH": f"{self.folder}/path:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def recorded(self) -> list[str]:
        """All calls so far."""
        return self.calls.read_text().splitlines()


@pytest.fixture
def environment(tmp_path: Path) -> FakeEnvironment:
    """Without uv, and with an index that has none."""
    return FakeEnvironment(tmp_path)


def declared(extra: str) -> list[str]:
    """The dependencies of an extra, as declared."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    names: list[str] = project["project"]["optional-dependencies"][extra]
    return names


def test_uv_on_the_path_is_used(environment: FakeEnvironment) -> None:
    """For the environment that was asked for, and without a call of pip."""
    environment.program("path/uv", "uv")
    result = environment.install("nats")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("with uv\n")
    [call] = environment.recorded()
    assert call.startswith("uv pip install --quiet --python ")
    assert f"{environment.folder}/venv/bin/python" in call
    assert call.endswith(declared("nats")[0])


def test_pip_is_used_where_uv_cannot_be_had(environment: FakeEnvironment) -> None:
    """One attempt to install uv, without a word about it, then pip."""
    result = environment.install("nats")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("with pip\n")
    attempt, call = environment.recorded()
    assert attempt.endswith(" uv") and "install" in attempt
    assert call.startswith("pip -m pip") and call.endswith(declared("nats")[0])


def test_pip_is_used_when_uv_fails(environment: FakeEnvironment) -> None:
    """uv does not read pip's configuration, so pip may know an index that uv does not."""
    environment.program("path/uv", "uv", "echo 'no index' >&2; exit 2")
    result = environment.install("nats")
    assert result.returncode == 0
    assert "uv could not install this (no index); trying pip" in result.stdout
    assert [call.split()[0] for call in environment.recorded()] == ["uv", "pip"]


def test_the_code_of_pip_is_the_code_of_the_script(environment: FakeEnvironment) -> None:
    """So that make stops, and makes no stamp."""
    environment.program("venv/bin/python", "pip", "exit 7")
    assert environment.install("nats").returncode == 7


def test_extras_of_extras_are_resolved_and_the_package_is_not_touched(
    environment: FakeEnvironment,
) -> None:
    """`spark` includes `pipeline`, and that `report`; nothing is reinstalled that may be running."""
    environment.program("path/uv", "uv")
    environment.install("spark")
    [call] = environment.recorded()
    wanted = [*declared("report"), *declared("pipeline"), *declared("spark")]
    assert {"beforehand[report]", "beforehand[pipeline]"} <= set(wanted)
    for requirement in wanted:
        assert (requirement in call) == ("beforehand" not in requirement), requirement
    assert "--editable" not in call


def test_an_editable_install_brings_its_own_build_backend(environment: FakeEnvironment) -> None:
    """No build environment is downloaded for it, and mypy, which compiles, is not needed yet."""
    environment.program("path/uv", "uv")
    environment.install("report", "--editable")
    dependencies, package = environment.recorded()
    assert "setuptools" in dependencies and "cryptography" in dependencies
    assert "mypy>" not in dependencies
    assert package.endswith(f"--no-deps --no-build-isolation --editable {PROJECT}")


def test_an_unknown_extra_is_refused(environment: FakeEnvironment) -> None:
    """Before anything is installed, with those that exist."""
    result = environment.install("sparkle")
    assert result.returncode == 1
    assert "no extra 'sparkle'; choose from" in result.stderr and "spark" in result.stderr
    assert environment.recorded() == []
