"""Fixtures shared by every command-line test."""

import pytest

from beforehand.cli.ui import progress

NEVER = 3600.0  # seconds


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable progress lines, so that standard error doesn't depend on the speed of the machine."""
    monkeypatch.setattr(progress, "FIRST_LINE", NEVER)
