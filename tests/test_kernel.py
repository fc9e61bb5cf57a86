"""Kernels are compiled again when any source that they are made of changes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from beforehand import _kernel
from beforehand._kernel import stamp

SOURCES = Path(_kernel.__file__).parent
DECORATORS = {"compiled", "bare", "inlined"}

CONSTANT = "FACTOR = {factor}\n"
INNER = """
from beforehand._kernel import inlined
from kernels.deeper.constant import FACTOR

@inlined
def scaled(value):
    return FACTOR * value
"""
OUTER = """
from beforehand._kernel import compiled
from kernels.inner import scaled

@compiled
def total(count):
    result = 0
    for value in range(count):
        result += scaled(value)
    return result

print(total(4), sum(total.stats.cache_hits.values()))
"""


def imported(module: Path) -> dict[str, set[str]]:
    """The modules of ours that a module imports from, with the names that it takes."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return {
        node.module: {alias.name for alias in node.names}
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("beforehand")
    }


KERNELS = [
    module
    for module in sorted(SOURCES.rglob("*.py"))
    if DECORATORS & imported(module).get("beforehand._kernel", set())
]


def test_the_kernels_are_found() -> None:
    """Those of the checker and of both stages of the pipeline."""
    folders = {str(module.parent.relative_to(SOURCES)) for module in KERNELS}
    assert folders == {"checker/packed", "pipeline/audit/kernels", "pipeline/characterise"}


@pytest.mark.parametrize("module", KERNELS, ids=lambda module: module.stem)
def test_kernels_use_only_sources_of_their_own_folder(module: Path) -> None:
    """The stamp covers the folder, so code and constants from elsewhere could change unnoticed."""
    package = ".".join(("beforehand", *module.parent.relative_to(SOURCES).parts))
    outside = {
        name
        for name in imported(module)
        if name != "beforehand._kernel" and not f"{name}.".startswith(f"{package}.")
    }
    assert not outside


def test_a_stamp_changes_with_any_source(tmp_path: Path) -> None:
    """With one that is changed, with one more, and with one in a folder below."""
    (tmp_path / "deeper").mkdir()
    stamps = set()
    for name, text in (
        ("a.py", "x = 1"),
        ("a.py", "x = 2"),
        ("b.py", ""),
        ("deeper/c.py", "y = 1"),
    ):
        (tmp_path / name).write_text(f"{text}\n")
        stamp.cache_clear()
        stamps.add(stamp(tmp_path))
    assert len(stamps) == 4


def test_a_constant_in_another_file_compiles_a_kernel_again(tmp_path: Path) -> None:
    """The second run uses the cache, the third notices the change."""
    package = tmp_path / "kernels"
    (package / "deeper").mkdir(parents=True)
    for file in ("__init__.py", "deeper/__init__.py"):
        (package / file).write_text("")
    (package / "inner.py").write_text(INNER)
    (package / "outer.py").write_text(OUTER)

    def run(factor: int) -> str:
        (package / "deeper/constant.py").write_text(CONSTANT.format(factor=factor))
        path = os.pathsep.join([str(tmp_path), str(SOURCES.parent)])
        return subprocess.run(
            [sys.executable, "-m", "kernels.outer"],
            env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout.strip()

    assert [run(2), run(2), run(3)] == ["12 0", "12 1", "18 0"]
