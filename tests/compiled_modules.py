"""The modules that a compiled build compiles, from the list of folders in setup.py."""

import ast
from importlib import import_module
from pathlib import Path

import beforehand

PACKAGE = Path(beforehand.__file__).parent
_SETUP = Path(__file__).parents[1] / "setup.py"


def compiled_folders() -> tuple[str, ...]:
    """COMPILED_FOLDERS of setup.py, read without running it."""
    for statement in ast.parse(_SETUP.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == (
            "COMPILED_FOLDERS"
        ):
            folders: tuple[str, ...] = ast.literal_eval(statement.value)
            return folders
    raise AssertionError(f"{_SETUP} has no COMPILED_FOLDERS")


def modules_in(folder: str) -> list[str]:
    """The modules of a folder at any depth, without `__init__` files, which stay interpreted."""
    sources = (PACKAGE / folder).rglob("*.py")
    names = (source.relative_to(PACKAGE.parent).with_suffix("") for source in sources)
    return sorted(".".join(name.parts) for name in names if name.name != "__init__")


def modules_not(build: str) -> list[str]:
    """Import every module of the compiled folders; those that are not "pure" or "compiled"."""
    return [
        module
        for folder in compiled_folders()
        for module in modules_in(folder)
        if (import_module(module).__file__ or "").endswith(".py") != (build == "pure")
    ]
