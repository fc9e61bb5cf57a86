"""The shape of the sources: unambiguous names, composition, maps, readable signatures."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "beforehand"
MAX_POSITIONAL = 8
# Base classes with a single subclass, and why they are not a split of one class over two files.
SINGLE_SUBCLASS = {
    "ResourceError": "a lost worker is the one that a sweep recovers from",
    "Cykas": "`cykas-unsafe` is the variant that its paper refutes: the same protocol but for one rule",
}


@cache
def trees() -> dict[str, ast.Module]:
    """Every source file below the package, parsed."""
    return {
        str(file.relative_to(SOURCES)): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(SOURCES.rglob("*.py"))
    }


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """The classes of all files, nested ones too."""
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield file, node


def test_a_public_class_name_means_one_thing() -> None:
    """No two files define public classes of the same name."""
    homes: dict[str, list[str]] = defaultdict(list)
    for file, node in classes():
        if not node.name.startswith("_"):
            homes[node.name].append(file)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_inheritance_is_for_variants() -> None:
    """A base class has several subclasses, or is listed with a reason; no reason is left over."""
    names = {node.name for _, node in classes()}
    subclasses: dict[str, set[str]] = defaultdict(set)
    for file, node in classes():
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
            if name in names:
                subclasses[name].add(f"{file}:{node.name}")
    single = {name for name, subclass_names in subclasses.items() if len(subclass_names) == 1}
    assert single == SINGLE_SUBCLASS.keys()


def test_signatures_can_be_read() -> None:
    """At most eight positional parameters: beyond that, they are passed by name."""
    long = []
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                parameters = [*node.args.posonlyargs, *node.args.args]
                count = sum(parameter.arg not in ("self", "cls") for parameter in parameters)
                if count > MAX_POSITIONAL:
                    long.append(f"{file}:{node.lineno}: {node.name} has {count}")
    assert long == []


def test_no_tuple_is_starred_to_please_the_formatter() -> None:
    """`*("a", "b")` inside a call or a list is `"a", "b"`."""
    starred = [
        f"{file}:{node.lineno}"
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple)
    ]
    assert starred == []


@pytest.mark.parametrize(
    "package",
    [str(file.parent.relative_to(SOURCES)) for file in sorted(SOURCES.glob("*/**/__init__.py"))],
)
def test_a_package_opens_with_a_map(package: str) -> None:
    """The docstring of each package names every module and folder in it."""
    folder = SOURCES / package
    text = ast.get_docstring(trees()[f"{package}/__init__.py"]) or ""
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    modules |= {file.parent.name for file in folder.glob("*/__init__.py")}
    missing = sorted(name for name in modules if name not in text)
    assert missing == [], f"{package}/__init__.py does not mention these"
