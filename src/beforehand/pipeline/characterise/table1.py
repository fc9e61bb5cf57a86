"""Table 1 of Almeida's hybrid-buffering paper: its formulas evaluated for a workload.

The workload determines n (processes), and i and o (senders to a process, and its receivers). The other
parameters depend on the run: messages buffered (b), permits missing (p), messages not yet acknowledged
(u). The formulas are evaluated with b = 1 and p = u = 0, so they give the cost of one waiting message;
they are orders of growth, and a sweep measures the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.characterise.processes import Rows

Value = Callable[[int, Ints, Ints], Ints]  # of n, and of i and o of each process


@dataclass(frozen=True)
class Formula:
    """An entry of the table: integers, or steps of work."""

    text: str
    value: Value


ONE: Final = Formula("1", lambda n, i, o: 0 * i + 1)
N: Final = Formula("n", lambda n, i, o: 0 * i + n)
N2: Final = Formula("n^2", lambda n, i, o: 0 * i + n * n)
NO: Final = Formula("n o", lambda n, i, o: n * o)
N2B: Final = Formula("n^2 b", lambda n, i, o: 0 * i + n * n)
NB: Final = Formula("n + b", lambda n, i, o: 0 * i + n + 1)
B: Final = Formula("b", lambda n, i, o: 0 * i + 1)
NOB: Final = Formula("n o + b", lambda n, i, o: n * o + 1)
HYBRID: Final = Formula("i + o + b + p + u", lambda n, i, o: i + o + 1)

QUANTITIES: Final = ("message", "process", "work of the sender", "work of the receiver")

# Algorithm, our name for it, and its formula for each of the quantities.
ROWS: Final = (
    ("RST", "rst", (N2, N2B, ONE, N2)),
    ("KS", "ks", (N2, N2B, N2, N2)),
    ("Newtop", "newtop", (ONE, NB, ONE, N)),
    ("MF", "mattern", (ONE, B, ONE, ONE)),
    ("Cykas", "cykas", (ONE, NOB, NO, ONE)),
    ("hybrid buffering", "hybrid", (ONE, HYBRID, ONE, ONE)),
)


def table1(processes: Rows) -> Rows:
    """The rows of TABLE1 for one run, from those of PROCESSES."""
    n = len(processes)
    i, o = (np.array([row[name] for row in processes]) for name in ("in_degree", "out_degree"))
    degrees = {
        "n": n,
        "i_mean": float(i.mean()),
        "i_max": int(i.max()),
        "o_mean": float(o.mean()),
        "o_max": int(o.max()),
    }
    rows = []
    for place, (algorithm, protocol, quantity, formula) in enumerate(_entries()):
        values = formula.value(n, i, o)
        rows.append(
            {
                "place": place,
                "algorithm": algorithm,
                "protocol": protocol,
                "quantity": quantity,
                "formula": formula.text,
                **degrees,
                "mean": float(values.mean()),
                "max": int(values.max()),
            }
        )
    return rows


def _entries() -> list[tuple[str, str, str, Formula]]:
    return [
        (algorithm, protocol, quantity, formula)
        for algorithm, protocol, formulas in ROWS
        for quantity, formula in zip(QUANTITIES, formulas, strict=True)
    ]
