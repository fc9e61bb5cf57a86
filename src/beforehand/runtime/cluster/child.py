"""One worker process of a cluster, as seen by its parent."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from beforehand.runtime.cluster.plan import LONGEST_LINE, WorkerJob
from beforehand.runtime.cluster.programs.actor import LogEntry

WORKER: Final = "beforehand.runtime.cluster.worker"
STDERR_TAIL: Final = 2000  # bytes of standard error kept from a process that crashed


@dataclass
class WorkerFigures:
    """The latest counters of a worker; see `Stats` and `Faulty`."""

    sent: int = 0
    delivered: int = 0
    reactions: int = 0
    held: int = 0  # messages held by the core now
    most_held: int = 0
    lost: int = 0  # datagrams, by the injector
    doubled: int = 0
    held_back: int = 0
    bytes_out: int = 0  # on the wire, with headers and retransmissions
    resent: int = 0  # frames
    round_trip_ms: float = 0.0
    damaged: int = 0  # messages whose content was altered
    misbehaved: int = 0


@dataclass
class Child:
    """A worker process: its job, its reports, and how it ended."""

    job: WorkerJob
    generation: int  # 1, or 2 after a restart
    on_change: Callable[[], None]
    address: str = ""
    process: str = ""  # its process id in cores and trace
    reports: set[str] = field(default_factory=set)
    connected: set[str] = field(default_factory=set)  # peers that it reported as up
    events: list[tuple[str, str, str]] = field(default_factory=list)  # kind, peer, detail
    figures: WorkerFigures = field(default_factory=WorkerFigures)
    log: list[LogEntry] = field(default_factory=list)  # of its program
    killed: bool = False  # on purpose, in the middle of the run
    ended: bool = False
    stderr_tail: str = ""

    @property
    def name(self) -> str:
        """Its name among peers."""
        return self.job.name

    @property
    def label(self) -> str:
        """Its name in output: a restarted worker is another process."""
        return self.name if self.generation == 1 else f"{self.name} again"

    async def start(self) -> None:
        """Start the process and send it its job."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            WORKER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
        )
        self._write(asdict(self.job))
        self._reading = asyncio.ensure_future(self._read_reports())

    def command(self, command: str, **arguments: Any) -> None:
        """Send it a command, unless it has ended."""
        if not self.ended:
            self._write({"command": command, **arguments})

    def kill(self) -> None:
        """Send SIGKILL, if it is still running."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def reaped(self) -> None:
        """Wait until the process has ended, whatever became of its output."""
        await self._process.wait()

    async def wait(self) -> None:
        """Wait until it has ended and its output was read."""
        await self._reading

    def _write(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read_reports(self) -> None:
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        errors = asyncio.ensure_future(process.stderr.read())
        try:
            async for line in process.stdout:
                self._handle(line)
                self.on_change()
            self.stderr_tail = (await errors)[-STDERR_TAIL:].decode(errors="replace").strip()
            await process.wait()
        finally:
            errors.cancel()
            self.ended = True
            assert process.stdin is not None
            process.stdin.close()
            self.on_change()

    def _handle(self, line: bytes) -> None:
        try:
            report = json.loads(line)
        except ValueError:
            return  # it was killed while writing
        kind = report.pop("report")
        self.reports.add(kind)
        if kind == "listening":
            self.address, self.process = report["address"], report["process"]
        elif kind == "figures":
            self.figures = WorkerFigures(**report)
        elif kind == "log":
            self.log += (LogEntry(*entry) for entry in report["entries"])
        elif kind == "event":
            self._add_event(**report)

    def _add_event(self, kind: str, peer: str, detail: str) -> None:
        self.events.append((kind, peer, detail))
        if kind in ("up", "restarted"):
            self.connected.add(peer)
        elif kind in ("dropped", "expelled"):
            self.connected.discard(peer)
