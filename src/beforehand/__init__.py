"""Causal message delivery: nobody hears an answer before the question.

The public names are here and load when first used, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beforehand import causality, checker, errors, protocols, runtime, simulator, trace, wire
    from beforehand.causality.ids import MessageId
    from beforehand.runtime.engine.message import Message
    from beforehand.runtime.events import PeerEvent
    from beforehand.runtime.identity.keys import keygen
    from beforehand.runtime.node import Node
    from beforehand.runtime.run import run

__all__ = [
    "Message",
    "MessageId",
    "Node",
    "PeerEvent",
    "__version__",
    "causality",
    "checker",
    "errors",
    "keygen",
    "protocols",
    "run",
    "runtime",
    "simulator",
    "trace",
    "wire",
]

__version__ = "0.1.0"

_MODULES = {
    "causality",
    "checker",
    "errors",
    "protocols",
    "runtime",
    "simulator",
    "trace",
    "wire",
}

# name -> the module that defines it
_NAMES = {
    "Message": "runtime.engine.message",
    "MessageId": "causality.ids",
    "Node": "runtime.node",
    "PeerEvent": "runtime.events",
    "keygen": "runtime.identity.keys",
    "run": "runtime.run",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
