"""A mutant: one deliberate mistake in a function, found by its qualified name wherever it lives.

A change is keyed by `HybridCore._release`, `check_route` or the name of a module constant. Its old
text must occur exactly once inside that definition, and the definition exactly once in the sources,
so that moving a function to another module does not disarm the mutant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

PROTOCOLS = Path(__file__).parents[2] / "src" / "beforehand" / "protocols"

Key = TypeVar("Key")
Change = tuple[str, str, str]  # (qualified name, old text, new text)


class Mutant(NamedTuple):
    """One deliberate mistake."""

    name: str
    where: str  # the qualified name of a definition below src/beforehand/protocols
    old: str
    new: str
    also: tuple[Change, ...] = ()  # where one change is not enough

    def changes(self) -> list[Change]:
        """All its changes."""
        return [(self.where, self.old, self.new), *self.also]


class MutantError(Exception):
    """A mutant no longer fits the sources; the message says what to correct."""


def protocol_sources(protocols: Path = PROTOCOLS) -> dict[Path, str]:
    """The text of every module of the protocols."""
    return {path: path.read_text() for path in sorted(protocols.rglob("*.py"))}


def definitions(text: str) -> list[tuple[str, int, int]]:
    """The functions, classes and constants of a module: qualified name, and where its text is."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans: list[tuple[str, int, int]] = []

    def visit(body: Iterable[ast.stmt], prefix: str) -> None:
        for node in body:
            names: list[str] = []
            first = node.lineno
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names = [node.name]
                first = min([first, *[decorator.lineno for decorator in node.decorator_list]])
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and not prefix:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            assert node.end_lineno is not None
            for name in names:
                spans.append((prefix + name, starts[first - 1], starts[node.end_lineno]))
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(text).body, "")
    return spans


def mutated(sources: Mapping[Key, str], name: str, changes: Iterable[Change]) -> dict[Key, str]:
    """The sources with the changes of the mutant of this name; MutantError if one does not fit."""
    texts = dict(sources)
    for where, old, new in changes:
        homes = [
            (key, start, stop)
            for key, text in texts.items()
            if where.rpartition(".")[2] in text
            for qualified, start, stop in definitions(text)
            if qualified == where
        ]
        if len(homes) != 1:
            raise MutantError(f"{name!r}: {where} is defined {len(homes)} times, not once")
        key, start, stop = homes[0]
        body = texts[key][start:stop]
        if body.count(old) != 1:
            raise MutantError(f"{name!r}: {where} has {old!r} {body.count(old)} times, not once")
        texts[key] = texts[key][:start] + body.replace(old, new) + texts[key][stop:]
    return texts
