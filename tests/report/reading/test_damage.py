"""Damaged files are reported as missing parts, never ignored and never a traceback."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand.errors import ReportError
from beforehand.report import ReportView
from beforehand.report.reading import discover
from beforehand.results import layout
from tests.report import folders


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all kinds of outputs."""
    return folders.write_demo(tmp_path_factory.mktemp("damage") / "demo")


@pytest.fixture(scope="module")
def whole(demo: Path) -> dict[Path, ReportView]:
    """The intact contents of each part."""
    contents = {part: folders.read(part) for part in sorted(demo.iterdir()) if part.is_dir()}
    assert len(contents) == 6 and not any(view.missing for view in contents.values())
    return contents


def delete(file: Path) -> None:
    """Delete the file."""
    file.unlink()


def cut(file: Path) -> None:
    """Truncate the file, as a full disk does."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def overwrite(file: Path) -> None:
    """Replace the contents by something else."""
    file.write_bytes(b"\x00PAR1 {[ \xff" * 9)


def empty(file: Path) -> None:
    """Leave an empty file."""
    file.write_bytes(b"")


def flip(file: Path) -> None:
    """Invert some bytes in the middle."""
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 8] = bytes(255 - byte for byte in content[middle : middle + 8])
    file.write_bytes(bytes(content))


def into_folder(file: Path) -> None:
    """Replace the file by a folder."""
    file.unlink()
    file.mkdir()


DAMAGES = (cut, overwrite, empty, flip, into_folder)
# Without these files, the traces of real processes can't be recognised as such.
CLUSTER_NOTES = ("_cluster.json", "_comparison.json")


def with_damage(folder: Path, file: Path, damage: Callable[[Path], None], kept: Path) -> ReportView:
    """Read a folder while a file is damaged, and restore the file."""
    shutil.copy2(file, kept)
    try:
        damage(file)
        return folders.read(folder)
    finally:
        shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
        shutil.copy2(kept, file)


def files_of(parts: Iterable[Path]) -> list[tuple[Path, Path]]:
    """Return each part with each of its files, except checksums, which aren't read."""
    files = ((part, path) for part in parts for path in part.rglob("*") if path.is_file())
    return sorted(pair for pair in files if pair[1].suffix != ".crc")


def test_no_file_can_be_deleted_unnoticed(whole: dict[Path, ReportView], tmp_path: Path) -> None:
    """For each file, the report lists what is missing and how to recreate it."""
    for part, file in files_of(whole):
        if file.name in CLUSTER_NOTES:
            continue
        contents = with_damage(part, file, delete, tmp_path / "kept")
        # Notes that only the sweep itself uses aren't shown.
        if file.name not in ("_sweep.json", "_source.json"):
            assert contents.missing, f"the absence of {file} isn't reported"
        else:
            assert contents == whole[part], file
        for gap in contents.missing:
            assert "\n" not in gap.why and "beforehand" in gap.why, gap


def test_no_file_can_be_damaged_unnoticed(whole: dict[Path, ReportView], tmp_path: Path) -> None:
    """Each file is damaged in one of several ways: it is reported, or makes no difference."""
    noticed, files = 0, files_of(whole)
    for index, (part, file) in enumerate(files):
        damage = DAMAGES[index % len(DAMAGES)]
        contents = with_damage(part, file, damage, tmp_path / "kept")
        assert contents.missing or contents == whole[part], f"{damage.__name__} {file}"
        assert all("\n" not in gap.why for gap in contents.missing), f"{damage.__name__} {file}"
        noticed += bool(contents.missing)
    assert noticed > len(files) / 2, (
        f"only {noticed} of {len(files)}"
    )  # success markers are empty anyway


# ---- missing parts ----


def missing_parts(contents: ReportView) -> str:
    """Return all missing parts as one text."""
    return "\n".join(f"{gap.what}: {gap.why}" for gap in contents.missing)


def test_a_study_that_was_stopped(tmp_path: Path) -> None:
    """It has no note: finished parts are shown, and the command resumes where it stopped."""
    study = folders.write_study(tmp_path / "st udy")
    (study / "_study.json").unlink()
    contents = folders.read(study)
    (view,) = contents.studies
    assert view.protocols is None and not view.advice
    assert len(view.runs) == 4 and view.audit is not None and view.audit.counted == 1
    assert "the comparison of the study st udy: there is no" in missing_parts(contents)
    assert (
        f"run `beforehand study --out '{study}'` again: it resumes where it stopped"
        in missing_parts(contents)
    )


def test_a_wave_without_a_note_does_not_count(tmp_path: Path) -> None:
    """As in a sweep that was stopped or is still running: its last runs are reported as missing."""
    folder = folders.write_sweep(tmp_path / "sweep")
    (folder / "waves" / "00002-0123abcd.json").unlink()
    contents = folders.read(folder)
    (sweep,) = contents.sweeps
    assert sweep.results is not None and len(sweep.results.rows) == 6
    latency = [column.name for column in sweep.results.columns].index("latency_mean")
    assert {row[latency] for row in sweep.results.rows} == {0.5}, "of the first wave"
    assert "00002-0123abcd has no note in waves, so it does not count" in missing_parts(contents)


def test_rows_that_are_missing_from_a_finished_table(tmp_path: Path) -> None:
    """The note lists runs that the table lacks, although Spark finished it."""
    study = folders.write_study(tmp_path)
    wave = study / "sweep" / "results" / folders.WAVE
    for name in ("part-00001-0000-c000.snappy.parquet", ".part-00001-0000-c000.snappy.parquet.crc"):
        (wave / name).unlink()
    contents = folders.read(study)
    missing = missing_parts(contents)
    assert "2 runs of the study" in missing and "--force` to redo all of it" in missing
    (view,) = contents.studies
    assert view.protocols is not None and view.protocols.runs.count(None) == 2


def test_a_newer_version_is_rejected(tmp_path: Path) -> None:
    """For notes and for traces."""
    study = folders.write_study(tmp_path / "study")
    folders.write_note(study / "_study.json", {"version": 2, "protocols": "renamed"})
    cluster = folders.write_cluster(tmp_path / "cluster")
    for file in cluster.glob("*.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.replace_schema_metadata({"beforehand-trace": "2"}), file)
    contents = folders.read(tmp_path)
    assert "_study.json is of version 2, and this program reads version 1" in missing_parts(
        contents
    )
    assert ".parquet is of version 2, and this program reads version 1" in missing_parts(contents)
    assert contents.clusters[0].diagram is None and contents.studies[0].protocols is None


@pytest.mark.parametrize(
    ("column", "change", "problem"),
    [
        ("latency_mean", None, "has no column 'latency_mean'"),
        ("latency_mean", pa.string(), "its column 'latency_mean' holds string, not real"),
        ("violations", pa.float64(), "its column 'violations' holds double, not integer"),
    ],
)
def test_changed_columns_are_reported(
    tmp_path: Path, column: str, change: pa.DataType, problem: str
) -> None:
    """If one is missing, or has another type."""
    study = folders.write_study(tmp_path)
    (file,) = (study / "study" / "protocols").glob("*.parquet")
    table = pq.read_table(file)
    index = table.column_names.index(column)
    if change is None:
        changed = table.remove_column(index)
    else:
        changed = table.set_column(index, column, table[column].cast(change))
    pq.write_table(changed, file)
    contents = folders.read(study)
    assert contents.studies[0].protocols is None and problem in missing_parts(contents)


def test_additional_columns_are_shown(tmp_path: Path) -> None:
    """A newer pipeline may write more columns, which are shown under their own names."""
    study = folders.write_study(tmp_path)
    (file,) = (study / "study" / "protocols").glob("*.parquet")
    table = pq.read_table(file)
    pq.write_table(table.append_column("glue_used", pa.array([1.5, 2.5, 3.5, float("nan")])), file)
    contents = folders.read(study)
    protocols = contents.studies[0].protocols
    assert not contents.missing and protocols is not None
    assert protocols.columns[-1].name == "glue_used" and protocols.columns[-1].unit == "number"
    assert [row[-1] for row in protocols.rows] == [1.5, 2.5, 3.5, None], "NaN is unknown"


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    """It is reported, and an unexpected folder is ignored."""
    study = folders.write_study(tmp_path)
    shutil.rmtree(study / "audit" / "violations")
    (study / "audit" / "violations").write_text("a list of violations")
    (study / "sweep" / "waves" / "notes of mine").mkdir()
    contents = folders.read(study)
    assert "violations is a file, and should be a folder" in missing_parts(contents)
    audit = contents.studies[0].audit
    assert audit is not None and audit.counted == 1 and not audit.violations
    assert "0 of 1 violations are listed here" in audit.notes[0]


def test_an_unreadable_folder_is_reported(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the other folders are shown."""
    original = layout.kind_of

    def unreadable(folder: Path) -> layout.OutputKind | None:
        if folder.name == "growth":
            raise PermissionError(13, "Permission denied", str(folder))
        return original(folder)

    monkeypatch.setattr(discover, "kind_of", unreadable)
    contents = folders.read(demo)
    assert len(contents.studies) == 1 and not contents.sweeps
    assert "growth cannot be read (Permission denied); check that you may" in missing_parts(
        contents
    )


# ---- nothing to report ----


def test_a_folder_without_results_is_an_error_that_lists_the_expected_files(tmp_path: Path) -> None:
    """One sentence, with a remedy."""
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(
        ReportError, match=r"nothing to report .*_study\.json, _sweep\.json.*output folder of"
    ):
        folders.read(tmp_path)
    with pytest.raises(ReportError, match="there is no such folder"):
        folders.read(tmp_path / "nowhere")
    with pytest.raises(ReportError, match="is a file; name the folder"):
        folders.read(tmp_path / "thesis.tex")
    with pytest.raises(ReportError, match="copy the folder here first"):
        folders.read("s3a://bucket/study")


def test_a_part_of_an_output_refers_to_the_complete_folder(tmp_path: Path) -> None:
    """A table contains no outputs of its own, and isn't a trace either."""
    study = folders.write_study(tmp_path / "study")
    for part in ("study/protocols", "sweep/traces", f"sweep/results/{folders.WAVE}"):
        with pytest.raises(ReportError, match=f"`beforehand report {study}` to report on all of"):
            folders.read(study / part)
    (file,) = (study / "study" / "protocols").glob("*.parquet")
    with pytest.raises(ReportError, match="is a file; name the folder"):
        folders.read(file)


def test_a_trace_refers_to_other_commands(tmp_path: Path) -> None:
    """It contains no results yet."""
    cluster = folders.write_cluster(tmp_path)
    (cluster / "_cluster.json").unlink()
    for path in (cluster, next(cluster.glob("*.parquet"))):
        with pytest.raises(ReportError, match="`beforehand audit .* or run `beforehand diagram"):
            folders.read(path)
