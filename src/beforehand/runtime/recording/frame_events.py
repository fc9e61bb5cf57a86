"""What a node tells its trace beside causal-sends and deliveries: what frames did, and what waits."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.runtime.recording.node_trace import NodeTrace
from beforehand.wire.size import size


def note_sent(trace: NodeTrace, me: str, to: str, frame: Frame) -> None:
    """A frame of the core goes out: messages are released, or it is control."""
    if frame.messages():
        origin = frame.origin()
        detail = "relay" if origin and origin != me else ""
        _note_messages(trace, "release", origin or me, (to,), frame, detail)
    else:
        _note_control(trace, me, to, frame)


def note_received(trace: NodeTrace, me: str, sender: str, frame: Frame) -> None:
    """A frame for the core came in."""
    if frame.messages():
        _note_messages(trace, "receive", frame.origin() or sender, None, frame, "")
    else:
        _note_control(trace, sender, me, frame)


def note_holds(
    trace: NodeTrace, me: str, first: i64, sizes: list[int], effects: list[Effect]
) -> None:
    """Messages were causal-sent; those that did not go out at once wait from now on."""
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


def _note_messages(
    trace: NodeTrace,
    kind: str,
    sender: str,
    to: tuple[str, ...] | None,
    frame: Frame,
    detail: str,
) -> None:
    """One row for each message; the first has all bytes of the frame that are no payload."""
    for inner in frame.bundle():
        _note_messages(trace, kind, inner.origin() or sender, to, inner, detail)
    if frame.bundle():
        return
    meta = size(frame) - frame.payload_bytes()
    number = frame.about()
    for length in frame.payload_sizes():
        trace.record(kind, sender, number, to, length, meta, detail)
        number += 1
        meta = 0


def _note_control(trace: NodeTrace, sender: str, to: str, frame: Frame) -> None:
    trace.record("control", sender, frame.about(), (to,), 0, size(frame), type(frame).__name__)
