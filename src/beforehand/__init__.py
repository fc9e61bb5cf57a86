"""Causal message delivery: nobody hears an answer before the question.

The public names are here and load when first used, so that importing the package stays cheap.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beforehand import causality, errors, protocols, simulator, trace, wire

__all__ = ["__version__", "causality", "errors", "protocols", "simulator", "trace", "wire"]

__version__ = "0.1.0"

_MODULES = {"causality", "errors", "protocols", "simulator", "trace", "wire"}


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
