"""Compile the protocol cores with mypyc, or go on without: both give the same package.

Everything else about the project is declared in pyproject.toml. Two environment variables matter:

- BEFOREHAND_PURE=1    do not compile, even where it would be possible;
- BEFOREHAND_STRICT=1  sources that do not compile are an error, for those who work on them.

Compilation is all or nothing. The compiled modules share one library so that they call each other
natively, hence a package with some of them missing would not import.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

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
            opt_level="3",
            strip_asserts=False,
            group_name=GROUP,
            target_dir="build/mypyc",
        )
        for extension in extensions:
            # A product and a sum in one rounding, as some processors have it, would make compiled
            # runs of the simulator differ from pure ones. MSVC does not do so by default.
            if os.name != "nt":
                extension.extra_compile_args.append("-ffp-contract=off")
        return extensions
    except (Exception, SystemExit) as problem:  # mypyc exits when it rejects a module
        if wanted("BEFOREHAND_STRICT"):
            raise
        say_pure(f"mypyc failed ({problem!r})")
        return []


class BuildCores(build_ext):
    """Builds all extensions, or leaves none behind."""

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


setup(ext_modules=cores(), cmdclass={"build_ext": BuildCores})
