"""Break the hybrids one condition at a time and see whether the tests notice: `make mutants`.

Each mutant is a copy of the sources with one replacement; the tests that guard the hybrids run
against it and must fail. With `--write` the result goes to docs/mutants.md. Exit code 1 if a mutant
survives.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.catalogue import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
GUARDS = [
    "tests/papers/test_hybrid.py",
    "tests/protocols/test_hybrid_recovery.py",
    "tests/protocols/test_hybrid_bad_input.py",
    "tests/protocols/test_drop.py",
    "tests/property/test_runs.py",
    "tests/property/test_hybrid_brute_force.py",
    "tests/property/test_stateful.py",
]
PATIENCE = 300  # seconds; a mutant that makes the tests hang has been noticed


def apply(mutant: Mutant, sources: Path) -> None:
    """Make the mistake in a copy of the sources."""
    path = sources / "beforehand" / "protocols" / mutant.file
    text = path.read_text()
    found = text.count(mutant.old)
    if found != 1:
        raise SystemExit(
            f"mutant {mutant.name!r}: {mutant.file} has its text {found} times, not once"
        )
    path.write_text(text.replace(mutant.old, mutant.new))


def noticed_by(mutant: Mutant) -> str:
    """The first test that fails on the mutant; empty if none does."""
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(scratch) / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        apply(mutant, sources)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            "ybrid",
        ]
        environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("BEFOREHAND_EXPECT", None)
        try:
            run = subprocess.run(
                [*command, *GUARDS],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return "(the tests no longer end)"
    if run.returncode == 0:
        return ""
    for line in run.stdout.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ")[1].removeprefix("tests/")
    raise SystemExit(f"mutant {mutant.name!r}: pytest ended with\n{run.stdout}{run.stderr}")


def document(results: list[tuple[Mutant, str]]) -> str:
    """The text of docs/mutants.md."""
    lines = [
        "# Mutants of the hybrids",
        "",
        "Each line is one condition of hybrid buffering, broken on purpose, and the first test that",
        "noticed. `make mutants` runs them all and writes this page; the list is in",
        "`tests/mutants/catalogue.py`.",
        "",
        "| mutant | file | noticed by |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {mutant.name} | `{mutant.file}` | {f'`{test}`' if test else '**nobody**'} |"
        for mutant, test in results
    ]
    caught = sum(bool(test) for _, test in results)
    return "\n".join([*lines, "", f"{caught} of {len(results)} noticed.", ""])


def main() -> int:
    """Run the mutants, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="mutants whose name contains this")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not options.only or options.only in mutant.name]
    results: list[tuple[Mutant, str]] = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        for mutant, test in zip(chosen, pool.map(noticed_by, chosen), strict=True):
            results.append((mutant, test))
            print(f"{'ok  ' if test else 'SURVIVED'} {mutant.name}: {test}", flush=True)
    if options.write:
        (ROOT / "docs" / "mutants.md").write_text(document(results))
    survivors = [mutant.name for mutant, test in results if not test]
    print(f"{len(results) - len(survivors)} of {len(results)} noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
