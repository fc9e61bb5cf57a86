"""What holds for every test: reproducible examples, and no doubt about which build is tested."""

import os
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings

import beforehand

# The same examples on every machine: a failure in CI is a failure here. The blob is for those found
# by a run with another profile.
settings.register_profile("beforehand", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("beforehand")

# As in setup.py; if the two ever differ, the check below fails and names the module.
COMPILED_PACKAGES = ("protocols", "runtime", "simulator", "wire")
INTERPRETED = {
    "__init__",
    "registry",
    *("changes", "ground", "program", "result", "run", "scenario", "specs", "units", "workloads"),
    *("cookies", "events", "greeting", "handshake", "hello", "hush"),
    *("introductions", "keys", "looking", "members", "node", "noise"),
    *("running", "settings", "trace_parts", "turns", "waiters"),
}


def pytest_configure() -> None:
    """Refuse to run when BEFOREHAND_EXPECT names another build than the one that gets imported."""
    expected = os.environ.get("BEFOREHAND_EXPECT")
    if expected is None:
        return
    if expected not in ("pure", "compiled"):
        raise pytest.UsageError(f"BEFOREHAND_EXPECT is pure or compiled, not {expected!r}")
    if wrong := [core for core, found in cores_found().items() if found != expected]:
        raise pytest.UsageError(
            f"BEFOREHAND_EXPECT={expected}, but these are not: {', '.join(wrong)}"
            f" (imported from {Path(beforehand.__file__).parent})"
        )


def cores_found() -> dict[str, str]:
    """Import every core and tell from its file whether it is pure or compiled."""
    root = Path(beforehand.__file__).parent
    names = (
        f"beforehand.{package}.{source.stem}"
        for package in COMPILED_PACKAGES
        for source in sorted(root.glob(f"{package}/*.py"))
        if source.stem not in INTERPRETED
    )
    return {
        name: "pure" if (import_module(name).__file__ or "").endswith(".py") else "compiled"
        for name in names
    }
