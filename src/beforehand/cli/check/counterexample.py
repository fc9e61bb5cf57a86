"""A counterexample as a trace, which `beforehand audit` and `beforehand diagram` read.

Each action takes a millisecond. A run that ends with a violation is marked as cut short; one that ends
because no action is left is complete.
"""

from pathlib import Path
from typing import Final

from beforehand import trace, wire
from beforehand.causality.ids import MessageId
from beforehand.checker.explain.run_events import RunEvent, messages_in, run_events
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Counterexample
from beforehand.errors import TraceError

STEP_NS: Final = 1_000_000
NAME: Final = "trace.jsonl"  # in a folder: a few dozen lines that people may want to read
_SUFFIXES: Final = (".parquet", ".jsonl", ".jsonl.gz")
_COMPLETE: Final = ("undelivered", "stuck")


def trace_file(out: Path) -> Path:
    """The file that `--out` means; checked before the search, not after it."""
    if out.name.endswith(_SUFFIXES):
        if not out.parent.is_dir():
            raise TraceError(f"--out: there is no folder {out.parent}; create it first")
        return out
    if out.exists() and not out.is_dir():
        raise TraceError(
            f"--out: {out} is not a trace; name a folder, or a file that ends in "
            f"{', '.join(_SUFFIXES)}"
        )
    return out / NAME


def save(setting: Setting, counterexample: Counterexample, file: Path) -> None:
    """Write the trace of a counterexample."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with trace.Recorder(setting.protocol, trace.create(file)) as recorder:
        log = _Log(recorder)
        for name in setting.processes:
            log.add(0, name, "start")
        for event in run_events(setting, counterexample.run):
            log.event(event)
        end = "end of the run" if counterexample.problem.kind in _COMPLETE else "cut short"
        for name in setting.processes:
            log.add(len(counterexample.run) + 1, name, "stop", detail=end)


class _Log:
    """Numbers the events of each process."""

    def __init__(self, recorder: trace.Recorder) -> None:
        self._recorder = recorder
        self._seq: dict[str, int] = {}

    def event(self, event: RunEvent) -> None:
        """Record an event that the trace schema has; lost frames and timers are not in it."""
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
            self.add(
                step,
                process,
                kind,
                *message,
                event.to,
                payload=len(str(message)),
                meta=meta,
                detail=detail,
            )

    def add(
        self,
        step: int,
        process: str,
        kind: str,
        sender: str | None = None,
        mid: int = 0,
        to: tuple[str, ...] | None = None,
        *,
        payload: int = 0,
        meta: int = 0,
        detail: str = "",
    ) -> None:
        """Record the next event of a process."""
        self._seq[process] = seq = self._seq.get(process, 0) + 1
        self._recorder.record(
            process,
            seq,
            kind,
            sender,
            mid,
            to,
            time_ns=step * STEP_NS,
            payload_bytes=payload,
            meta_bytes=meta,
            detail=detail,
        )


def _first(event: RunEvent) -> MessageId:
    """The message that is charged for the whole frame, if it carries several."""
    assert event.frame is not None
    return messages_in(event.sender, event.frame)[0]


def _detail(event: RunEvent) -> str:
    assert event.message is not None
    if event.kind == "hold":
        return "at receiver" if event.to == (event.process,) else "at sender"
    if event.kind == "release" and event.message.sender != event.process:
        return "relay"
    return "again" if event.again else ""
