"""Whether this installation runs the compiled cores or their pure Python sources.

Both behave the same, but differ in speed. Which one is installed depends on the machine that built it.
"""

# Every core builds on this module, and all are compiled together or not at all.
from beforehand.protocols import core


def is_compiled() -> bool:
    """Judged by the file that was imported, not by what the build intended."""
    return not (core.__file__ or "").endswith(".py")


def describe() -> str:
    """The kind of build, for people."""
    return "compiled with mypyc" if is_compiled() else "pure Python: no compiled cores"
