"""C files are compiled in parallel, and only when something changed."""

import importlib.util
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.project import PROJECT


class RecordingCompiler:
    """Has the interface of setuptools' compilers; writes down what it is asked to compile."""

    def __init__(self, flags: str = "-O2") -> None:
        self.compiler_so = ["cc", flags]
        self.compiled: list[str] = []
        self.fails_on = ""

    def object_filenames(self, sources: list[str], output_dir: str) -> list[str]:
        """Where the objects go."""
        return [str(Path(output_dir, Path(source).stem + ".o")) for source in sources]

    def compile(self, sources: list[str], output_dir: str, **options: Any) -> None:
        """An object that shows what it was made from."""
        [source] = sources
        self.compiled.append(Path(source).stem)
        if self.fails_on == Path(source).stem:
            raise RuntimeError("syntax error")
        [target] = self.object_filenames(sources, output_dir)
        Path(target).write_text(f"{Path(source).read_text()} {options}")


class Project:
    """Three C files, of which one does not include the generated header."""

    def __init__(self, folder: Path) -> None:
        (folder / "build/mypyc").mkdir(parents=True)
        self.header = folder / "build/mypyc/cores.h"
        self.header.write_text("int f(void);")
        self.sources = {name: folder / f"{name}.c" for name in ("a", "b", "runtime")}
        for name, path in self.sources.items():
            path.write_text('#include "__native_x.h"' if name != "runtime" else "int x;")
        spec = importlib.util.spec_from_file_location("setup", PROJECT / "setup.py")
        assert spec and spec.loader
        self.setup = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.setup)

    def compile(self, compiler: Any, extra: str = "-g0", workers: int = 2) -> list[str]:
        """Compile all; the names of those that the compiler was asked for."""
        objects = self.setup.ObjectFiles(compiler, workers)
        names = objects.compile(
            [str(path) for path in self.sources.values()], output_dir=".", extra_postargs=[extra]
        )
        assert names == ["a.o", "b.o", "runtime.o"]
        return sorted(compiler.compiled)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in the current folder, all objects of which are made."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    assert made.compile(RecordingCompiler()) == ["a", "b", "runtime"]
    return made


def test_nothing_changed_compiles_nothing(project: Project) -> None:
    """The objects of the earlier build are used, even if the files are newer now."""
    project.sources["a"].touch()
    assert project.compile(RecordingCompiler()) == []


def test_another_source_compiles_one_file(project: Project) -> None:
    """And its object is the new one."""
    project.sources["a"].write_text('#include "__native_x.h"\nint y;')
    assert project.compile(RecordingCompiler()) == ["a"]
    assert "int y;" in Path("a.o").read_text()


def test_another_header_compiles_those_that_include_it(project: Project) -> None:
    """Every module includes the declarations of all; mypyc's runtime library does not."""
    project.header.write_text("int f(int);")
    assert project.compile(RecordingCompiler()) == ["a", "b"]


def test_other_flags_compile_everything(project: Project) -> None:
    """Those of Python's own configuration as well as those of the extension."""
    assert project.compile(RecordingCompiler(), "-g1") == ["a", "b", "runtime"]
    assert project.compile(RecordingCompiler(), "-g1") == []
    assert project.compile(RecordingCompiler("-O1"), "-g1") == ["a", "b", "runtime"]


def test_an_object_of_a_failed_build_is_made_again(project: Project) -> None:
    """The error is raised, and the old object does not pass for the new one."""
    project.sources["a"].write_text('#include "__native_x.h"\nint 7;')
    compiler = RecordingCompiler()
    compiler.fails_on = "a"
    with pytest.raises(RuntimeError, match="syntax error"):
        project.compile(compiler)
    assert project.compile(RecordingCompiler()) == ["a"]


def test_several_files_are_compiled_at_a_time(project: Project) -> None:
    """Three compilations that wait for each other can only end when they run together."""
    barrier = threading.Barrier(3, timeout=30)

    class MeetingCompiler(RecordingCompiler):
        """Starts when three have been asked for."""

        def compile(self, sources: list[str], output_dir: str, **options: Any) -> None:
            """Wait for the others, then compile."""
            barrier.wait()
            super().compile(sources, output_dir, **options)

    assert project.compile(MeetingCompiler("-O3"), workers=3) == ["a", "b", "runtime"]
