"""The commands on a cluster: a master and a worker of their own, on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LOOPBACK = "127.0.0.1"
PATIENCE = 120  # seconds for the worker to find its master
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master that has a worker with two cores."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    address = f"spark://{LOOPBACK}:{port}"
    package = "org.apache.spark.deploy"
    log = tmp_path / "cluster.log"
    started = []
    try:
        with log.open("wb") as output:
            for arguments in (
                (f"{package}.master.Master", "--port", str(port)),
                (
                    *(f"{package}.worker.Worker", "--cores", "2", "--memory", "2g"),
                    *("--work-dir", str(tmp_path / "work"), address),
                ),
            ):
                command = [SPARK_CLASS, arguments[0], "--host", LOOPBACK, "--webui-port", "0"]
                started.append(
                    subprocess.Popen(
                        [*map(str, command), *arguments[1:]],
                        env=os.environ | {"SPARK_LOCAL_IP": LOOPBACK},
                        stdout=output,
                        stderr=output,
                    )
                )
        deadline = time.monotonic() + PATIENCE
        while "Successfully registered with master" not in log.read_text(errors="replace"):
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.5)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def beforehand(*arguments: str) -> dict[str, Any]:
    """Run a command in a process of its own and read its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "beforehand", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_characterise_on_a_cluster_is_as_on_this_machine(master: str, tmp_path: Path) -> None:
    """Workers that Spark starts by itself find the package, and give the same tables."""
    people = [f"p{number}" for number in range(10)]
    lines = [f"{people[n % 10]} {people[n * n % 7]} {n}" for n in range(500)]
    (tmp_path / "calls.txt").write_text("\n".join(lines) + "\n")
    out = str(tmp_path / "ingested")
    on_loopback = [f"spark.driver.host={LOOPBACK}", f"spark.driver.bindAddress={LOOPBACK}"]
    cluster = ["--master", master, "--conf", "spark.executor.memory=1g"]
    cluster += [argument for each in on_loopback for argument in ("--conf", each)]
    assert beforehand("ingest", str(tmp_path / "calls.txt"), "--out", out, *cluster)["messages"]
    there = beforehand("characterise", out, *cluster)
    here = beforehand("characterise", out, "--master", "local[2]")
    assert there == here
    assert there["runs"][0]["messages"] > 400
