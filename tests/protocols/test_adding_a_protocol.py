"""The page on adding a protocol is executed: its claims about external protocols are true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import beforehand
from beforehand import trace
from beforehand.pipeline.audit.judge import judge
from tests.pipeline.audit.logs import log_chunks_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-protocol.md").read_text(encoding="utf-8")
MODULE, *STEPS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def python(folder: Path, script: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, since a registration lasts as long as the process."""
    package = Path(beforehand.__file__).parents[1]
    path = os.pathsep.join(map(str, [*paths, folder, package]))
    return subprocess.run(
        [sys.executable, "-W", "default", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the module of the page."""
    (tmp_path / "stop_and_wait.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def distribution(folder: Path, name: str, entry: str) -> Path:
    """An installed distribution that declares one protocol."""
    site = folder / f"site-{name}"
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[beforehand.protocols]\n{entry}\n")
    return site


def test_the_page_runs(folder: Path) -> None:
    """Created, encoded, simulated, checked and run by two nodes; its trace is clean for the auditor."""
    assert len(STEPS) == 5
    done = python(folder, "\n".join(STEPS))
    assert done.returncode == 0, done.stderr
    assert "no frame starts with 0x9a32" in done.stdout
    judgement = judge(log_chunks_of(list(trace.read(folder / "trace.jsonl"))))
    assert judgement.deliveries > 50 and not judgement.violations


def test_a_distribution_brings_a_protocol_by_its_entry_point(folder: Path) -> None:
    """Without any call of `register`, also for the command line."""
    site = distribution(folder, "example", "stop-and-wait = stop_and_wait:PROTOCOL")
    script = (
        "from beforehand import protocols, wire\n"
        "core = protocols.create('stop-and-wait', 'a')\n"
        "assert wire.encode(core.send('b', b'x')[0].frame)[:2] == b'\\x9a\\x30'\n"
        "assert protocols.names()[-1] == 'stop-and-wait'\n"
        "from beforehand.cli import app\n"
        "app(['simulate', '--protocol', 'stop-and-wait', '--processes', '3', '--audit'])\n"
    )
    done = python(folder, script, site)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "stop-and-wait" in done.stdout and "Warning" not in done.stderr


def test_a_broken_plugin_is_named_and_does_no_harm(folder: Path) -> None:
    """One that cannot be imported, one that is something else, one whose name is taken."""
    sites = [
        distribution(folder, "broken", "gone = no_such_module:PROTOCOL"),
        distribution(folder, "odd", "odd = stop_and_wait:WaitAck"),
        distribution(folder, "fine", "stop-and-wait = stop_and_wait:PROTOCOL"),
    ]
    script = (
        "from beforehand import protocols\n"
        "assert protocols.describe('stop-and-wait').causal\n"
        "assert len(protocols.names()) == 16\n"
        "protocols.create('gone', 'a')\n"
    )
    done = python(folder, script, *sites)
    assert "RuntimeWarning: the plugin 'gone' of the distribution broken" in done.stderr
    assert "the plugin 'odd' of the distribution odd" in done.stderr
    assert "a protocols.Protocol is needed" in done.stderr
    *_, last = done.stderr.strip().splitlines()
    assert "UnknownProtocolError: there is no protocol 'gone'" in last
    assert "No module named 'no_such_module'" in last


CLASHES = {
    "there is a protocol of this name": "replace(PROTOCOL)",
    "WaitMessage has a FrameKind already": "other(FrameKind(WaitMessage, 0x9B00, 'id payload'))",
    "the tag 0x9a30 belongs to WaitMessage": "other(FrameKind(Mine, 0x9A30, 'id'))",
    "the tag 0x60 is out of range": "other(FrameKind(Mine, 0x60, 'id'))",
    "unknown field 'text'": "other(FrameKind(Mine, 0x9B00, 'text'))",
}


@pytest.mark.parametrize("problem", CLASHES)
def test_a_clash_is_an_error_and_changes_nothing(folder: Path, problem: str) -> None:
    """Names, tags and fields are checked at registration; the first owner keeps its own."""
    script = f"""
from dataclasses import replace
from beforehand import protocols, wire
from beforehand.errors import LocalProtocolError
from beforehand.protocols import FrameKind
from stop_and_wait import PROTOCOL, WaitAck, WaitMessage

class Mine(WaitAck):
    pass

def other(kind):
    capabilities = replace(PROTOCOL.capabilities, name="other")
    return replace(PROTOCOL, capabilities=capabilities, frames=(kind,))

protocols.register(PROTOCOL)
protocols.register(PROTOCOL)
try:
    protocols.register({CLASHES[problem]})
except LocalProtocolError as error:
    print(error)
assert "other" not in protocols.names()
assert wire.decode(wire.encode(WaitMessage(1, b""))) == WaitMessage(1, b"")
"""
    done = python(folder, script)
    assert done.returncode == 0, done.stderr
    assert problem in done.stdout
