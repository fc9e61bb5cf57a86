"""One process of a cluster, as its parent sees it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from beforehand.runtime.cluster.plan import Job

WORKER: Final = "beforehand.runtime.cluster.worker"
LONGEST_LINE: Final = 2**20
LAST_WORDS: Final = 2000  # bytes of what a process wrote before it died unasked


@dataclass
class Figures:
    """What a process last told of itself; see `Stats` and `Faulty`."""

    sent: int = 0
    delivered: int = 0
    reactions: int = 0
    held: int = 0  # messages in the core, now
    most_held: int = 0
    lost: int = 0  # datagrams, by the injector
    doubled: int = 0
    held_back: int = 0
    resent: int = 0  # frames
    round_trip_ms: float = 0.0
    damaged: int = 0  # messages with another content than they were sent with
    misbehaved: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass
class Child:
    """A process: what it was told to do, what it said, and what became of it."""

    job: Job
    life: int
    told: Callable[[], None]  # called whenever there is news
    address: str = ""
    process: str = ""  # what the cores and the trace call it
    said: set[str] = field(default_factory=set)
    there: set[str] = field(default_factory=set)  # peers that are up, as far as it knows
    events: list[tuple[str, str, str]] = field(default_factory=list)  # kind, peer, detail
    figures: Figures = field(default_factory=Figures)
    killed: bool = False  # on purpose, in the middle of the run
    ended: bool = False
    last_words: str = ""

    @property
    def name(self) -> str:
        """What its peers call it."""
        return self.job.name

    @property
    def label(self) -> str:
        """What the output calls it: its second life is another process."""
        return self.name if self.life == 1 else f"{self.name} again"

    async def start(self) -> None:
        """Start the process and give it its job."""
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
        )
        self._write(self.job.as_dict())
        self._listening = asyncio.ensure_future(self._listen())

    def tell(self, do: str, **more: Any) -> None:
        """Give it a command; one that is dead does not mind."""
        if not self.ended:
            self._write({"do": do, **more})

    def kill(self) -> None:
        """With signal 9, if it lives: it cannot do anything about it."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def wait(self) -> None:
        """Until it has ended and all that it said was heard."""
        await self._listening

    def _write(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _listen(self) -> None:
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        errors = asyncio.ensure_future(process.stderr.read())
        try:
            async for line in process.stdout:
                self._hear(line)
                self.told()
            self.last_words = (await errors)[-LAST_WORDS:].decode(errors="replace").strip()
            await process.wait()
        finally:
            errors.cancel()
            self.ended = True
            assert process.stdin is not None
            process.stdin.close()
            self.told()

    def _hear(self, line: bytes) -> None:
        try:
            heard = json.loads(line)
        except ValueError:
            return  # it was killed while it spoke
        what = heard["say"]
        self.said.add(what)
        if what == "listening":
            self.address, self.process = heard["address"], heard["process"]
        elif what == "figures":
            self.figures = Figures(**{each.name: heard[each.name] for each in fields(Figures)})
        elif what == "event":
            self._happened(heard["kind"], heard["peer"], heard["detail"])

    def _happened(self, kind: str, peer: str, detail: str) -> None:
        self.events.append((kind, peer, detail))
        if kind in ("up", "restarted"):
            self.there.add(peer)
        elif kind in ("dropped", "expelled"):
            self.there.discard(peer)
