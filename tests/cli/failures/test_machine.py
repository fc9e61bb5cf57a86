"""Commands x what the machine lacks: packages, Java, room on disk, permissions. Exit code 3."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import pytest

from tests.cli.failures.commands import fails

ROOT = Path(__file__).parents[3]
# What each command needs beyond the base; rows for commands of the pipeline name their extra, too.
NEEDS = {
    "check": "check",
    "check --master local": "check",
    "demo": "report",
    "report .": "report",
    "diagram trace.jsonl": "report",
    "simulate --processes 2 --messages 1 --out run": "trace",
    "node alice --nats nats://127.0.0.1:1": "nats",
    "study --out study": "spark",
    "ingest trace.jsonl --out messages": "spark",
    "characterise .": "spark",
    "sweep --protocol hybrid --processes 3 --out sweep": "spark",
    "audit trace.jsonl": "spark",
}
WITHOUT_EXTRAS = (
    "protocols",
    "doctor",
    "keygen",
    "simulate --processes 2 --messages 1",
    "cluster --help",
)
FILL = 256 * 1024  # bytes of the small disk
# Commands that write more than there is room for.
WRITERS = (
    "simulate --processes 20 --messages 200 --out small/run",
    "cluster --nodes 2 --messages 20 --trace small/traces",
    "keygen --out small/key",
    "check --protocol cykas-unsafe --program 'a>b a>c b>a b>c c>b' --out small/run.jsonl",
)


def needed(package: str, found: set[str]) -> set[str]:
    """A package and all that it needs, without extras."""
    if package not in found:
        found.add(package)
        for line in requires(package) or []:
            if "extra ==" not in line:
                with suppress(PackageNotFoundError):  # for another system
                    needed(distribution(re.split(r"[^\w.-]", line)[0]).metadata["Name"], found)
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An interpreter that sees the standard library, this package and what its base needs."""
    links = tmp_path_factory.mktemp("base")
    packages = needed("beforehand", set()) - {"beforehand"}
    assert {"cryptography", "rich", "typer"} <= packages and "pyarrow" not in packages
    for package in packages:
        for file in distribution(package).files or []:
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (links / top).exists():
                (links / top).symlink_to(Path(str(distribution(package).locate_file(top))))
    path = f"import sys; sys.path[:0] = {[str(links), str(ROOT / 'src')]!r}"
    run = "from beforehand.__main__ import main; sys.argv[0] = 'beforehand'; main()"
    return [sys.executable, "-S", "-c", f"{path}; {run}"]


@pytest.mark.parametrize("command", NEEDS)
def test_the_base_install_names_the_extra(command: str, base: list[str], tmp_path: Path) -> None:
    """The one command that helps, before anything is started or written."""
    (tmp_path / "trace.jsonl").write_text('{"beforehand-trace": 1}\n')
    sentence = fails(shlex.split(command), 3, tmp_path, python=base, PYTHONPATH="")
    assert f"run `pip install 'beforehand[{NEEDS[command]}]'`" in sentence


@pytest.mark.parametrize("command", WITHOUT_EXTRAS)
def test_what_needs_no_extra_works_without(command: str, base: list[str], tmp_path: Path) -> None:
    """The base install is of use."""
    result = subprocess.run(
        [*base, *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.slow
def test_a_real_empty_environment_names_the_extras(tmp_path: Path) -> None:
    """Installed by a package manager, without any extra."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        pytest.skip("there is no uv to make an environment with")
    venv = tmp_path / "venv"
    subprocess.run([uv, "venv", "-q", venv], check=True, timeout=120)
    installed = subprocess.run(
        [uv, "pip", "install", "-q", "--python", venv / "bin" / "python", ROOT],
        env=os.environ | {"BEFOREHAND_PURE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if installed.returncode:
        pytest.skip(f"the package index cannot be reached: {installed.stderr[-200:]}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "trace.jsonl").write_text('{"beforehand-trace": 1}\n')
    for command, extra in NEEDS.items():
        script = [str(venv / "bin" / "beforehand")]
        sentence = fails(shlex.split(command), 3, work, python=script, PYTHONPATH="")
        assert f"run `pip install 'beforehand[{extra}]'`" in sentence


@pytest.mark.parametrize("command", ["check --protocol mattern --master local", "demo --full"])
def test_missing_java_is_one_sentence(command: str, tmp_path: Path) -> None:
    """With what to install."""
    pytest.importorskip("pyspark", reason="pip install '.[spark]'")
    home = tmp_path / "home"
    home.mkdir()
    sentence = fails(shlex.split(command), 3, tmp_path, JAVA_HOME=str(home))
    assert "Spark needs Java 17 or newer" in sentence and "install a JDK" in sentence


# ---- disks ----


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder `small` on a disk without any room left."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={FILL}", "tmpfs", str(small)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        with open(small / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        yield tmp_path
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_one_sentence(command: str, full_disk: Path) -> None:
    """It says that there is no space, and nothing half-written is left."""
    sentence = fails(shlex.split(command), 3, full_disk)
    assert re.search("[Nn]o space left", sentence)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
@pytest.mark.parametrize(
    "command",
    ["keygen --out locked/key", "simulate --processes 2 --messages 2 --out locked/run"],
)
def test_a_missing_permission_is_one_sentence(command: str, tmp_path: Path) -> None:
    """It names the path."""
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "locked" in fails(shlex.split(command), 3, tmp_path)
