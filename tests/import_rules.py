"""Who may import whom, as data, and a checker that reads the sources without importing them.

A unit is a package or a module directly under src/beforehand. Imports inside functions count like
any other: they make the same dependency, only later.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "beforehand"
ANYTHING = frozenset({"*"})

# unit -> the other units that it may import
ALLOWED: dict[str, frozenset[str]] = {
    "errors": frozenset(),
    "_kernel": frozenset(),  # how loops over arrays of integers are compiled
    "requirements": frozenset({"errors"}),  # packages and Java; imports none of them
    "causality": frozenset({"errors"}),
    "encoding": frozenset({"causality", "errors"}),
    "protocols": frozenset({"encoding", "causality", "errors"}),
    "wire": frozenset({"encoding", "protocols", "causality", "errors"}),
    "trace": frozenset({"causality", "errors", "requirements"}),
    "simulator": frozenset({"protocols", "wire", "trace", "causality", "errors"}),
    "checker": frozenset({"protocols", "causality", "errors", "_kernel"}),
    "runtime": frozenset(
        {"encoding", "protocols", "wire", "trace", "causality", "errors", "requirements"}
    ),
    "results": frozenset({"errors", "_build", "__init__"}),  # the version and build of a provenance
    "pipeline": frozenset(
        {
            "trace",
            "simulator",
            "checker",
            "protocols",
            "results",
            "causality",
            "errors",
            "requirements",
            "_kernel",
        }
    ),
    "report": frozenset({"results", "protocols", "errors"}),
    "cli": ANYTHING,
    "__init__": ANYTHING,  # the public names, from wherever they are defined
    "__main__": frozenset({"cli"}),
    "_build": frozenset({"protocols"}),
}

# library -> the only units that may import it
HOMES: dict[str, frozenset[str]] = {
    "asyncio": frozenset({"runtime", "cli"}),
    "pyspark": frozenset({"pipeline"}),
}

# A core is a function of its state and its input: no clock, no randomness, no log, no I/O.
CORES = frozenset({"protocols", "causality"})
BANNED_IN_CORES = frozenset(
    {
        "datetime",
        "time",
        "random",
        "secrets",
        "uuid",
        "logging",
        "os",
        "select",
        "selectors",
        "socket",
        "subprocess",
        "asyncio",
        "concurrent",
        "multiprocessing",
        "threading",
    }
)


@dataclass(frozen=True)
class Import:
    """One imported module, by its full dotted name, and where."""

    file: Path
    line: int
    module: str


def units(root: Path) -> set[str]:
    """The packages and modules directly under the package root."""
    return {path.name for path in root.iterdir() if any(path.glob("**/*.py"))} | {
        path.stem for path in root.glob("*.py")
    }


def violations(root: Path) -> list[str]:
    """Every violation under a package root, as sentences with file and line."""
    known = units(root)
    problems = [
        f"{unit}: no rule covers its imports; add it to ALLOWED in tests/import_rules.py"
        for unit in sorted(known - ALLOWED.keys())
    ]
    for file in sorted(root.rglob("*.py")):
        unit = file.relative_to(root).parts[0].removesuffix(".py")
        if unit not in ALLOWED:
            continue
        for statement in _imports(file, root, known):
            if problem := _problem(unit, statement.module):
                problems.append(f"{file.relative_to(root.parent)}:{statement.line}: {problem}")
    return problems


def _problem(unit: str, module: str) -> str | None:
    top, _, rest = module.partition(".")
    if top == PACKAGE:
        target = rest.partition(".")[0] or "__init__"
        if target == unit or target in ALLOWED[unit] or ALLOWED[unit] == ANYTHING:
            return None
        allowed = ", ".join(sorted(ALLOWED[unit])) or "nothing of ours"
        return f"{unit} must not import {target} (it may import {allowed})"
    if top in HOMES and unit not in HOMES[top]:
        return f"{unit} must not import {top} (only {', '.join(sorted(HOMES[top]))} may)"
    if unit in CORES and top in BANNED_IN_CORES:
        return f"{unit} must not import {top} (time, chance and I/O come in as arguments)"
    return None


def _imports(file: Path, root: Path, known: set[str]) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, file, root)
            for alias in node.names:
                # `from beforehand import x` takes a unit, or else one of the public names.
                inner = source == PACKAGE and alias.name in known
                yield Import(file, node.lineno, f"{source}.{alias.name}" if inner else source)
        elif isinstance(node, ast.Call) and (name := _named_import(node)):
            yield Import(file, node.lineno, name)


def _absolute(node: ast.ImportFrom, file: Path, root: Path) -> str:
    """The full name of the module that `from ... import` takes from, also when it is relative."""
    if not node.level:
        return node.module or ""
    package = (PACKAGE, *file.relative_to(root).parent.parts)
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, node.module) if node.module else base)


def _named_import(call: ast.Call) -> str | None:
    """The module that `import_module("...")` or `__import__("...")` loads, if it is a literal."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    if name in ("import_module", "__import__") and call.args:
        argument = call.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return argument.value
    return None
