"""The package itself: its public names, and what importing it costs."""

import subprocess
import sys
from importlib import metadata

import pytest

import beforehand


def test_the_version_is_the_installed_one() -> None:
    """There is one version number, and the installed metadata has it from the package."""
    assert beforehand.__version__ == metadata.version("beforehand")


def test_public_names_can_be_used_without_importing_them() -> None:
    """`import beforehand` is enough to reach every name that it lists."""
    for name in beforehand.__all__:
        assert getattr(beforehand, name) is not None
    assert dir(beforehand) == sorted(beforehand.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Loading names on demand must not change how a misspelt one fails."""
    with pytest.raises(AttributeError, match="module 'beforehand' has no attribute 'protocol'"):
        _ = beforehand.protocol


@pytest.mark.parametrize("module", ["beforehand", "beforehand.cli"])
def test_importing_stays_cheap(module: str) -> None:
    """Neither the package nor its command line loads a core before it is needed."""
    code = f"import sys, {module}; print([m for m in sys.modules if m.startswith('beforehand.p')])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout == "[]\n"
