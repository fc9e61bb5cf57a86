"""`beforehand doctor`: every shortcoming is found, with its cost and its remedy."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from beforehand import _build, requirements
from beforehand.cli import app
from beforehand.cli.doctor import installation, system
from beforehand.cli.doctor.diagnosis import Diagnosis
from beforehand.runtime.transports import offload

runner = CliRunner()


def diagnoses(code: int = 0) -> dict[str, dict[str, str]]:
    """What the command finds, by name."""
    result = runner.invoke(app, ["doctor", "--json"])
    assert result.exit_code == code, result.output
    listed: list[dict[str, str]] = json.loads(result.stdout)["diagnoses"]
    for finding in listed:
        assert finding["detail"]
        assert (finding["state"] == "ok") is (finding["cost"] == "") is (finding["remedy"] == "")
    return {finding["name"]: finding for finding in listed}


def test_everything_that_matters_is_examined() -> None:
    """One line for each, all extras included; and the base works here."""
    names = diagnoses()
    assert [name for name in names if name.startswith("extra ")] == [
        f"extra {extra}" for extra in requirements.EXTRAS
    ]
    assert {"Python", "protocol cores", "base packages", "Java", "Chromium", "UDP"} < names.keys()
    assert {"UDP offload", "receive buffer", "send buffer", "open files"} < names.keys()
    assert {"temporary files", "monotonic clock", "wall clock"} < names.keys()
    assert names["UDP"]["state"] == names["base packages"]["state"] == "ok"


def test_the_costs_cover_the_extras() -> None:
    """Every extra has its sentence."""
    assert installation.COSTS.keys() == requirements.EXTRAS.keys()


def test_people_get_the_cost_and_the_remedy_of_each_shortcoming(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Below the table, and a last line that sums up."""
    monkeypatch.setitem(requirements.EXTRAS, "check", ("no_such_module",))
    result = runner.invoke(app, ["doctor"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "extra check      missing  without no_such_module" in lines
    assert (
        "extra check: no `beforehand check`. What helps: `pip install 'beforehand[check]'`."
        in lines
    )
    assert lines[-1].startswith("The base install works; ")


def test_missing_java_and_chromium_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With where they were looked for."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "browser"))
    names = diagnoses()
    assert names["Java"]["state"] == names["Chromium"]["state"] == "missing"
    assert str(tmp_path) in names["Java"]["detail"]
    assert "install a JDK" in names["Java"]["remedy"]


@pytest.mark.parametrize(("compiled", "state"), [(True, "ok"), (False, "limited")])
def test_pure_cores_cost_speed(compiled: bool, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They give the same results, so it is a limit and nothing more."""
    monkeypatch.setattr(_build, "is_compiled", lambda: compiled)
    assert diagnoses()["protocol cores"]["state"] == state


# ---- broken ----


def test_a_base_package_that_cannot_be_imported_breaks_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 3."""
    monkeypatch.setattr(installation, "BASE", ("rich", "no_such_module"))
    found = diagnoses(code=3)["base packages"]
    assert found["state"] == "broken" and "no_such_module" in found["detail"]


def test_a_machine_without_udp_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here nothing ever arrives; the offload is then limited, too."""
    monkeypatch.setattr(system, "PATIENCE", 0.01)
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind(("127.0.0.1", 0))
    silent.settimeout(0.01)

    class Sink(socket.socket):
        """Sends to nobody."""

        def sendto(self, *arguments: Any) -> int:
            return 0

        def sendmsg(self, *arguments: Any) -> int:
            return 0

    monkeypatch.setattr(
        system,
        "_sockets",
        lambda: (silent.dup(), Sink(socket.AF_INET, socket.SOCK_DGRAM)),
    )
    names = diagnoses(code=3)
    silent.close()
    assert (names["UDP"]["state"], names["UDP offload"]["state"]) == ("broken", "limited")


def test_an_unwritable_temporary_folder_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy names the variable."""

    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(system, "mkstemp", refuse)
    found = diagnoses(code=3)["temporary files"]
    assert found["state"] == "broken" and "TMPDIR" in found["remedy"]


# ---- limited ----


def only(examined: Any) -> Diagnosis:
    """The one finding of an examination."""
    [finding] = examined
    assert isinstance(finding, Diagnosis)
    return finding


@pytest.mark.parametrize(
    ("segments", "gathers", "detail"),
    [
        (False, True, "no UDP_SEGMENT"),
        (True, False, "UDP_SEGMENT works, UDP_GRO does not"),
    ],
)
def test_the_offload_is_really_tried(
    segments: bool, gathers: bool, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own answer counts, not its version."""
    if segments and system._offload().state != "ok":
        pytest.skip("this machine has no UDP_SEGMENT")
    if not gathers:
        monkeypatch.setattr(offload, "enable_gro", lambda sock: False)
    if not segments:
        monkeypatch.setattr(offload, "can_segment", lambda sock: False)
    finding = only([system._offload()])
    assert (finding.state, finding.detail) == ("limited", detail)


def test_small_buffers_name_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of this machine is whatever it is: the demand is raised beyond it."""
    monkeypatch.setattr(system, "BUFFER", 2**30)
    received, sent = system._buffers()
    assert received.state == sent.state == "limited"
    assert received.remedy == "`sudo sysctl -w net.core.rmem_max=1073741824`"
    assert "net.core.wmem_max" in sent.remedy


def test_few_open_files_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy is a command that the hard limit allows."""
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda what: (256, 512))
    finding = system._descriptors()
    assert (finding.state, finding.detail, finding.remedy) == (
        "limited",
        "up to 256",
        "`ulimit -n 512`",
    )


def test_clocks_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse one, one that is not synchronised, and one that is behind our own files."""
    monkeypatch.setattr(time, "get_clock_info", lambda name: SimpleNamespace(resolution=0.015625))
    assert system._monotonic_clock().state == "limited"
    for answer, state in ((True, "ok"), (None, "ok"), (False, "limited")):
        monkeypatch.setattr(system, "_is_synchronised", lambda answer=answer: answer)
        assert system._wall_clock().state == state
    future = SimpleNamespace(stat=lambda: SimpleNamespace(st_mtime=2**33))
    monkeypatch.setattr(system, "Path", lambda file: future)
    assert "before our files were written" in system._wall_clock().detail
