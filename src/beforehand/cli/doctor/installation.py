"""Python, the cores, the extras, and the programs that some commands start."""

import os
import platform
import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Final

from beforehand import __version__, _build, requirements
from beforehand.cli.doctor.diagnosis import Diagnosis
from beforehand.errors import ResourceError

BASE: Final = ("cryptography", "mypy_extensions", "rich", "typer")
# What does not work, or works worse, without each extra.
COSTS: Final = {
    "trace": "traces can only be .jsonl files, no .parquet",
    "check": "no `beforehand check`",
    "nats": "no `beforehand node --nats`: nodes talk over UDP only",
    "fast": "nodes run on asyncio's own event loop, which is slower than uvloop",
    "report": "no `beforehand demo` and `report`",
    "pipeline": "no study, ingest, characterise, sweep and audit",
    "spark": "these run on this machine only, with --engine local",
}
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def diagnoses() -> Iterator[Diagnosis]:
    """From what everybody needs to what only developers need."""
    yield _python()
    yield _cores()
    yield _base()
    for extra in requirements.EXTRAS:
        yield _extra(extra)
    yield _java()
    yield _chromium()


def _python() -> Diagnosis:
    return Diagnosis(
        "Python", "ok", f"{platform.python_version()} ({platform.python_implementation()})"
    )


def _cores() -> Diagnosis:
    name, detail = "protocol cores", f"beforehand {__version__}, {_build.describe()}"
    if _build.is_compiled():
        return Diagnosis(name, "ok", detail)
    cost = "simulations and nodes run several times slower; results are the same"
    return Diagnosis(name, "limited", detail, cost, "install a compiled wheel, or run `make` here")


def _base() -> Diagnosis:
    name = "base packages"
    for module in BASE:
        try:
            import_module(module)
        except Exception as problem:  # a broken binary may raise anything
            detail = f"{module} cannot be imported ({problem})"
            remedy = "`pip install --force-reinstall beforehand`"
            return Diagnosis(name, "broken", detail, "nothing works", remedy)
    return Diagnosis(name, "ok", _versions(BASE))


def _extra(extra: str) -> Diagnosis:
    name = f"extra {extra}"
    if missing := requirements.missing(extra):
        without = f"without {', '.join(missing)}"
        return Diagnosis(name, "missing", without, COSTS[extra], requirements.install(extra))
    return Diagnosis(name, "ok", _versions(requirements.EXTRAS[extra]))


def _java() -> Diagnosis:
    try:
        java = requirements.find_java()
    except ResourceError as problem:
        detail, _, remedy = str(problem).partition("; ")
        return Diagnosis("Java", "missing", detail, "no commands on Spark", remedy)
    home = os.environ.get("JAVA_HOME")
    where = f"JAVA_HOME={home}" if home else f"{shutil.which(java.command)}, JAVA_HOME is not set"
    return Diagnosis("Java", "ok", f"{java.version}, {where}")


def _chromium() -> Diagnosis:
    names = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else list(BROWSERS)
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is not None:
        return Diagnosis("Chromium", "ok", found)
    cost = "no browser tests and no screenshots; nothing for users"
    remedy = "install the package chromium, or name one in $CHROMIUM"
    return Diagnosis("Chromium", "missing", f"no {' or '.join(names)}", cost, remedy)


def _versions(modules: tuple[str, ...]) -> str:
    packages = packages_distributions()
    return ", ".join(
        f"{module} {_version(packages.get(module, [module])[0])}" for module in modules
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # on the path, but not installed
        return "of unknown version"
