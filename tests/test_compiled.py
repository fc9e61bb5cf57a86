"""Compiled or not is a property of a folder: in a compiled build every module of it is compiled."""

from beforehand import _build
from tests.compiled_modules import PACKAGE, compiled_folders, modules_in, modules_not


def test_every_module_of_a_compiled_folder_is_compiled() -> None:
    """In a compiled build all of them are extension modules; in a pure one, none is."""
    assert modules_not("compiled" if _build.is_compiled() else "pure") == []


def test_the_compiled_folders_exist_and_hold_modules() -> None:
    """A folder that was moved or emptied would otherwise be interpreted without notice."""
    for folder in compiled_folders():
        assert (PACKAGE / folder / "__init__.py").exists(), folder
        assert modules_in(folder), folder


def test_no_compiled_folder_lies_in_another() -> None:
    """Folders are compiled at any depth, so a nested entry would have no effect."""
    folders = compiled_folders()
    assert len(set(folders)) == len(folders)
    assert not [(a, b) for a in folders for b in folders if a.startswith(f"{b}/")]


def test_compiled_modules_cache_no_properties() -> None:
    """mypyc makes a plain property of a `cached_property`: correct, and computed again each time."""
    cached = [
        str(source.relative_to(PACKAGE))
        for folder in compiled_folders()
        for source in (PACKAGE / folder).rglob("*.py")
        if "cached_property" in source.read_text(encoding="utf-8")
    ]
    assert cached == []
