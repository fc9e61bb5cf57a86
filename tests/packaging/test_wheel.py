"""`make wheel`: a compiled wheel and an sdist, complete, publishable, installable without a compiler."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from beforehand import __version__
from tests.packaging.project import PROJECT, clean_environment, copy_with_few_cores, files

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def build_archives(project: Path, target: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of a project."""
    result = subprocess.run(
        [sys.executable, "scripts/build_wheel.py", str(target)],
        cwd=project,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    [wheel], [sdist] = target.glob("*.whl"), target.glob("*.tar.gz")
    return wheel, sdist


@dataclass(frozen=True)
class Archives:
    """A project with few cores after `make wheel`."""

    project: Path
    wheel: Path
    sdist: Path

    def read(self, name: str) -> bytes:
        """A file of the wheel whose name contains this."""
        with zipfile.ZipFile(self.wheel) as archive:
            [found] = [path for path in archive.namelist() if name in path]
            return archive.read(found)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    """Built once for all tests here, with something stale from an earlier build in the way."""
    pytest.importorskip("mypyc.build")
    project = copy_with_few_cores(tmp_path_factory.mktemp("project"))
    stale = project / "build" / "lib" / "beforehand" / "deleted.py"
    stale.parent.mkdir(parents=True)
    stale.touch()
    return Archives(project, *build_archives(project, project / "dist"))


def test_the_wheel_has_the_sources_the_data_and_the_compiled_modules(archives: Archives) -> None:
    """Nothing is missing, nothing is left over from earlier builds."""
    with zipfile.ZipFile(archives.wheel) as wheel:
        names = {
            path.removeprefix("beforehand/")
            for path in wheel.namelist()
            if path.startswith("beforehand/")
        }
    plain = {path.as_posix() for path in files(PROJECT / "src" / "beforehand")}
    assert plain >= {"py.typed", "pipeline/engine/log4j2.properties", "report/assets/report.css"}
    assert {name for name in names if not name.endswith(".so")} == plain
    modules = {name.split(".")[0] for name in names if name.endswith(".so")}
    cores = {"counts", "fields", "payload_runs", "reader", "varint"}
    assert modules == {"_cores__mypyc", *(f"encoding/{core}" for core in cores)}
    assert "py3-none-any" not in archives.wheel.name


def test_the_modules_are_objects_of_one_library_without_debug_information(
    archives: Archives,
) -> None:
    """Debug information would double the size and the time to compile; src/ stays as it was."""
    library = archives.read("_cores__mypyc")
    assert b".symtab" in library  # names of sections can be found like this
    assert b".debug_info" not in library
    objects = {path.name for path in (archives.project / "build").rglob("*.o")}
    assert objects >= {f"__native_beforehand___encoding___{m}.o" for m in ("varint", "reader")}
    left = (archives.project / "src").rglob("*")
    assert not [path for path in left if path.suffix in (".c", ".o", ".so")]


def test_the_metadata_is_valid_and_complete(archives: Archives) -> None:
    """An index would accept it: every field is valid, and the page has a text and links."""
    metadata = Metadata.from_email(archives.read(".dist-info/METADATA"), validate=True)
    assert (metadata.name, str(metadata.version)) == ("beforehand", __version__)
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (PROJECT / "README.md").read_text(encoding="utf-8")
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.project_urls is not None
    assert set(metadata.project_urls) == {
        "Homepage",
        "Documentation",
        "Source",
        "Changelog",
        "Issues",
    }
    assert metadata.provides_extra is not None
    assert {"report", "spark"} <= set(metadata.provides_extra)


def test_the_sdist_has_all_that_a_build_needs_and_no_tests(archives: Archives) -> None:
    """The package with its data, the recipe, the licence."""
    with tarfile.open(archives.sdist) as sdist:
        members = [member.name.split("/", 1)[1] for member in sdist if member.isfile()]
    assert {"setup.py", "pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md"} <= set(members)
    package = {name for name in members if name.startswith("src/beforehand/")}
    assert package == {
        f"src/beforehand/{path.as_posix()}" for path in files(PROJECT / "src" / "beforehand")
    }
    assert not [name for name in members if name.startswith(("tests", "build", "docs"))]


# ---- installed, as by a user ----


def install(archive: Path, folder: Path) -> str:
    """Install into an empty environment whose PATH has no compiler; what --version prints there."""
    venv.create(folder / "venv", with_pip=True)
    tools = (
        folder / "tools"
    )  # what the Python build configuration looks for, and nothing to compile
    tools.mkdir()
    for name in ("sh", "uname", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    environment = clean_environment() | {
        "PATH": os.pathsep.join([f"{folder}/venv/bin", str(tools)])
    }
    python = folder / "venv" / "bin" / "python"
    assert shutil.which("cc", path=environment["PATH"]) is None
    assert shutil.which("gcc", path=environment["PATH"]) is None
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(archive)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert installed.returncode == 0, installed.stderr
    outputs = [
        subprocess.run(
            [folder / "venv" / "bin" / "beforehand", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
        for arguments in (["--version"], ["simulate", "--messages", "50"])
    ]
    assert "50" in outputs[1]
    return outputs[0]


@pytest.mark.slow
def test_both_install_where_there_is_no_compiler(tmp_path: Path) -> None:
    """The wheel brings its compiled cores; the sdist becomes pure Python, and works as well."""
    wheel, sdist = build_archives(PROJECT, tmp_path / "dist")
    for archive, kind in ((wheel, "compiled with mypyc"), (sdist, "pure Python")):
        folder = tmp_path / archive.name
        folder.mkdir()
        assert kind in install(archive, folder)
