"""Whether this installation runs the compiled cores or their pure Python sources.

Both behave the same; they differ in speed by a factor that matters. Which one an installation got
depends on the machine that built it, so it can be asked.
"""

# Every core builds on this module, and all are compiled together or not at all.
from beforehand.protocols import core


def is_compiled() -> bool:
    """Tell from the file that was really imported, not from what the build intended."""
    return not (core.__file__ or "").endswith(".py")


def describe() -> str:
    """The kind of build in a few words, for people."""
    return "compiled with mypyc" if is_compiled() else "pure Python: no compiled cores"
