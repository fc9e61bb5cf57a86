"""docs/architecture.md: its picture, generated from the import rules, and its walks through the code.

`python -m tests.architecture_page --write` rewrites the picture.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.import_rules import ALLOWED, ANYTHING, HOMES, PACKAGE

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / PACKAGE
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"

HOP = re.compile(r"^ *(?P<number>\d+)\. `(?P<file>[\w/]+\.py)`: `(?P<function>[\w.]+)`")


class Hop(NamedTuple):
    """One step of a walk: a function, and the file in which it is defined."""

    file: str
    function: str


def packages() -> dict[str, list[str]]:
    """The packages, with those that each may import; private modules are omitted."""
    return {
        unit: sorted(target for target in allowed if not target.startswith("_"))
        for unit, allowed in ALLOWED.items()
        if not unit.startswith("_") and allowed != ANYTHING
    }


def reduced(rules: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The edges of the picture: those implied by transitivity are omitted."""

    @cache
    def below(unit: str) -> frozenset[str]:
        return frozenset(rules[unit]).union(*(below(target) for target in rules[unit]))

    return [
        (unit, target)
        for unit, targets in rules.items()
        for target in targets
        if not any(target in below(other) for other in targets)
    ]


def picture() -> str:
    """The generated part of the page: a diagram of the layers, and the rules as a table."""
    rules = packages()
    lines = ["```mermaid", "graph BT"]
    lines += [f"    {target} --> {unit}" for unit, target in reduced(rules)]
    tops = set(rules) - {target for targets in rules.values() for target in targets}
    lines += [f"    {unit} --> cli" for unit in rules if unit in tops]
    lines += ["```", "", "| package | may import |", "| --- | --- |"]
    for unit, targets in rules.items():
        lines.append(
            f"| `{unit}` | {', '.join(f'`{target}`' for target in targets) or 'nothing'} |"
        )
    lines += ["| `cli` | everything |", "", "| library | only in |", "| --- | --- |"]
    for library, homes in HOMES.items():
        lines.append(f"| `{library}` | {', '.join(f'`{home}`' for home in sorted(homes))} |")
    return "\n".join(lines) + "\n"


def rewritten(text: str) -> str:
    """The page with a fresh picture."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{picture()}\n{END}{after}"


def walks(text: str) -> dict[str, list[list[Hop]]]:
    """The walks of the page by their titles, each in stages: the numbering starts again with each."""
    _, _, part = text.partition("\n## Three walks\n")
    stages_by_walk: dict[str, list[list[Hop]]] = {}
    for section in re.split(r"^### ", part, flags=re.MULTILINE)[1:]:
        stages = stages_by_walk[section.partition("\n")[0]] = []
        for hop in filter(None, map(HOP.match, section.splitlines())):
            if hop["number"] == "1":
                stages.append([])
            stages[-1].append(Hop(hop["file"], hop["function"]))
    return stages_by_walk


def defines(hop: Hop) -> bool:
    """Whether the file of a hop defines its function or method."""
    file = SOURCES / hop.file
    if not file.is_file():
        return False
    scope: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
    for name in hop.function.split("."):
        matches = [
            node
            for node in ast.walk(scope)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name == name
        ]
        if not matches:
            return False
        scope = matches[0]
    return True


def revisited(hops: list[Hop]) -> list[str]:
    """Files that a walk visits again after having finished them.

    Returning is fine: a walk may leave a file for those that it calls, and come back to it, as long as
    the files in between are not visited again later.
    """
    files = [hop.file for hop in hops]
    open_files: list[str] = []
    closed: set[str] = set()
    again: list[str] = []
    for file in files:
        if file in open_files:
            while open_files[-1] != file:
                closed.add(open_files.pop())
        elif file in closed:
            again.append(file)
        else:
            open_files.append(file)
    return again


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("usage: python -m tests.architecture_page --write")
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
