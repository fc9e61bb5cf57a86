"""Short names of frames, for diagrams: `ack a#1`, `permit b#2`, `beta`."""

from __future__ import annotations

from beforehand.protocols.frames import Frame


def short_name(sender: str, receiver: str, frame: Frame) -> str:
    """What a control frame is called, and which message it refers to, if any."""
    content = frame.content()
    kind = content.kind()
    number = int(content.about())
    if not number:
        return kind.name_of(content)
    return f"{kind.name_of(content)} {receiver if kind.acknowledges else sender}#{number}"


def remark(frame: Frame) -> str:
    """What the receiver of a message has to wait for, in a word or two; empty for nothing."""
    return frame.content().restriction()
