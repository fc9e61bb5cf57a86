"""How heavy loops over arrays of integers are compiled."""

from __future__ import annotations

from collections.abc import Callable
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
    """The same for functions that make no arrays: then nobody counts who uses which.

    Where many small functions are given many arrays, that is half of the time. (The option is known to
    all versions of numba that we allow, but not documented.)
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    return cast(F, numba.njit(**options)(function))


def inlined(function: F) -> F:
    """A part of compiled functions: what it is given is not counted as used once more."""
    return cast(F, numba.njit(inline="always")(function))
