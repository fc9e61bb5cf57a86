"""Break the cores one condition at a time and see whether the tests notice: `make mutants`.

Each mutant is a copy of the sources with one mistake (`mutant.py`). The tests that guard its family run
against the copy and must fail, while they pass on the sources as they are. With `--write` the results go
to docs/mutants.md; families that were not run keep their sections. Exit code 1 if a mutant survives. The
sources are copied once, at the start, so that edits made during the run do not matter.

A guard that cannot be imported proves nothing: that ends the whole run.
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

from tests.mutants.document import written
from tests.mutants.families import FAMILIES, Family
from tests.mutants.mutant import Mutant, mutated, protocol_sources

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mutants.md"
PATIENCE = 300  # seconds; a mutant that makes the tests hang has been noticed


def apply(mutant: Mutant, sources: Path) -> None:
    """Apply the mutant to a copy of the sources."""
    originals = protocol_sources(sources / "beforehand" / "protocols")
    for path, text in mutated(originals, mutant.name, mutant.changes()).items():
        if text != originals[path]:
            path.write_text(text)


def noticed_by(family: Family, mutant: Mutant | None, original: Path) -> str:
    """The first test that fails on the mutant, or on the original without one; empty if none does."""
    name = "no mutant at all" if mutant is None else mutant.name
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(scratch) / "src"
        shutil.copytree(original, sources)
        if mutant is not None:
            apply(mutant, sources)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        if family.select:
            command += ["-k", family.select]
        environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("BEFOREHAND_EXPECT", None)
        try:
            run = subprocess.run(
                [*command, *family.guards],
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
    test = first_failure(run.stdout)
    if not test:
        raise SystemExit(f"{name!r}: pytest ended with\n{run.stdout}{run.stderr}")
    return test


def first_failure(report: str) -> str:
    """The first test that pytest names as failed; empty if it did not get as far as a test."""
    for line in report.splitlines():
        kind, _, rest = line.partition(" ")
        test = rest.split(" - ")[0]
        if kind in ("FAILED", "ERROR") and "::" in test:
            return test.removeprefix("tests/")
    return ""


def main() -> int:
    """Run the mutants, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [family.name for family in FAMILIES]
    parser.add_argument(
        "--family", action="append", choices=known, help="only this one; repeatable"
    )
    parser.add_argument("--only", help="mutants whose name contains this")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs all mutants of a family, so it cannot be used with --only")
    results: dict[str, list[tuple[Mutant, str]]] = {}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(max_workers=2) as pool:
        original = Path(scratch) / "src"
        shutil.copytree(ROOT / "src", original, ignore=shutil.ignore_patterns("__pycache__"))
        for family in FAMILIES:
            if options.family and family.name not in options.family:
                continue
            if test := noticed_by(family, None, original):
                raise SystemExit(f"{family.name}: {test} fails without any mutant")
            chosen = [mutant for mutant in family.mutants if (options.only or "") in mutant.name]
            count = len(chosen)
            tests = pool.map(noticed_by, [family] * count, chosen, [original] * count)
            results[family.name] = []
            for mutant, test in zip(chosen, tests, strict=True):
                results[family.name].append((mutant, test))
                print(f"{'ok  ' if test else 'SURVIVED'} {mutant.name}: {test}", flush=True)
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), results))
    tests_by_mutant = [test for family_results in results.values() for _, test in family_results]
    noticed = sum(bool(test) for test in tests_by_mutant)
    print(f"{noticed} of {len(tests_by_mutant)} noticed")
    return 1 if noticed < len(tests_by_mutant) else 0


if __name__ == "__main__":
    sys.exit(main())
