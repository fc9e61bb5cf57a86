"""Short names of frames, for diagrams: `ack a#1`, `permit b#2`, `beta`."""

from __future__ import annotations

import re

from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import NAMES, Flood, Routed
from beforehand.protocols.reliable import Segment

# Frames are called after their protocol, which everybody who reads a diagram of it knows.
_PROTOCOLS = {"Hybrid", "Mattern", "Cykas", "Rst", "Ks", "Newtop", "Vector", "Tree", "Fifo", "Raw"}
_WORD = re.compile(r"[A-Z][a-z]*")


def short_name(sender: str, receiver: str, frame: Frame) -> str:
    """What a control frame says, and about which message, if about one."""
    if isinstance(frame, Segment):
        return short_name(sender, receiver, frame.inner)
    if isinstance(frame, Fenced):
        return short_name(sender, receiver, frame.frame)
    if isinstance(frame, (Routed, Flood)):
        return NAMES[int(frame.control.kind)]
    words = _WORD.findall(type(frame).__name__)
    if words[0] in _PROTOCOLS:
        words = words[1:]
    number = int(frame.about())
    if not number:
        return " ".join(words).lower()
    # Acknowledgements speak of what their receiver has sent, all others of what their sender has.
    whose = receiver if "Ack" in words else sender
    return f"{' '.join(words).lower()} {whose}#{number}"


def remark(frame: Frame) -> str:
    """What is special about a message on its way, in a word; empty if nothing is."""
    if isinstance(frame, Segment):
        return remark(frame.inner)
    if getattr(frame, "eager", False):
        return "eager"
    return "needs permit" if getattr(frame, "flagged", False) else ""
