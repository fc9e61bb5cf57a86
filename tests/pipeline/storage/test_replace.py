"""Output takes its name when it is complete, and a failure changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.pipeline.storage import Storage, replacing


class FailingStorage(Storage):
    """Cannot put the new output in place."""

    def rename(self, old: str, new: str) -> None:
        """Refuse only this."""
        if old.endswith(".new"):
            raise PermissionError(new)
        super().rename(old, new)


def fill(folder: str, text: str) -> None:
    """Write the files of an output."""
    Path(folder, "deep").mkdir(parents=True)
    Path(folder, "deep", "file").write_text(text)


def content(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["out", "out/", "new/er/out", "o [u],{t}*"])
def test_new_output_appears_at_the_end(tmp_path: Path, name: str) -> None:
    """Until then there is only a hidden folder next to it."""
    out = tmp_path / name
    with replacing(Storage(), f"{tmp_path}/{name}") as folder:
        fill(folder, "new")
        assert not out.exists()
        assert Path(folder).parent == out.parent and Path(folder).name.startswith(".")
    assert content(out) == {"deep/file": "new"}
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_old_output_is_there_until_the_new_one_is(tmp_path: Path) -> None:
    """And gone as a whole afterwards: no file of it is among the new ones."""
    out = tmp_path / "out"
    fill(str(out), "old")
    (out / "stale").write_text("")
    with replacing(Storage(), str(out)) as folder:
        fill(folder, "new")
        assert content(out) == {"deep/file": "old", "stale": ""}
    assert content(tmp_path) == {"out/deep/file": "new"}


@pytest.mark.parametrize("problem", [MemoryError, KeyboardInterrupt, SystemExit])
def test_a_failure_keeps_the_old_output(tmp_path: Path, problem: type[BaseException]) -> None:
    """Also an interrupt; with or without an old one, nothing else is left."""

    def fail(out: Path) -> None:
        with replacing(Storage(), str(out)) as folder:
            fill(folder, "new")
            raise problem

    fill(str(tmp_path / "out"), "old")
    for name in ("out", "other"):
        with pytest.raises(problem):
            fail(tmp_path / name)
    assert content(tmp_path) == {"out/deep/file": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_between_the_renames_restores_the_old_output(tmp_path: Path) -> None:
    """The old one has been moved away by then."""
    fill(str(tmp_path / "out"), "old")
    with pytest.raises(PermissionError), replacing(FailingStorage(), str(tmp_path / "out")) as new:
        fill(new, "new")
    assert content(tmp_path) == {"out/deep/file": "old"}


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """The hidden folders have the same names each time."""
    fill(str(tmp_path / ".out.new"), "half")
    fill(str(tmp_path / ".out.old"), "older")
    with replacing(Storage(), str(tmp_path / "out")) as folder:
        fill(folder, "new")
    assert content(tmp_path) == {"out/deep/file": "new"}
