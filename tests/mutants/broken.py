"""A broken copy of the overlay cores, beside the real ones: a mutant that can be run in this process.

The modules of the cores are read as text, changed, and executed under other names, in a
package of their own. Frames and effects are the real ones, so that any world can run the copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from tests.mutants.catalogue import Mutant
from tests.support.overlay import Make, Pair

PROTOCOLS = Path(__file__).parents[2] / "src" / "beforehand" / "protocols"
# Each imports from those before it only.
MODULES = ["overlay_links", "overlay", "link_memory", "preventive", "prc"]
CLASSES = {"link-memory": "LinkMemory", "preventive": "Preventive", "prc": "Prc"}


def changed(text: str, module: str, mutant: Mutant) -> str:
    """The text of a module with the mistakes that the mutant makes in it."""
    for file, old, new in [(mutant.file, mutant.old, mutant.new), *mutant.also]:
        if file == f"{module}.py":
            assert text.count(old) == 1, (
                f"{mutant.name!r}: {file} has {old!r} {text.count(old)} times"
            )
            text = text.replace(old, new)
    return text


def broken(protocol: str, mutant: Mutant) -> Make:
    """How to make cores that have this mistake."""
    elsewhere = {file for file, _, _ in mutant.changes()} - {f"{each}.py" for each in MODULES}
    assert not elsewhere, f"{mutant.name!r} would change {elsewhere}, which is not copied"
    made: dict[str, ModuleType] = {}
    for module in MODULES:
        text = changed((PROTOCOLS / f"{module}.py").read_text(), module, mutant)
        for other in MODULES:
            text = text.replace(
                f"from beforehand.protocols.{other} import", f"from broken_{other} import"
            )
        made[module] = ModuleType(f"broken_{module}")
        sys.modules[f"broken_{module}"] = made[module]
        try:
            exec(compile(text, f"broken {module}.py: {mutant.name}", "exec"), vars(made[module]))
        finally:
            if module == MODULES[-1]:
                for each in MODULES:
                    sys.modules.pop(f"broken_{each}", None)
    core = getattr(
        made[next(m for m in MODULES if hasattr(made[m], CLASSES[protocol]))], CLASSES[protocol]
    )

    def make(process: str, links: Iterable[Pair]) -> object:
        return core(process, links)

    return make
