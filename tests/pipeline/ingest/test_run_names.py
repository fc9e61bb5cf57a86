"""Run names are short and unique."""

from __future__ import annotations

from beforehand.pipeline.ingest.run_names import key_of, names_of


def names(*rows: tuple[str, str, str]) -> list[str]:
    """The run names of rows, given by format, file and label."""
    keys = [str(key_of(*row)) for row in rows]
    by_key = names_of(set(keys))
    assert len(set(by_key.values())) == len(by_key)
    return [by_key[key] for key in keys]


def test_spans_and_lists_are_named_after_their_folder() -> None:
    """All files of a folder are one run."""
    rows = [("span-csv", "file:/d/shop/1.csv", ""), ("span-csv", "file:/d/shop/2.csv", "")]
    assert names(*rows) == ["shop", "shop"]


def test_logs_and_graphs_are_named_after_their_file() -> None:
    """Suffixes are dropped."""
    rows = [("graph", "file:/d/doc.json.gz", ""), ("shiviz", "file:/d/chord.log", "2")]
    assert names(*rows) == ["doc", "chord/2"]


def test_the_format_is_added_if_a_folder_has_several() -> None:
    """Each format of a folder is a run of its own."""
    rows = [("zipkin", "file:/d/z/1.json", ""), ("jaeger", "file:/d/z/2.json", "")]
    assert names(*rows) == ["z-zipkin", "z-jaeger"]


def test_folders_with_the_same_name_are_qualified() -> None:
    """As many parent folders are added as it takes."""
    rows = [("list", "file:/a/x/day/1", ""), ("list", "file:/b/x/day/1", "")]
    assert names(*rows) == ["a/x/day-list", "b/x/day-list"]


def test_files_with_the_same_stem_keep_their_suffixes() -> None:
    """Only then would folders be added."""
    rows = [("graph", "file:/d/doc.json", ""), ("graph", "file:/d/doc.json.gz", "")]
    assert names(*rows) == ["doc.json", "doc.json.gz"]


def test_our_own_traces_name_their_runs() -> None:
    """The name in a trace wins, wherever the file is; without one, the file's name is used."""
    rows = [
        ("trace", "file:/d/a.jsonl", "night"),
        ("trace", "file:/d/b.jsonl", "night"),
        ("trace", "file:/d/c.jsonl", ""),
        ("list", "file:/night/x", ""),
    ]
    assert names(*rows) == ["night", "night", "c", "night-list"]


def test_the_last_resort_is_a_number() -> None:
    """Equal paths on two file systems are distinguished by a number."""
    rows = [("list", "s3a://d/x", ""), ("list", "hdfs://d/x", ""), ("trace", "f", "d-list")]
    assert len(set(names(*rows))) == 3
