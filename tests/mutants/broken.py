"""A broken copy of some cores, beside the real ones: a mutant that can be run in this process.

The modules of the cores are read as text, changed, and executed under other names, in a
package of their own. Frames and effects are the real ones, so that any world can run the copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from tests.mutants.catalogue import Mutant
from tests.support.overlay import Make, Pair

ROOT = Path(__file__).parents[2]
FOLDERS = {"beforehand": ROOT / "src", "tests": ROOT}  # top-level package -> where it is
OVERLAY = [
    f"beforehand.protocols.overlay.{name}"
    for name in ("links", "core", "link_memory", "preventive", "prc")
]
Changes = Sequence[tuple[str, str, str]]  # (file, old text, new text)
CLASSES = {"link-memory": "LinkMemory", "preventive": "Preventive", "prc": "Prc"}


def changed(text: str, file: str, name: str, changes: Changes) -> str:
    """The text of a file with the mistakes that a mutant of this name makes in it."""
    for where, old, new in changes:
        if where == file:
            assert text.count(old) == 1, f"{name!r}: {file} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
    return text


def broken_modules(modules: Sequence[str], name: str, changes: Changes) -> list[ModuleType]:
    """Copies of these modules with mistakes; each imports from those before it only."""
    files = {module: _file(module) for module in modules}
    elsewhere = {file for file, _, _ in changes} - set(files.values())
    assert not elsewhere, f"{name!r} would change {elsewhere}, which is not copied"
    made: list[ModuleType] = []
    try:
        for module, file in files.items():
            source = FOLDERS[module.partition(".")[0]] / f"{module.replace('.', '/')}.py"
            text = changed(source.read_text(), file, name, changes)
            for other in modules:
                text = text.replace(f"from {other} import", f"from {_name(other)} import")
            made.append(ModuleType(_name(module)))
            sys.modules[_name(module)] = made[-1]
            exec(compile(text, f"broken {file}: {name}", "exec"), vars(made[-1]))
    finally:
        for module in modules:
            sys.modules.pop(_name(module), None)
    return made


def _file(module: str) -> str:
    """How a mutant names the file of a module: below the protocols, or by its bare name."""
    inner = module.removeprefix("beforehand.protocols.")
    return f"{(inner if inner != module else module.rpartition('.')[2]).replace('.', '/')}.py"


def _name(module: str) -> str:
    return f"broken_{module.replace('.', '_')}"


def broken(protocol: str, mutant: Mutant) -> Make:
    """How to make cores of a protocol for overlays that have this mistake."""
    made = broken_modules(OVERLAY, mutant.name, mutant.changes())
    core = next(
        getattr(module, CLASSES[protocol]) for module in made if hasattr(module, CLASSES[protocol])
    )

    def make(process: str, links: Iterable[Pair]) -> object:
        return core(process, links)

    return make
