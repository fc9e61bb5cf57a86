"""How numba compiles loops over arrays of integers, and when it compiles them again."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache
from numpy.typing import NDArray

Int = Any  # an integer inside a kernel: numba infers its width
Ints = NDArray[Any]  # of the width with which the array was created
F = TypeVar("F", bound=Callable[..., Any])


class _FolderCache(FunctionCache):
    """A cache on disk that is valid as long as all sources next to the function stay the same.

    numba itself reuses a compiled function as long as its own file is unchanged, although the function
    may contain code and constants of other files.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.stamp = stamp(Path(function.__code__.co_filename).parent)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        key = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*key, self.stamp)


def compiled(function: F) -> F:
    """Compile with numba and cache the result on disk, because processes start often.

    Kernels import nothing of ours but this module and what is in their own folder, or below: then a
    change in any of these compiles them again.
    """
    dispatcher: Any = numba.njit(cache=True, nogil=True)(function)
    dispatcher._cache = _FolderCache(function)
    return cast(F, dispatcher)


def bare(function: F) -> F:
    """A part of compiled functions that allocates no arrays, and therefore counts no references.

    Where many small functions take many arrays, counting is half of the time. (The option exists in
    all versions of numba that we allow, but is not documented.) Not cached itself: its callers are.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    return cast(F, numba.njit(**options)(function))


def inlined(function: F) -> F:
    """A part of compiled functions whose arguments are not reference-counted once more."""
    return cast(F, numba.njit(inline="always")(function))


@cache
def stamp(folder: Path) -> str:
    """A digest of this module and of all sources in a folder, at any depth."""
    digest = sha256(Path(__file__).read_bytes())
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()
