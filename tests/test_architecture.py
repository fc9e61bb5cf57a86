"""The folders are the architecture: imports only go in permitted directions."""

from pathlib import Path

import pytest

from tests.import_rules import ALLOWED, ANYTHING, CORES, units, violations

SOURCES = Path(__file__).parents[1] / "src" / "beforehand"


def tree(root: Path, files: dict[str, str]) -> Path:
    """Write a made-up package to check, and return its root."""
    package = root / "beforehand"
    for name, text in files.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return package


def test_sources_respect_the_import_directions() -> None:
    """No source file imports what its unit may not."""
    assert violations(SOURCES) == []


def test_the_check_reads_the_real_sources() -> None:
    """Otherwise an empty list of violations would mean nothing."""
    assert {"__init__", "cli", "errors", "protocols"} <= units(SOURCES)


def test_rules_name_only_each_other() -> None:
    """A misspelt unit in the table would permit nothing, unnoticed."""
    named = set().union(*(allowed for allowed in ALLOWED.values() if allowed != ANYTHING))
    assert named | CORES <= ALLOWED.keys()


@pytest.mark.parametrize(
    "text",
    [
        "import beforehand.runtime.node",
        "from beforehand.runtime import Node",
        "from beforehand.runtime.node import Node",
        "from beforehand import runtime",
        "from .. import runtime",
        "from ..runtime import Node",
        "def late():\n    from beforehand.runtime import Node",
        "if TYPE_CHECKING:\n    from beforehand.runtime import Node",
        "importlib.import_module('beforehand.runtime')",
        "__import__('beforehand.runtime')",
    ],
)
def test_a_wrong_direction_is_caught_however_it_is_written(tmp_path: Path, text: str) -> None:
    """A core that imports the runtime is reported with its file, whatever the form of the import."""
    package = tree(tmp_path, {"protocols/hybrid.py": text, "runtime/__init__.py": ""})
    [problem] = violations(package)
    assert problem.startswith("beforehand/protocols/hybrid.py:")
    assert (
        "protocols must not import runtime (it may import causality, encoding, errors)" in problem
    )


def test_a_violation_is_reported_with_its_line(tmp_path: Path) -> None:
    """The report points at the import itself."""
    package = tree(tmp_path, {"report/html.py": "x = 1\n\nimport beforehand.trace\n"})
    assert violations(package) == [
        "beforehand/report/html.py:3: report must not import trace "
        "(it may import errors, protocols, results)"
    ]


def test_public_names_are_not_a_way_around(tmp_path: Path) -> None:
    """Inside the package, `import beforehand` would reach everything, hence it is not allowed."""
    package = tree(tmp_path, {"causality/a.py": "import beforehand\nfrom beforehand import Node\n"})
    assert len(violations(package)) == 2


@pytest.mark.parametrize("unit", sorted(ALLOWED.keys() - {"runtime", "cli"}))
def test_asyncio_lives_in_runtime_and_cli_only(tmp_path: Path, unit: str) -> None:
    """Everywhere else an import of asyncio is reported."""
    [problem] = violations(tree(tmp_path, {f"{unit}.py": "from asyncio import run"}))
    assert "must not import asyncio" in problem


@pytest.mark.parametrize("unit", sorted(ALLOWED.keys() - {"pipeline"}))
def test_pyspark_lives_in_pipeline_only(tmp_path: Path, unit: str) -> None:
    """Everywhere else an import of pyspark is reported, also one inside a function."""
    text = "def late():\n    from pyspark.sql import SparkSession\n"
    [problem] = violations(tree(tmp_path, {f"{unit}.py": text}))
    assert "must not import pyspark (only pipeline may)" in problem


@pytest.mark.parametrize("unit", sorted(CORES))
@pytest.mark.parametrize(
    "module", ["asyncio", "logging", "os", "random", "secrets", "socket", "threading", "time"]
)
def test_cores_reach_for_nothing_outside(tmp_path: Path, unit: str, module: str) -> None:
    """Clocks, chance, logs and I/O are reported in the cores."""
    [problem] = violations(tree(tmp_path, {f"{unit}/core.py": f"import {module}"}))
    assert f"{unit} must not import {module}" in problem


def test_permitted_imports_are_not_reported(tmp_path: Path) -> None:
    """Permitted directions, a unit's own modules and the homes of the libraries pass."""
    files = {
        "protocols/hybrid.py": "from beforehand.protocols.core import Core\nimport dataclasses\n",
        "protocols/base.py": "from beforehand.causality import ids\nfrom beforehand import errors\n",
        "runtime/node.py": "import asyncio, time\nfrom beforehand import wire\n",
        "pipeline/audit.py": "import pyspark\n",
        "cli/run.py": "import asyncio\nfrom beforehand import __version__, pipeline\n",
        "wire/__init__.py": "",
        "errors.py": "",
    }
    assert violations(tree(tmp_path, files)) == []


def test_a_unit_without_a_rule_is_reported_with_what_to_do(tmp_path: Path) -> None:
    """A new package cannot slip in: the report names the file for its rule."""
    package = tree(tmp_path, {"gossip/__init__.py": "", "misc.py": ""})
    assert violations(package) == [
        f"{unit}: no rule covers its imports; add it to ALLOWED in tests/import_rules.py"
        for unit in ("gossip", "misc")
    ]
