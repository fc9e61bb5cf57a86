"""How an output was made, for its note: command, time, versions and machine.

Nothing in it identifies the machine's owner: no host or user names, no paths.
"""

import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from beforehand import __version__, _build

PACKAGES: Final = ("pyspark", "pyarrow", "numba", "numpy")  # speed and results depend on these
_CPU: Final = Path("/proc/cpuinfo")
_GIGABYTE: Final = 10**9


def provenance(command: str) -> dict[str, Any]:
    """The fields of a note; `command` is the command line that reproduces the output."""
    return {"command": command, "environment": environment(), "when": now()}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def environment() -> dict[str, str]:
    """Versions and machine, by name; without what cannot be determined."""
    return dict(_facts())


@cache
def _facts() -> tuple[tuple[str, str], ...]:
    facts = {
        "beforehand": f"{__version__} ({_build.describe()})",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": _system(),
        "processor": _processor(),
        "cores": str(_cores()),
        "memory": _memory(),
        **{name: _version(name) for name in PACKAGES},
    }
    return tuple((name, value) for name, value in facts.items() if value)


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):  # not Linux, or a minimal one
        return platform.platform(terse=True)
    return f"{name}, {platform.system()} {platform.release()}"


def _processor() -> str:
    try:
        lines = _CPU.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(models), "") or platform.machine()


def _cores() -> int:
    """Cores that this process may use: in a container, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not POSIX
        return ""
    return f"{size / _GIGABYTE:.1f} GB"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
