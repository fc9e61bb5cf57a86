"""Readable files with contents that the pipeline would not write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand.errors import ReportError
from tests.report import folders

NUMBERS = (None, True, -1, 0, 2**70, 1.5, float("nan"))
TEXTS = ("", "x", "\ud800", "9999-12-31T23:59:59-12:00")
LISTS: tuple[Any, ...] = ([], {}, [None], {"a": 1}, [1, 2], ["a"])
ODD = (*NUMBERS, *TEXTS, *LISTS)
TRIES = 15


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all kinds of outputs; tests restore what they change."""
    return folders.write_demo(tmp_path_factory.mktemp("odd") / "demo")


def paths_in(value: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a JSON value."""
    yield prefix
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths_in(value[key], (*prefix, key))


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """Return the value with another value at a path."""
    if not path:
        return odd
    copy = deepcopy(value)
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = odd
    return copy


def test_unexpected_values_in_notes(demo: Path) -> None:
    """Whatever a note contains, there is a page or a one-sentence error."""
    html = pytest.importorskip("beforehand.report.page", reason="pip install '.[report]'").html
    random = Random(5)
    notes = sorted(demo.rglob("*.json"))
    reported = 0
    for _ in range(TRIES):
        file = random.choice(notes)
        text = file.read_text()
        value = json.loads(text)
        path = random.choice(list(paths_in(value)))
        odd = random.choice(ODD)
        file.write_text(json.dumps(changed(value, path, odd)))
        try:
            contents = folders.read(demo)
            html(contents)
            reported += bool(contents.missing)
        except ReportError:
            reported += 1
        except Exception as problem:
            raise AssertionError(f"{file.name}, {path}: {odd!r}") from problem
        finally:
            file.write_text(text)
    assert 0 < reported < TRIES


def rewrite(folder: Path, name: str, values: pa.Array | None) -> None:
    """Replace a column of a table; without values, leave no rows."""
    for file in folder.glob("*.parquet"):
        table = pq.read_table(file)
        if values is None:
            table = table[:0]
        else:
            index = table.column_names.index(name)
            table = table.set_column(index, name, values[: table.num_rows])
        pq.write_table(table, file)


def test_extreme_figures(tmp_path: Path) -> None:
    """The largest, the smallest and missing numbers are shown, and axes fit the others."""
    html = pytest.importorskip("beforehand.report.page", reason="pip install '.[report]'").html
    odd = pa.array([1e308, 5e-324, float("inf"), float("nan"), -5.5, 1.0])
    study = folders.write_study(tmp_path / "study")
    rewrite(study / "study" / "protocols", "latency_mean", odd)
    sweep = folders.write_sweep(tmp_path / "sweep")
    rewrite(sweep / "metrics" / "exponents", "r2", odd)
    for wave in (sweep / "results").iterdir():
        rewrite(wave, "metadata_bytes_per_message", odd)
    page = html(folders.read(tmp_path))
    assert 'data-value="1e+308"' in page and 'data-value="5e-324"' in page


def test_a_workload_without_rows(tmp_path: Path) -> None:
    """An empty table is shown as an empty table."""
    study = folders.write_study(tmp_path)
    rewrite(study / "characteristics" / "summaries", "what", None)
    (view,) = folders.read(study).studies
    assert [len(table.rows) for table in view.characteristics] == [1, 3, 0]


def test_a_column_that_cannot_be_sorted(tmp_path: Path) -> None:
    """It is reported, and everything else is shown."""
    study = folders.write_study(tmp_path)
    rewrite(study / "characteristics" / "processes", "process", pa.array([[1]] * 3))
    contents = folders.read(study)
    (view,) = contents.studies
    assert [table.name.rpartition("-")[2] for table in view.characteristics] == [
        "runs",
        "summaries",
    ]
    (gap,) = contents.missing
    assert gap.what.startswith("the processes") and "cannot be read" in gap.why


def test_an_event_of_an_unknown_kind(tmp_path: Path) -> None:
    """The cluster is shown with its verdict, but without a diagram."""
    cluster = folders.write_cluster(tmp_path)
    rewrite(cluster, "kind", pa.array(["zap"] * 100))
    contents = folders.read(cluster)
    assert contents.clusters[0].diagram is None
    (gap,) = contents.missing
    assert "an unknown kind: 'zap'" in gap.why


@pytest.mark.parametrize("note", [{}, {"seconds": 5}, {"seconds": {}}])
@pytest.mark.parametrize(("full", "parts"), [(False, 2), (True, 7)])
def test_a_demo_that_was_stopped_in_its_first_step(
    tmp_path: Path, note: dict[str, Any], full: bool, parts: int
) -> None:
    """All of its parts are missing, and those of a full one only if it was one."""
    folders.write_note(
        tmp_path / "_demo.json", {"version": 1, "finished": False, "full": full, **note}
    )
    missing = folders.read(tmp_path).missing
    assert len(missing) == parts
    assert all("stopped before it" in gap.why and "beforehand demo" in gap.why for gap in missing)


def test_an_unreadable_folder_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence. Access is patched, since root can read everything."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ReportError, match="permission denied"):
        folders.read(tmp_path)
