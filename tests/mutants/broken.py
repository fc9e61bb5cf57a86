"""A broken copy of some cores next to the real ones: a mutant that runs in this process.

The modules of the cores are read as text, changed, and executed under other names, in a package of
their own. Frames and effects are the real ones, so that any world can run the copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from tests.mutants.mutant import Change, Mutant, mutated
from tests.support.overlay import Make, Pair

ROOT = Path(__file__).parents[2]
FOLDERS = {"beforehand": ROOT / "src", "tests": ROOT}  # top-level package -> its folder
OVERLAY = [
    f"beforehand.protocols.overlay.{name}"
    for name in (
        "links",
        "opening",
        "expected",
        "checks",
        "core",
        "link_memory",
        "preventive",
        "prc",
    )
]
CLASSES = {"link-memory": "LinkMemory", "preventive": "Preventive", "prc": "Prc"}


def broken_modules(
    modules: Sequence[str], name: str, changes: Sequence[Change]
) -> list[ModuleType]:
    """Copies of these modules with the mistakes; each imports only from those before it."""
    sources = {module: _path(module).read_text() for module in modules}
    copies: list[ModuleType] = []
    try:
        for module, text in mutated(sources, name, changes).items():
            for other in modules:
                text = text.replace(f"from {other} import", f"from {_alias(other)} import")
            copies.append(ModuleType(_alias(module)))
            sys.modules[_alias(module)] = copies[-1]
            exec(compile(text, f"broken {module}: {name}", "exec"), vars(copies[-1]))
    finally:
        for module in modules:
            sys.modules.pop(_alias(module), None)
    return copies


def _path(module: str) -> Path:
    return FOLDERS[module.partition(".")[0]] / f"{module.replace('.', '/')}.py"


def _alias(module: str) -> str:
    return f"broken_{module.replace('.', '_')}"


def broken(protocol: str, mutant: Mutant) -> Make:
    """A factory of cores of an overlay protocol with this mistake."""
    copies = broken_modules(OVERLAY, mutant.name, mutant.changes())
    core = next(
        getattr(module, CLASSES[protocol])
        for module in copies
        if hasattr(module, CLASSES[protocol])
    )

    def make(process: str, links: Iterable[Pair]) -> object:
        return core(process, links)

    return make
