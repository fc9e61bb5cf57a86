"""Trace events derived from frames: releases, receipts, control frames and held messages."""

from mypy_extensions import i64

from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.runtime.recording.node_trace import NodeTrace
from beforehand.wire.codec import size


def record_sent(trace: NodeTrace, me: str, to: str, frame: Frame) -> None:
    """Record a frame sent by the core: releases of its messages, or a control frame."""
    if frame.messages():
        origin = frame.origin()
        detail = "relay" if origin and origin != me else ""
        _record_messages(trace, "release", origin or me, (to,), frame, detail)
    else:
        _record_control(trace, me, to, frame)


def record_received(trace: NodeTrace, me: str, sender: str, frame: Frame) -> None:
    """Record a frame received for the core."""
    if frame.messages():
        _record_messages(trace, "receive", frame.origin() or sender, None, frame, "")
    else:
        _record_control(trace, sender, me, frame)


def record_holds(
    trace: NodeTrace, me: str, first: i64, sizes: list[int], effects: list[Effect]
) -> None:
    """Record which of the messages just causal-sent are held at the sender."""
    released: i64 = first - 1
    for effect in effects:
        if isinstance(effect, Transmit):
            frame = effect.frame
            if frame.messages() and frame.origin() in ("", me):
                released = max(released, frame.about() + frame.messages() - 1)
    number = max(first, released + 1)
    while number < first + len(sizes):
        trace.record("hold", me, number, None, sizes[number - first], 0, "at sender")
        number += 1


def _record_messages(
    trace: NodeTrace, kind: str, sender: str, to: tuple[str, ...] | None, frame: Frame, detail: str
) -> None:
    """Record a row per message; the first is charged with all metadata bytes of the frame."""
    for inner in frame.bundle():
        _record_messages(trace, kind, inner.origin() or sender, to, inner, detail)
    if frame.bundle():
        return
    meta = size(frame) - frame.payload_bytes()
    number = frame.about()
    for length in frame.payload_sizes():
        trace.record(kind, sender, number, to, length, meta, detail)
        number += 1
        meta = 0


def _record_control(trace: NodeTrace, sender: str, to: str, frame: Frame) -> None:
    trace.record("control", sender, frame.about(), (to,), 0, size(frame), type(frame).__name__)
