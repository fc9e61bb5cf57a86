"""Settings for every test: reproducible examples, and a check of which build is tested."""

import gc
import os

import pytest
from hypothesis import settings

from tests.compiled_modules import PACKAGE, modules_not

# The same examples on every machine: a failure in CI is a failure here. The blob is for those found
# by a run with another profile.
settings.register_profile("beforehand", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("beforehand")


def pytest_configure() -> None:
    """Refuse to run when BEFOREHAND_EXPECT names another build than the one that gets imported."""
    expected = os.environ.get("BEFOREHAND_EXPECT")
    if expected is None:
        return
    if expected not in ("pure", "compiled"):
        raise pytest.UsageError(f"BEFOREHAND_EXPECT is pure or compiled, not {expected!r}")
    if wrong := modules_not(expected):
        raise pytest.UsageError(
            f"BEFOREHAND_EXPECT={expected}, but these are not: {', '.join(wrong)}"
            f" (imported from {PACKAGE})"
        )


@pytest.fixture(autouse=True, scope="module")
def collected_tests_are_no_work_for_the_garbage_collector() -> None:
    """Exempt what lives until the end, thousands of tests, unless that is so already.

    It costs a tenth of the time of all tests otherwise. (The checker's search ends such exemptions.)
    """
    if gc.get_freeze_count() == 0:
        gc.collect()
        gc.freeze()
