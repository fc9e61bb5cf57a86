"""How heavy loops over arrays of integers are compiled."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numpy.typing import NDArray

Int = Any  # a number inside of loops: numba finds out of which width
Ints = NDArray[Any]  # of the width that is said where the array is made
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile with numba and keep the result on disk: processes start often."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def bare(function: F) -> F:
    """A part of compiled functions that makes no arrays: then nobody counts who uses which.

    Where many small functions are given many arrays, that is half of the time. (The option is known to
    all versions of numba that we allow, but not documented.) Not kept on disk: see `stamp`.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    return cast(F, numba.njit(**options)(function))


def inlined(function: F) -> F:
    """A part of compiled functions: what it is given is not counted as used once more."""
    return cast(F, numba.njit(inline="always")(function))


def stamp(folder: Path) -> int:
    """A number that changes with the sources in a folder.

    What numba keeps on disk it uses again as long as the file of that function is the same, though the
    function may be made of others. But it also looks at the variables of enclosing functions: so what is
    made of others is to be defined inside of a function that is given this number, and to use it.
    """
    digest = sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return int.from_bytes(digest.digest()[:7], "big")
