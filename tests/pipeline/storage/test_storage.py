"""Files of this machine: found by name or pattern, listed, read and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.storage import Storage, absolute, is_near, join, local_path

ODD = "a b{c,d}[e]*?\\ü%20 "  # special in glob patterns and in URIs


def names(storage: Storage, pattern: str) -> list[str]:
    """The names of what is found."""
    return [file.name for file in storage.find(pattern)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A few files, and one in a folder with an odd name."""
    for name in ("b.csv", "a.csv", "c.txt", "a1.log", "a2.log", "b1.log", "[x]"):
        (tmp_path / name).write_text(name)
    (tmp_path / ODD).mkdir()
    (tmp_path / ODD / "inner").write_text("12345")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.csv", ["a.csv", "b.csv"]),
        ("a?.log", ["a1.log", "a2.log"]),
        ("[ab]1.log", ["a1.log", "b1.log"]),
        ("{a,b}.csv", ["a.csv", "b.csv"]),
        ("{a{1,2},b1}.log", ["a1.log", "a2.log", "b1.log"]),
        ("{*,a}.csv", ["a.csv", "b.csv"]),
        ("*.json", []),
        ("nowhere/*", []),
        ("a.csv", ["a.csv"]),
        ("[x]", ["[x]"]),
    ],
)
def test_patterns_give_sorted_matches_without_duplicates(
    folder: Path, pattern: str, expected: list[str]
) -> None:
    """A name that exists is never a pattern."""
    assert names(Storage(), f"{folder}/{pattern}") == expected
    assert names(Storage(), f"file:{folder}/{pattern}") == expected


def test_a_relative_path_is_found_under_its_absolute_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths that leave this module have a scheme."""
    monkeypatch.chdir(folder)
    assert [file.path for file in Storage().find("*.csv")] == [
        f"file:{folder}/a.csv",
        f"file:{folder}/b.csv",
    ]
    assert absolute("a.csv") == f"{folder}/a.csv" and Storage().exists("a.csv")


def test_names_with_special_characters_are_literal(folder: Path) -> None:
    """As a whole, inside of a folder and below it."""
    storage = Storage()
    [found] = storage.find(f"{folder}/{ODD}")
    assert found.is_folder and found.name == ODD and found.size == 0
    [inner] = storage.files_under(found.path)
    assert inner.path == f"file:{folder}/{ODD}/inner" and inner.size == 5
    assert storage.inside(f"file://{folder}/{ODD}") == storage.files_of([found.path]) == [inner]
    assert storage.read_text(inner.path) == "12345"


def test_hidden_files_are_not_listed_below_a_folder(tmp_path: Path) -> None:
    """Those of engines and editors start with a dot or an underscore, at any depth."""
    for name in ("a/b/c", "a/_d/e", "a/.f", "_SUCCESS", "g"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    files = Storage().files_under(str(tmp_path))
    assert [file.path.removeprefix(f"file:{tmp_path}/") for file in files] == ["a/b/c", "g"]
    assert [file.name for file in Storage().inside(str(tmp_path))] == ["_SUCCESS", "a", "g"]
    assert Storage().files_under(str(tmp_path / "nowhere")) == []


def test_a_dangling_link_is_found(tmp_path: Path) -> None:
    """Opening it gives the reason, so it must not vanish silently."""
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert names(Storage(), str(tmp_path / "link")) == ["link"]
    assert [file.name for file in Storage().files_under(str(tmp_path))] == ["link"]


def test_notes_are_written_whole_and_can_be_replaced(tmp_path: Path) -> None:
    """Reading one that does not exist returns None; a broken one is an error with a remedy."""
    storage, folder = Storage(), str(tmp_path / "new" / "deep")
    assert storage.read_note(folder, "_note.json") is None
    for content in ({"runs": 1}, {"runs": 2, "name": "ü"}):
        storage.write_note(folder, "_note.json", content)
        assert storage.read_note(folder, "_note.json") == content
    assert [path.name for path in Path(folder).iterdir()] == ["_note.json"]
    Path(folder, "_note.json").write_text('{"runs"')
    with pytest.raises(PipelineError, match="_note.json: not valid JSON .*make it again"):
        storage.read_note(folder, "_note.json")


def test_deleting(tmp_path: Path) -> None:
    """Files and folders; of a link only itself; twice is no error."""
    storage = Storage()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for name in ("link", "folder", "file", "file", "nowhere"):
        storage.delete(f"file:{tmp_path}/{name}")
    assert [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*"))] == [
        "kept",
        "kept/file",
    ]


def test_a_file_is_written_where_it_will_be(tmp_path: Path) -> None:
    """Near files need no copy."""
    with Storage().local_file(f"file:{tmp_path}/new/x") as path:
        assert path == f"{tmp_path}/new/x"
        Path(path).write_text("1")
    assert (tmp_path / "new" / "x").read_text() == "1"


@pytest.mark.parametrize("path", ["hdfs://host/x", "s3a://bucket/x"])
def test_remote_paths_need_another_engine(path: str) -> None:
    """The error says which."""
    with pytest.raises(PipelineError, match=f"{path}: .*; use `engine` spark"):
        Storage().exists(path)
    with pytest.raises(PipelineError, match="use `engine` spark"):
        Storage().find(f"{path}/*")


def test_paths() -> None:
    """Schemes are those of Hadoop; one of `file:` has one slash or three."""
    assert is_near("/a") and is_near("a b") and is_near("file:/a") and is_near("file:///a")
    assert not is_near("s3a://a/b")
    assert local_path("file:/a/b") == local_path("file:///a/b") == local_path("/a/b") == "/a/b"
    assert absolute("s3a://a/b") == "s3a://a/b" and absolute("file:/a") == "file:/a"
    assert join("/a/", "b", "c") == "/a/b/c"
