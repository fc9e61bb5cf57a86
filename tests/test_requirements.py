"""What a machine must have beyond the base install, and the error if it has not."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from beforehand import requirements
from beforehand.errors import ResourceError

FakeJava = Callable[[str], None]
# Packages whose module has another name.
MODULES = {"nats-py": "nats"}
FOR_DEVELOPERS = {"build", "dev"}  # no command needs them


def declared() -> dict[str, set[str]]:
    """The modules of each extra in pyproject.toml, with those of the extras that it includes."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def modules(extra: str) -> set[str]:
        found: set[str] = set()
        for line in extras[extra]:
            if included := re.match(r"beforehand\[(.*)\]", line):
                found |= {module for name in included[1].split(",") for module in modules(name)}
            else:
                package = re.split(r"[<>=~! ;]", line)[0]
                found.add(MODULES.get(package, package))
        return found

    return {extra: modules(extra) for extra in extras if extra not in FOR_DEVELOPERS}


def test_the_extras_are_those_of_the_package() -> None:
    """The table in the sources cannot read pyproject.toml, which wheels do not contain."""
    assert {extra: set(modules) for extra, modules in requirements.EXTRAS.items()} == declared()


def test_a_missing_module_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The smallest extra that has it, quoted for a shell."""
    monkeypatch.setitem(requirements.EXTRAS, "fast", ("no_such_module",))
    with pytest.raises(ResourceError, match="a node needs no_such_module, which is not installed"):
        requirements.require("a node", "fast")
    assert requirements.missing("fast") == ["no_such_module"]
    assert requirements.install("fast") == "`pip install 'beforehand[fast]'`"


@pytest.mark.parametrize(
    ("module", "extra"),
    [("pyarrow.parquet", "trace"), ("numpy", "check"), ("pyspark", "spark"), ("json", None)],
)
def test_a_module_belongs_to_the_smallest_extra_that_installs_it(
    module: str, extra: str | None
) -> None:
    """Nobody should install Spark to read a Parquet file."""
    assert requirements.extra_of(module) == extra


# ---- Java ----


@pytest.fixture
def fake_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeJava:
    """Replace Java with a program that prints the given text and exits."""

    def make(output: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho '{output}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return make


def test_missing_java_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is missing, where it was looked for, and how to install it."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ResourceError) as caught:
        requirements.find_java()
    message = str(caught.value)
    assert "Spark needs Java 17 or newer" in message
    assert str(tmp_path) in message
    assert "install a JDK" in message and "\n" not in message


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11"),
        ('java version "1.8.0_392"', "is version 1;"),
        ("Segmentation fault", "printed no version"),
    ],
)
def test_a_java_that_is_too_old_or_broken_is_refused(
    fake_java: FakeJava, version: str, problem: str
) -> None:
    """The error names the version and the remedy."""
    fake_java(version)
    with pytest.raises(ResourceError, match=problem) as caught:
        requirements.find_java()
    assert "JAVA_HOME" in str(caught.value)


def test_a_java_that_cannot_be_run_is_refused(tmp_path: Path, fake_java: FakeJava) -> None:
    """Here because it is not a program."""
    fake_java("")
    (tmp_path / "bin" / "java").write_bytes(b"\x7fELF but no more")
    with pytest.raises(ResourceError, match="-version' failed"):
        requirements.find_java()


def test_a_newer_java_is_accepted(fake_java: FakeJava) -> None:
    """Versions that do not exist yet are accepted, too."""
    fake_java('openjdk version "29" 2029-03-21')
    assert requirements.find_java().version == 29
