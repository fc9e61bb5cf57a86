"""Protocol cores: one process of one protocol each, without any I/O, behind one contract."""

from beforehand.protocols import builtin as _builtin  # noqa: F401  (registers them)
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
from beforehand.protocols.frames import Frame, FrameKind
from beforehand.protocols.registry import (
    Protocol,
    create,
    describe,
    find,
    names,
    register,
    registration,
)
from beforehand.protocols.reliable import ReliableLink
from beforehand.protocols.tree.topology import Tree

__all__ = [
    "Admit",
    "Capabilities",
    "Core",
    "Deliver",
    "DeliverRun",
    "Effect",
    "Frame",
    "FrameKind",
    "Held",
    "Protocol",
    "ReliableLink",
    "Safe",
    "Transmit",
    "Tree",
    "Wait",
    "create",
    "describe",
    "find",
    "names",
    "register",
    "registration",
]
