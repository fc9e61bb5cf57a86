"""Table 1 of Almeida's hybrid-buffering paper: its formulas evaluated for a workload.

The workload determines n (processes), and i and o (senders to a process, and its receivers). The other
parameters depend on the run: messages buffered (b), permits missing (p), messages not yet acknowledged
(u). The formulas are evaluated with b = 1 and p = u = 0, so they give the cost of one waiting message;
they are orders of growth, and a sweep measures the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from beforehand.pipeline.characterise.schemas import TABLE1
from beforehand.pipeline.schemas import shaped

Value = Callable[[Column, Column, Column], Column]  # of n, i and o


@dataclass(frozen=True)
class Formula:
    """An entry of the table: integers, or steps of work."""

    text: str
    value: Value


ONE: Final = Formula("1", lambda n, i, o: f.lit(1))
N: Final = Formula("n", lambda n, i, o: n)
N2: Final = Formula("n^2", lambda n, i, o: n * n)
NO: Final = Formula("n o", lambda n, i, o: n * o)
N2B: Final = Formula("n^2 b", lambda n, i, o: n * n)
NB: Final = Formula("n + b", lambda n, i, o: n + 1)
B: Final = Formula("b", lambda n, i, o: f.lit(1))
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


def table1(processes: DataFrame, runs: DataFrame) -> DataFrame:
    """The table TABLE1, from the tables PROCESSES and RUNS."""
    sizes = runs.select("run", f.col("processes").alias("n"))
    known = processes.join(f.broadcast(sizes), "run")
    n, i, o = f.col("n"), f.col("in_degree"), f.col("out_degree")
    entries = [
        f.struct(
            f.lit(place).alias("place"),
            f.lit(algorithm).alias("algorithm"),
            f.lit(protocol).alias("protocol"),
            f.lit(quantity).alias("quantity"),
            f.lit(formula.text).alias("formula"),
            formula.value(n, i, o).cast("long").alias("value"),
        )
        for place, (algorithm, protocol, quantity, formula) in enumerate(_entries())
    ]
    values = known.select("run", "n", "in_degree", "out_degree", f.inline(f.array(*entries)))
    groups = values.groupBy("run", "n", "place", "algorithm", "protocol", "quantity", "formula")
    aggregated = groups.agg(
        f.mean("in_degree").alias("i_mean"),
        f.max("in_degree").alias("i_max"),
        f.mean("out_degree").alias("o_mean"),
        f.max("out_degree").alias("o_max"),
        f.mean("value").alias("mean"),
        f.max("value").alias("max"),
    )
    return shaped(aggregated, TABLE1)


def _entries() -> list[tuple[str, str, str, Formula]]:
    return [
        (algorithm, protocol, quantity, formula)
        for algorithm, protocol, formulas in ROWS
        for quantity, formula in zip(QUANTITIES, formulas, strict=True)
    ]
