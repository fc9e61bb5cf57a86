"""Compiled where possible, pure where not, never a mixture."""

import shutil
from pathlib import Path

import pytest

from tests.packaging.project import (
    PROJECT,
    build,
    copy_of_the_project,
    copy_with_few_cores,
    files,
    version,
)


def compiler_that_fails_on(source: str, target: Path) -> str:
    """A C compiler that passes for a working one until it gets to one file."""
    script = target / "cc"
    script.write_text(f'#!/bin/sh\ncase "$*" in *{source}*) exit 1;; esac\nexec cc "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"CC": "/bin/false"}, "no working C compiler"),
        ({"CC": "/no/such/compiler"}, "no working C compiler"),
        ({"BEFOREHAND_PURE": "1"}, "BEFOREHAND_PURE is set"),
        # Strictness is about sources that do not compile, not about machines that cannot.
        ({"CC": "/bin/false", "BEFOREHAND_STRICT": "1"}, "no working C compiler"),
    ],
)
def test_without_a_compiler_the_build_is_pure_and_reports_why(
    tmp_path: Path, environment: dict[str, str], reason: str
) -> None:
    """The build succeeds, reports the reason, and produces a complete package of plain Python."""
    result = build(copy_of_the_project(tmp_path), tmp_path, **environment)
    assert result.returncode == 0, result.stderr
    assert f"building pure Python, without compiled cores: {reason}" in result.stdout
    assert not list(tmp_path.rglob("*.so"))
    assert files(tmp_path / "lib" / "beforehand") == files(PROJECT / "src" / "beforehand")
    assert "pure Python" in version(tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "__native_beforehand___encoding___varint.c",  # of the shared library
        # Of one module, when others are complete.
        pytest.param("beforehand/encoding/varint.c", marks=pytest.mark.slow),
    ],
)
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_one_file_that_does_not_compile_makes_the_build_pure(tmp_path: Path, source: str) -> None:
    """A compiler that fails half way leaves no half-compiled package behind."""
    project = copy_with_few_cores(tmp_path)
    compiler = compiler_that_fails_on(source, tmp_path)
    result = build(project, tmp_path, CC=compiler)
    assert result.returncode == 0, result.stderr
    assert "without compiled cores: the C compiler failed" in result.stdout
    assert not list((tmp_path / "lib").rglob("*.so"))
    assert "pure Python" in version(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_module_that_mypyc_rejects_makes_the_build_pure(tmp_path: Path) -> None:
    """Users get a working package; those who build strictly get the error."""
    pytest.importorskip("mypyc.build")
    project = copy_with_few_cores(tmp_path)
    (project / "src/beforehand/encoding/spoilt.py").write_text('number: int = "text"\n')
    result = build(project, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "without compiled cores: mypyc failed" in result.stdout
    assert "pure Python" in version(tmp_path)
    assert build(project, tmp_path, BEFOREHAND_STRICT="1").returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_with_a_compiler_the_build_is_compiled(tmp_path: Path) -> None:
    """All of it: the compiled package also carries its Python sources, and src/ stays as it was."""
    project = copy_of_the_project(tmp_path)
    result = build(project, tmp_path, BEFOREHAND_STRICT="1")
    assert result.returncode == 0, result.stderr
    assert "compiled with mypyc" in version(tmp_path)
    assert (tmp_path / "lib/beforehand/protocols/core.py").exists()
    assert not [path for path in (project / "src").rglob("*") if path.suffix in (".c", ".so")]
