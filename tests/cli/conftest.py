"""What holds for every test of the command line."""

import pytest

from beforehand.cli.ui import progress

NEVER = 3600.0  # seconds


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """How slow the machine is must not decide what is on standard error."""
    monkeypatch.setattr(progress, "FIRST_LINE", NEVER)
