"""The commands on a standalone cluster: a master and a worker on loopback, started for the test."""

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
REGISTRATION_TIMEOUT = 120  # seconds for the worker to register with its master
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master with one two-core worker."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    address = f"spark://{LOOPBACK}:{port}"
    package = "org.apache.spark.deploy"
    log = tmp_path / "cluster.log"
    processes = []
    try:
        with log.open("wb") as output:
            for arguments in (
                (f"{package}.master.Master", "--port", str(port)),
                (
                    f"{package}.worker.Worker",
                    "--cores",
                    "2",
                    "--memory",
                    "2g",
                    "--work-dir",
                    str(tmp_path / "work"),
                    address,
                ),
            ):
                command = [SPARK_CLASS, arguments[0], "--host", LOOPBACK, "--webui-port", "0"]
                processes.append(
                    subprocess.Popen(
                        [*map(str, command), *arguments[1:]],
                        env=os.environ | {"SPARK_LOCAL_IP": LOOPBACK},
                        stdout=output,
                        stderr=output,
                    )
                )
        deadline = time.monotonic() + REGISTRATION_TIMEOUT
        while "Successfully registered with master" not in log.read_text(errors="replace"):
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.5)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def beforehand(*arguments: str) -> dict[str, Any]:
    """Run a command in its own process and parse its JSON output."""
    completed = subprocess.run(
        [sys.executable, "-m", "beforehand", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    output: dict[str, Any] = json.loads(completed.stdout)
    return output


def test_characterise_gives_the_same_tables_on_a_cluster_as_locally(
    master: str, tmp_path: Path
) -> None:
    """Workers started by Spark itself can import the package and compute the same tables."""
    people = [f"p{number}" for number in range(10)]
    lines = [f"{people[n % 10]} {people[n * n % 7]} {n}" for n in range(500)]
    (tmp_path / "calls.txt").write_text("\n".join(lines) + "\n")
    out = str(tmp_path / "ingested")
    loopback_settings = [f"spark.driver.host={LOOPBACK}", f"spark.driver.bindAddress={LOOPBACK}"]
    cluster = ["--master", master, "--conf", "spark.executor.memory=1g"]
    cluster += [argument for setting in loopback_settings for argument in ("--conf", setting)]
    assert beforehand("ingest", str(tmp_path / "calls.txt"), "--out", out, *cluster)["messages"]
    on_cluster = beforehand("characterise", out, *cluster)
    local = beforehand("characterise", out, "--master", "local[2]")
    assert on_cluster == local
    assert on_cluster["runs"][0]["messages"] > 400
