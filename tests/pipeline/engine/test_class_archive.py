"""The archive of Java's classes: where it is, which options it means, and when nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beforehand.pipeline.engine.class_archive import ClassArchive


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for caches of a user who allows archives."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BEFOREHAND_NO_CLASS_ARCHIVE", raising=False)
    return tmp_path / "cache"


def test_the_first_jvm_writes_it_and_later_ones_use_it(cache: Path) -> None:
    """It appears under its name when the JVM has exited, so no other one reads half of it."""
    first = ClassArchive("17.0.1", "4.0.0")
    assert first.path == cache / "beforehand" / "spark-4.0.0-java-17.0.1.jsa"
    assert first.is_written
    [option] = first.options
    name, _, new = option.partition("=")
    assert name == "-XX:ArchiveClassesAtExit" and Path(new).parent == first.path.parent
    assert Path(new) != first.path and str(os.getpid()) in new
    Path(new).write_text("classes")
    assert not first.path.exists()
    first.put_in_place()
    assert first.path.read_text() == "classes" and not Path(new).exists()
    second = ClassArchive("17.0.1", "4.0.0")
    assert not second.is_written
    assert second.options == (f"-XX:SharedArchiveFile={first.path}",)


def test_versions_have_archives_of_their_own(cache: Path) -> None:
    """One of another Java or Spark is of no use."""
    paths = {ClassArchive(java, spark).path for java in ("17", "21") for spark in ("4.0", "4.1")}
    assert len(paths) == 4


def test_a_jvm_that_wrote_nothing_leaves_nothing(cache: Path) -> None:
    """It may have been killed, or be too old to write one."""
    archive = ClassArchive("17", "4")
    archive.put_in_place()
    assert not archive.path.exists()


def test_without_a_cache_folder_it_is_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As other programs do it."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("BEFOREHAND_NO_CLASS_ARCHIVE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = ClassArchive("17", "4").path
    assert path == tmp_path / ".cache" / "beforehand" / "spark-4-java-17.jsa"


def test_nothing_is_written_where_the_user_forbids_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the folder."""
    monkeypatch.setenv("BEFOREHAND_NO_CLASS_ARCHIVE", "1")
    archive = ClassArchive("17", "4")
    assert not archive.is_written and archive.options == () and not cache.exists()


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, cache: Path) -> None:
    """Spark starts as usual then; here a file is in the way."""
    cache.write_text("in the way")
    archive = ClassArchive("17", "4")
    assert not archive.is_written and archive.options == ()
    assert cache.read_text() == "in the way"


def test_a_folder_that_may_not_be_written_is_no_error(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system says so; permissions would not stop root."""
    asked: list[tuple[Path, int]] = []

    def access(path: Path, mode: int) -> bool:
        asked.append((path, mode))
        return False

    monkeypatch.setattr(os, "access", access)
    archive = ClassArchive("17", "4")
    assert not archive.is_written and archive.options == ()
    assert asked == [(cache / "beforehand", os.W_OK)]
