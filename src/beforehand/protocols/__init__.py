"""Protocol cores: one process of one protocol each, without any I/O, behind one contract."""

from beforehand.protocols.capabilities import Capabilities
from beforehand.protocols.core import Core
from beforehand.protocols.effects import (
    Admit,
    Deliver,
    DeliverRun,
    Effect,
    Held,
    Safe,
    Transmit,
    Wait,
)
from beforehand.protocols.frames import Frame
from beforehand.protocols.registry import create, describe, names
from beforehand.protocols.reliable import ReliableLink

__all__ = [
    "Admit",
    "Capabilities",
    "Core",
    "Deliver",
    "DeliverRun",
    "Effect",
    "Frame",
    "Held",
    "ReliableLink",
    "Safe",
    "Transmit",
    "Wait",
    "create",
    "describe",
    "names",
]
