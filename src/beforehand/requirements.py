"""What a machine must have beyond the base install: the packages of our extras, and Java for Spark.

Importable without any of them, so that everybody can check before starting anything. What is missing
raises ResourceError with the one command that helps.
"""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from typing import Final, NamedTuple

from beforehand.errors import ResourceError

# extra -> the modules that it installs; the smallest extra first. A test compares pyproject.toml.
EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "trace": ("pyarrow",),
    "check": ("numba", "numpy"),
    "nats": ("nats",),
    "fast": ("uvloop",),
    "report": ("jinja2", "plotly", "pyarrow"),
    "pipeline": ("jinja2", "numba", "numpy", "plotly", "pyarrow"),
    "spark": ("jinja2", "numba", "numpy", "pandas", "plotly", "pyarrow", "pyspark"),
}
NEEDED_JAVA: Final = 17
JAVA_REMEDY: Final = (
    "install a JDK or JRE (Debian/Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install "
    "openjdk@17), or point JAVA_HOME at one"
)
JAVA_TIMEOUT: Final = 30.0  # seconds for `java -version`, which takes a fraction of one


class Java(NamedTuple):
    """A Java that Spark can run on."""

    command: str
    version: int
    release: str  # such as 17.0.15


# ---- packages ----


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra] if find_spec(module) is None]


def install(extra: str) -> str:
    """The command that installs an extra, to be quoted in a sentence."""
    return f"`pip install 'beforehand[{extra}]'`"


def require(what: str, extra: str) -> None:
    """Raise ResourceError if a module of the extra, which `what` needs, is not installed."""
    for module in missing(extra):
        raise ResourceError(f"{what} needs {module}, which is not installed; run {install(extra)}")


def extra_of(module: str) -> str | None:
    """The smallest extra that installs a module; None if none does."""
    top = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if top in modules), None)


# ---- Java ----


def java_command() -> str:
    """The Java that Spark would start: that of JAVA_HOME, or else the first on the path."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else "java"


def find_java() -> Java:
    """The Java of this machine. Raises ResourceError if there is none that Spark can run on."""
    java = java_command()
    if shutil.which(java) is None:
        raise _no_java(f"there is no '{java}'")
    try:
        output = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=JAVA_TIMEOUT
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise _no_java(f"'{java} -version' failed ({problem})") from None
    # The first line reads like: openjdk version "17.0.15" 2025-04-15. Java 8 calls itself "1.8".
    version = re.search(r'version "((\d+)[^"]*)"', output)
    if version is None:
        raise _no_java(f"'{java} -version' printed no version")
    if int(version[2]) < NEEDED_JAVA:
        raise _no_java(f"'{java}' is version {version[2]}")
    return Java(java, int(version[2]), version[1])


def _no_java(problem: str) -> ResourceError:
    return ResourceError(f"Spark needs Java {NEEDED_JAVA} or newer: {problem}; {JAVA_REMEDY}")
