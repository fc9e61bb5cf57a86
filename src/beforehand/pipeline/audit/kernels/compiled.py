"""How the loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numpy.typing import NDArray

Ints = NDArray[Any]  # of the width that is said where the array is made
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile with numba and keep the result on disk: workers start often."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
