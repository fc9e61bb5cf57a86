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

from tests.cli.failures.commands import CALLS, LIST, PROGRESS, fails, run

ROOT = Path(__file__).parents[3]
# What each command needs beyond the base.
NEEDS = {
    "check": "check",
    "check --master local": "check",
    "demo": "report",
    "report .": "report",
    "diagram trace.jsonl": "report",
    "simulate --processes 2 --messages 1 --out run": "trace",
    "node alice --nats nats://127.0.0.1:1": "nats",
    "study --out study": "pipeline",
    "ingest trace.jsonl --out messages": "pipeline",
    "characterise .": "pipeline",
    "sweep --protocol hybrid --processes 3 --out sweep": "pipeline",
    "audit trace.jsonl": "pipeline",
    "audit trace.jsonl --engine local": "pipeline",
    "demo --full": "report",
}
WITHOUT_EXTRAS = (
    "protocols",
    "doctor",
    "keygen",
    "simulate --processes 2 --messages 1",
    "cluster --help",
)
SMALL = 4 * 2**20  # bytes of the small disk
# Commands that write more than there is room for.
WRITERS = (
    "simulate --processes 20 --messages 200 --out small/run",
    "cluster --nodes 2 --messages 20 --trace small/traces",
    "keygen --out small/key",
    "check --protocol cykas-unsafe --program 'a>b a>c b>a b>c c>b' --out small/run.jsonl",
    f"ingest calls.csv {LIST} --out small/messages --engine local",
    "audit trace.jsonl --out small/verdicts --engine local",
    "sweep --protocol hybrid --processes 3 --messages 3 --out small/sweep --engine local",
    f"study calls.csv {LIST} --out small/study --engine local",
    pytest.param(
        f"ingest calls.csv {LIST} --out small/messages --engine spark", marks=pytest.mark.spark
    ),
)
# Commands whose earlier output is on a disk that becomes full.
REPLACED = (
    f"ingest calls.csv {LIST} --out small/out --engine local",
    f"study calls.csv {LIST} --network lan --protocol hybrid --out small/out --engine local",
)
# Settings and masters with which Spark does not start.
NOT_STARTING = (
    "--conf spark.driver.memory=bogus",
    "--conf spark.executor.cores=none",
    "--master nonsense://127.0.0.1",
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


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a list of calls and a trace."""
    (tmp_path / "calls.csv").write_text(CALLS)
    (tmp_path / "trace.jsonl").write_text(
        '{"beforehand-trace": 1}\n{"process": "alice", "kind": "start"}\n'
    )
    return tmp_path


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


@pytest.mark.parametrize(
    "command",
    [
        "check --protocol mattern --master local",
        f"ingest calls.csv {LIST} --out messages --engine spark",
        f"ingest calls.csv {LIST} --out messages --master local",
        "characterise . --engine spark",
        "sweep --protocol hybrid --processes 3 --out sweep --engine spark",
        "audit trace.jsonl --conf spark.a=b",
        "study --out study --engine spark",
        "demo --full --engine spark",
    ],
)
def test_missing_java_is_one_sentence(command: str, work: Path) -> None:
    """With what to install, if Spark was asked for."""
    pytest.importorskip("pyspark", reason="pip install '.[spark]'")
    sentence = fails(shlex.split(command), 3, work, JAVA_HOME=str(work))
    assert "Spark needs Java 17 or newer" in sentence and "install a JDK" in sentence


@pytest.mark.parametrize(
    "command",
    [
        f"ingest calls.csv {LIST} --out messages",
        "audit trace.jsonl",
        "sweep --protocol hybrid --processes 3 --messages 3 --out sweep",
    ],
)
def test_without_java_the_local_engine_is_chosen(command: str, work: Path) -> None:
    """If no engine was asked for; it says so in one sentence."""
    result = run(shlex.split(command), work, JAVA_HOME=str(work))
    assert result.returncode == 0, result.stderr
    sentences = [line for line in result.stderr.splitlines() if not PROGRESS.search(line)]
    assert len(sentences) == 1 and sentences[0].endswith("so this runs with --engine local")


@pytest.mark.spark
@pytest.mark.parametrize("options", NOT_STARTING)
def test_a_spark_that_does_not_start_is_one_sentence(options: str, work: Path) -> None:
    """With what it was started with."""
    command = f"ingest calls.csv {LIST} --out messages {options}"
    assert "Spark did not start" in fails(shlex.split(command), 3, work)


# ---- disks ----


@pytest.fixture
def small_disk(work: Path) -> Iterator[Path]:
    """A folder `small` on a disk with little room."""
    small = work / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(small)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        yield work
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.fixture
def full_disk(small_disk: Path) -> Path:
    """A folder `small` on a disk without any room left."""
    fill(small_disk / "small")
    return small_disk


def fill(disk: Path) -> None:
    """Leave no room."""
    with open(disk / "filler", "wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_one_sentence(command: str, full_disk: Path) -> None:
    """It says that there is no space, and nothing half-written is left."""
    sentence = fails(shlex.split(command), 3, full_disk)
    assert re.search("[Nn]o space left", sentence)


@pytest.mark.parametrize("command", REPLACED)
def test_on_a_full_disk_the_old_output_stays(command: str, small_disk: Path) -> None:
    """With --force, too: it is replaced by a complete one only."""
    assert run(shlex.split(command), small_disk).returncode == 0
    assert (small_disk / "small" / "out").exists()
    fill(small_disk / "small")
    assert "o space left" in fails(shlex.split(f"{command} --force"), 3, small_disk)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
@pytest.mark.parametrize(
    "command",
    ["keygen --out locked/key", "simulate --processes 2 --messages 2 --out locked/run"],
)
def test_a_missing_permission_is_one_sentence(command: str, tmp_path: Path) -> None:
    """It names the path."""
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "locked" in fails(shlex.split(command), 3, tmp_path)
