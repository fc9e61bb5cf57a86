"""The loops as they are called: compiled once, and again when any source of them changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from beforehand._kernel import Int, Ints, compiled, stamp
from beforehand.checker.packed import fingerprints as prints
from beforehand.checker.packed import kernels
from beforehand.checker.packed.buffers import Found, Room
from beforehand.checker.packed.tables import Shape, Steps


def _expand(version: int) -> Callable[[Ints, Ints, Shape, Steps, Ints, Room, Found], None]:
    @compiled
    def expand(
        rows: Ints, which: Ints, shape: Shape, steps: Steps, visited: Ints, room: Room, found: Found
    ) -> None:
        if version:
            kernels.expand(rows, which, shape, steps, visited, room, found)

    return expand


def _keep(version: int) -> Callable[[Ints, int, int, Ints, Ints], int]:
    @compiled
    def keep(prints: Ints, worker: Int, workers: Int, visited: Ints, kept: Ints) -> Int:
        return kernels.keep(prints, worker, workers, visited, kept) if version else 0

    return keep


def _print_of(version: int) -> Callable[[Ints, Shape, Steps, Ints], int]:
    @compiled
    def print_of(row: Ints, shape: Shape, steps: Steps, sums: Ints) -> Int:
        return prints.print_of(row, shape, steps, sums) if version else 0

    return print_of


_VERSION = stamp(Path(__file__).parent)

expand = _expand(_VERSION)
keep = _keep(_VERSION)
print_of = _print_of(_VERSION)
