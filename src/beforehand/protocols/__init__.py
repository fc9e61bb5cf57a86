"""Protocol cores: one process of one protocol each, without any I/O, behind one contract.

In reading order:

- `core.py`: the contract. `effects.py`: what a core wants done. `frames.py`: what cores exchange, and
  `FrameKind`, which encodes it. `fence.py`: dropped peers. `reliable.py`: links that repair loss.
- `registry.py`: `Capabilities`, `Protocol`, `register`, `create`; `builtin.py`: the protocols of this
  package, with the first bytes of their frames in `tags.py`; `plugins.py`: those of others.
- `hybrid/`, `sender_side/`, `clocks/`, `tree/`, `overlay/`, `controls.py`: the protocols; `support/`:
  what several of them use.

The walk of a message: `send` of one core returns a `Transmit` with a frame; whoever drives the core
carries it to the other process, whose `receive` returns a `Deliver`.
"""

from beforehand.protocols.builtin import DEFAULT  # which also registers them
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
    Capabilities,
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
    "DEFAULT",
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
