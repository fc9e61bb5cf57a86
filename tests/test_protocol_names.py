"""A protocol is one registration: outside `protocols/`, nothing is decided by the name of a protocol."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from beforehand import protocols

SOURCES = Path(__file__).parents[1] / "src" / "beforehand"

UNITS = ("encoding", "wire", "simulator", "checker", "runtime", "results", "report")
FAMILIES = {"hybrid", "sender_side", "clocks", "tree", "overlay", "controls", "builtin", "tags"}

# Names of protocols that mean something else in a unit.
HOMONYMS = {
    "simulator": {
        "tree": "an overlay",
        "fifo": "a property of links, and a kind of violation",
    },
    "checker": {"tree": "an overlay", "fifo": "a property of links, and a kind of violation"},
    "runtime": {"tree": "an overlay"},
    "results": {"fifo": "a kind of violation", "raw": "a column"},
    "report": {"fifo": "a kind of violation", "raw": "the text of a file"},
}


def defaults(tree: ast.AST) -> set[int]:
    """The constants that are defaults of a parameter or field called `protocol`, by identity."""
    identities: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.target.id == "protocol":
                identities.add(id(node.value))
        elif isinstance(node, ast.arguments):
            positional = node.args[len(node.args) - len(node.defaults) :]
            pairs: list[tuple[ast.arg, ast.expr | None]] = [
                *zip(positional, node.defaults, strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            identities |= {id(value) for argument, value in pairs if argument.arg == "protocol"}
    return identities


def named(unit: str, text: str) -> Iterator[str]:
    """The protocols that a source file of a unit names, with the line."""
    tree = ast.parse(text)
    allowed = defaults(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and node.value in protocols.names()
            and node.value not in HOMONYMS.get(unit, {})
            and id(node) not in allowed
        ):
            yield f"line {node.lineno}: names the protocol {node.value!r}; ask its registration"


def specific(unit: str, text: str) -> Iterator[str]:
    """The imports of modules that belong to particular protocols, with the line."""
    for node in ast.walk(ast.parse(text)):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        for module in modules:
            _, _, inside = module.partition("beforehand.protocols.")
            family = inside.partition(".")[0]
            # The wire has to know the tags of frames that contain others.
            if family in FAMILIES and (unit, family) != ("wire", "tags"):
                assert isinstance(node, ast.stmt)
                yield f"line {node.lineno}: imports {module}, which belongs to one protocol"


@pytest.mark.parametrize("unit", UNITS)
def test_no_protocol_is_known_by_name_or_class(unit: str) -> None:
    """The simulator, checker, runtime, wire and report ask the registration."""
    problems: list[str] = []
    files = sorted((SOURCES / unit).rglob("*.py"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        for problem in [*named(unit, text), *specific(unit, text)]:
            problems.append(f"{file.relative_to(SOURCES)}, {problem}")
    assert problems == []


def test_names_and_imports_are_caught() -> None:
    """A name in a comparison, a set or a dictionary; an import in any form. Defaults are allowed."""
    assert list(named("runtime", 'if x == "hybrid": pass\ny = {"rst": 1}'))
    assert list(named("report", 'z = ["fifo", "prc"]')) == [
        "line 1: names the protocol 'prc'; ask its registration"
    ]
    assert list(named("runtime", 'def f(protocol: str = "hybrid-sps"): pass')) == []
    assert list(named("runtime", 'class A:\n    protocol: str = "hybrid"')) == []
    assert list(named("runtime", 'def f(other: str = "hybrid-sps"): pass'))
    for text in (
        "from beforehand.protocols.hybrid.frames import HybridAck",
        "from beforehand.protocols import tags",
        "import beforehand.protocols.clocks.rst",
    ):
        assert len(list(specific("runtime", text))) == 1, text
    assert list(specific("runtime", "from beforehand.protocols.frames import Frame")) == []
    assert list(specific("wire", "from beforehand.protocols import tags")) == []
