"""Compile the protocol cores with mypyc, or go on without: both give the same package.

Everything else about the project is declared in pyproject.toml. Two environment variables matter:

- BEFOREHAND_PURE=1    do not compile, even where it would be possible;
- BEFOREHAND_STRICT=1  sources that do not compile are an error, for those who work on them.

Compilation is all or nothing. The compiled modules share one library so that they call each other
natively, hence a package with some of them missing would not import. Each module is a C file of its own:
they are compiled in parallel, and an object whose inputs have not changed is used again.
docs/building.md has the measurements behind the flags.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Compiled or not is a property of a folder: all modules in these, at any depth. (`__init__.py` files
# only re-export names, so they stay interpreted.)
COMPILED_FOLDERS = (
    "causality",
    "encoding",
    "protocols",
    "runtime/engine",
    "runtime/link",
    "runtime/recording",
    "simulator/measures",
    "simulator/overlays",
    "simulator/workloads",
    "simulator/world",
    "trace",
    "wire",
)

# The shared library of all cores; mypyc appends "__mypyc".
GROUP = "beforehand._cores"
GENERATED = "build/mypyc"

# For compilers that take the options of GCC; MSVC behaves like this by default.
FLAGS = (
    # A product and a sum in one rounding, as some processors have it, would make compiled runs of the
    # simulator differ from pure ones.
    "-ffp-contract=off",
    # Modules call each other directly instead of through a table that the loader fills in.
    "-fvisibility=hidden",
)

# mypyc type-checks everything first; metadata and source archives do not need that.
BUILDING = {"build", "build_ext", "bdist_wheel", "install"}


def wanted(variable: str) -> bool:
    """Whether an environment variable is switched on."""
    return os.environ.get(variable, "") not in ("", "0")


def say_pure(reason: object) -> None:
    """Tell whoever builds that the package will work, but slower."""
    print(f"beforehand: building pure Python, without compiled cores: {reason}", flush=True)


def sources() -> list[str]:
    """The modules to compile, found by listing so that a new core cannot be forgotten."""
    # Relative to this file's directory, which is where build frontends run it.
    modules = (
        module
        for folder in COMPILED_FOLDERS
        for module in Path("src/beforehand", folder).rglob("*.py")
        if module.name != "__init__.py"
    )
    return sorted(map(str, modules))


def compiler_problem() -> str | None:
    """Why C extensions cannot be built here, or None when a trial one could."""
    from distutils import ccompiler
    from distutils.sysconfig import customize_compiler

    compiler = ccompiler.new_compiler()
    customize_compiler(compiler)
    with tempfile.TemporaryDirectory() as scratch:
        probe = Path(scratch, "probe.c")
        # Python.h too: many machines have a compiler but not the headers.
        probe.write_text("#include <Python.h>\nint probe(void) { return PY_VERSION_HEX; }\n")
        include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
        try:
            objects = compiler.compile([str(probe)], output_dir=scratch, include_dirs=include)
            compiler.link_shared_object(objects, str(Path(scratch, "probe.so")))
        except Exception:
            tool = " ".join(getattr(compiler, "compiler", None) or ["the compiler"]).split()[0]
            return f"no working C compiler ({tool} could not build a trial extension)"
    return None


def cores() -> list[Extension]:
    """The extensions of the compiled cores; an empty list for a pure build."""
    if not BUILDING & set(sys.argv):
        # An editable install is pure on purpose: edits of a core would not reach its compiled copy.
        if "editable_wheel" in sys.argv:
            say_pure("editable install")
        return []
    if wanted("BEFOREHAND_PURE"):
        say_pure("BEFOREHAND_PURE is set")
        return []
    if problem := compiler_problem():
        say_pure(problem)
        return []
    try:
        from mypyc.build import mypycify
    except ImportError as problem:
        say_pure(f"mypyc is not installed ({problem})")
        return []
    try:
        extensions = mypycify(
            # Ignore the project's mypy settings: they are for its authors, not for a build.
            ["--config-file=", *sources()],
            opt_level="2",
            debug_level="0",
            strip_asserts=False,
            multi_file=True,
            group_name=GROUP,
            target_dir=GENERATED,
        )
        for extension in extensions:
            # mypyc writes the headers of a group into its package's folder, one C file per module next
            # to that folder.
            extension.include_dirs.append(str(Path(GENERATED, *GROUP.split(".")[:-1])))
            if os.name != "nt":
                extension.extra_compile_args.extend(FLAGS)
        return extensions
    except (Exception, SystemExit) as problem:  # mypyc exits when it rejects a module
        if wanted("BEFOREHAND_STRICT"):
            raise
        say_pure(f"mypyc failed ({problem!r})")
        return []


def processors() -> int:
    """How many this process may use: in a container, often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ObjectFiles:
    """Compiles C files in parallel, and only those whose object would come out differently.

    Next to each object is a file with the hash of everything that it was made from. The times of files
    would not do: they say nothing about flags.
    """

    def __init__(self, compiler: Any, workers: int) -> None:
        self.compiler = compiler
        self.compile_sources = compiler.compile
        self.pool = ThreadPoolExecutor(workers)
        # The versions stand for the headers of Python and of mypyc's runtime library.
        self.tools = (getattr(compiler, "compiler_so", None), sys.version, version("mypy"))
        headers = sorted(Path(GENERATED).rglob("*.h"))
        self.headers = hashlib.sha256(b"".join(map(Path.read_bytes, headers))).hexdigest()

    def compile(self, sources: list[str], **options: Any) -> list[str]:
        """Stands in for the compiler's own method; the first error ends it."""
        # The long ones first, so that no processor is left with one at the end.
        longest_first = sorted(sources, key=lambda source: -Path(source).stat().st_size)
        for _ in self.pool.map(partial(self.compile_one, options), longest_first):
            pass
        names: list[str] = self.compiler.object_filenames(sources, output_dir=options["output_dir"])
        return names

    def compile_one(self, options: dict[str, Any], source: str) -> None:
        """Compile one file, unless its object is already there."""
        [target] = self.compiler.object_filenames([source], output_dir=options["output_dir"])
        record, inputs = Path(f"{target}.sha256"), self.inputs(source, options)
        if Path(target).exists() and record.exists() and record.read_text() == inputs:
            return
        record.unlink(missing_ok=True)
        self.compile_sources([source], **options)
        record.write_text(inputs)

    def inputs(self, source: str, options: dict[str, Any]) -> str:
        """The hash of everything that the object depends on."""
        text = Path(source).read_bytes()
        # The runtime library and the modules' entry points do not include the generated headers.
        headers = self.headers if b'#include "__native' in text else ""
        settings = repr((self.tools, headers, sorted(options.items())))
        return hashlib.sha256(settings.encode() + text).hexdigest()


class BuildCores(build_ext):
    """Builds all extensions, or leaves none behind."""

    def finalize_options(self) -> None:
        """Use all processors, unless the command line says how many."""
        super().finalize_options()
        self.parallel = self.parallel or processors()

    def build_extensions(self) -> None:
        """Compile through `ObjectFiles`; the command itself links several extensions at a time."""
        objects = ObjectFiles(self.compiler, int(self.parallel))
        self.compiler.compile = objects.compile
        try:
            super().build_extensions()
        finally:
            objects.pool.shutdown(cancel_futures=True)

    def run(self) -> None:
        """Build them; when one fails, drop the others too and go on with pure Python."""
        try:
            super().run()
        except Exception as problem:
            if wanted("BEFOREHAND_STRICT"):
                raise
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []
            say_pure(f"the C compiler failed ({problem})")


if __name__ == "__main__":  # also when a build frontend runs it
    setup(ext_modules=cores(), cmdclass={"build_ext": BuildCores})
