"""A counterexample as a trace, which `beforehand audit` judges again and diagrams are drawn from.

Each action is a millisecond after the one before. A run that ends where the oracle objects is cut
short there; one that ends because nothing can happen any more has come to its end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from beforehand import trace, wire
from beforehand.causality.ids import MessageId
from beforehand.checker.explain.run_events import RunEvent, messages_in, run_events
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Counterexample
from beforehand.errors import TraceError

STEP_NS: Final = 1_000_000
NAME: Final = "trace.jsonl"  # in a folder: a few dozen lines, which people may want to read
_ENDINGS: Final = (".parquet", ".jsonl", ".jsonl.gz")
_AT_THE_END: Final = ("undelivered", "stuck")


def place(out: Path) -> Path:
    """The file that is meant by `--out`; it is asked for before the work is done, not after."""
    if out.name.endswith(_ENDINGS):
        if not out.parent.is_dir():
            raise TraceError(f"--out: there is no folder {out.parent}; create it first")
        return out
    if out.exists() and not out.is_dir():
        raise TraceError(
            f"--out: {out} is a file, and no trace; name a folder, or a file that ends in "
            f"{', '.join(_ENDINGS)}"
        )
    return out / NAME


def save(explored: Setting, found: Counterexample, file: Path) -> None:
    """Write the trace of a counterexample."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with trace.Recorder(explored.protocol, trace.create(file)) as recorder:
        log = _Log(recorder)
        for name in explored.processes:
            log.add(0, name, "start")
        for event in run_events(explored, found.run):
            log.event(event)
        end = "end of the run" if found.problem.kind in _AT_THE_END else "cut short"
        for name in explored.processes:
            log.add(len(found.run) + 1, name, "stop", detail=end)


class _Log:
    """Numbers the events of each process."""

    def __init__(self, recorder: trace.Recorder) -> None:
        self._recorder = recorder
        self._seq: dict[str, int] = {}

    def event(self, event: RunEvent) -> None:
        """Record what has a place in a trace: the loss of a frame has none, nor has a timer."""
        message, frame = event.message, event.frame
        step, process, kind = event.step, event.process, event.kind
        if kind == "control":
            assert frame is not None
            detail = type(frame).__name__
            size = int(wire.size(frame))
            mid = int(frame.about())
            self.add(step, process, kind, event.sender, mid, event.to, meta=size, detail=detail)
        elif message is not None:
            detail = _detail(event)
            meta = 0
            if frame is not None and message == _first(event):
                meta = int(wire.size(frame)) - int(frame.payload_bytes())
            self.add(step, process, kind, *message, event.to, len(str(message)), meta, detail)

    def add(
        self,
        step: int,
        process: str,
        kind: str,
        sender: str | None = None,
        mid: int = 0,
        to: tuple[str, ...] | None = None,
        payload: int = 0,
        meta: int = 0,
        detail: str = "",
    ) -> None:
        """The next event of a process."""
        self._seq[process] = seq = self._seq.get(process, 0) + 1
        self._recorder.record(
            process, seq, kind, sender, mid, to, step * STEP_NS, payload, meta, detail
        )


def _first(event: RunEvent) -> MessageId:
    """The message that has the bytes of the whole frame, if several travel together."""
    assert event.frame is not None
    return messages_in(event.sender, event.frame)[0]


def _detail(event: RunEvent) -> str:
    assert event.message is not None
    if event.kind == "hold":
        return "at receiver" if event.to == (event.process,) else "at sender"
    if event.kind == "release" and event.message.sender != event.process:
        return "relay"
    return "again" if event.again else ""
