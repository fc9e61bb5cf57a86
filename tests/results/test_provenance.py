"""What notes tell about where something was made: enough to compare, and nothing about whose it is."""

from __future__ import annotations

import getpass
import json
import os
import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path

from beforehand import __version__, _build
from beforehand.results.provenance import environment, provenance


def test_versions_and_the_machine() -> None:
    """Each under its name; plain text, so that it can stand in JSON."""
    found = environment()
    assert found["beforehand"] == f"{__version__} ({_build.describe()})"
    assert platform.python_version() in found["Python"] and int(found["cores"]) >= 1
    assert found.keys() >= {"system", "processor", "memory", "pyarrow"}
    assert all(isinstance(each, str) and each for each in found.values())
    assert json.loads(json.dumps(found)) == found


def test_it_does_not_tell_whose_machine_it_is() -> None:
    """Neither its name nor that of the user, and no paths."""
    told = " ".join(environment().values())
    words = told.replace("(", " ").replace(")", " ").split()
    assert platform.node() not in words and getpass.getuser() not in words
    assert str(Path.home()) not in told and os.getcwd() not in told


def test_who_gets_it_may_change_it() -> None:
    """It is known once, and given as a copy."""
    environment()["cores"] = "1,000,000"
    assert environment()["cores"] != "1,000,000"


def test_provenance_has_command_place_and_time() -> None:
    """The time is now, in UTC."""
    made = provenance("beforehand demo")
    assert made["command"] == "beforehand demo" and made["environment"] == environment()
    assert abs(datetime.now(UTC) - datetime.fromisoformat(made["when"])) < timedelta(minutes=1)
