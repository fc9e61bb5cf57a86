"""Provenance in notes: enough to compare machines, and nothing that identifies their owner."""

from __future__ import annotations

import getpass
import json
import os
import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path

from beforehand import __version__, _build
from beforehand.results.provenance import environment, provenance


def test_the_environment_lists_versions_and_the_machine() -> None:
    """All values are plain text, so that they can be written as JSON."""
    details = environment()
    assert details["beforehand"] == f"{__version__} ({_build.describe()})"
    assert platform.python_version() in details["Python"] and int(details["cores"]) >= 1
    assert details.keys() >= {"system", "processor", "memory", "pyarrow"}
    assert all(isinstance(value, str) and value for value in details.values())
    assert json.loads(json.dumps(details)) == details


def test_the_environment_does_not_identify_the_machine() -> None:
    """It contains no host name, no user name and no paths."""
    text = " ".join(environment().values())
    words = text.replace("(", " ").replace(")", " ").split()
    assert platform.node() not in words and getpass.getuser() not in words
    assert str(Path.home()) not in text and os.getcwd() not in text


def test_callers_may_modify_the_environment() -> None:
    """It is computed once and returned as a copy."""
    environment()["cores"] = "1,000,000"
    assert environment()["cores"] != "1,000,000"


def test_provenance_has_command_environment_and_time() -> None:
    """The time is now, in UTC."""
    record = provenance("beforehand demo")
    assert record["command"] == "beforehand demo" and record["environment"] == environment()
    assert abs(datetime.now(UTC) - datetime.fromisoformat(record["when"])) < timedelta(minutes=1)
