"""`beforehand characterise`: what kind of workload an ingest has read."""

from typing import Annotated, Any

import typer

from beforehand.cli import options as shared
from beforehand.cli.engine import EngineOptions, engine_progress, open_engine
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.results import format
from beforehand.results.layout import IngestFolder

FOLDER = IngestFolder.CHARACTERISTICS
LISTED = 20  # runs in the table of runs; all are in the files

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]


def command(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The output of `beforehand ingest`.")
    ],
    run: shared.Run = None,
    seed: shared.Seed = 1,
    as_json: shared.Json = False,
    engine: shared.Engine = None,
    master: shared.Master = None,
    conf: shared.Conf = None,
) -> None:
    """Describe a workload: who sends to whom, at what rate, with how long chains, how much in parallel.

    Also shows what that means for each protocol. Reads the output of `beforehand ingest` and writes the
    tables, for all its runs, to FOLDER/characteristics.
    """
    with clear_errors(), open_engine(EngineOptions(engine, master, conf)) as chosen:
        from beforehand.pipeline.characterise import characterise, sorted_rows
        from beforehand.pipeline.ingest import read_messages, read_summary
        from beforehand.pipeline.study.replayed_run import choose

        # An unknown name is refused before anything is computed.
        largest = choose(read_summary(chosen.storage, folder), run, folder)
        with engine_progress(chosen, "characterising"):
            out = f"{folder.rstrip('/')}/{FOLDER}"
            messages = read_messages(chosen, folder)
            tables = sorted_rows(characterise(chosen, messages, out, seed=seed))
    if as_json:
        wanted = tables if run is None else {k: _of(v, run) for k, v in tables.items()}
        print_json({**wanted, "seed": seed})
        return
    if run is None:
        show_runs(tables["runs"])
    show(tables, largest)
    typer.echo(f"Tables for all runs: {out}")


def _of(rows: Rows, run: str) -> Rows:
    return [row for row in rows if row["run"] == run]


# ---- for people ----


def show_runs(runs: Rows) -> None:
    """Print a row for each run, the largest first, if there are several."""
    if len(runs) < 2:
        return
    ranked = sorted(runs, key=lambda row: (-row["messages"], row["run"]))
    print_table(
        ("run", "processes", "messages", "copies", "span", "rate", "concurrent"),
        [
            (
                row["run"],
                *(f"{row[name]:,}" for name in ("processes", "messages", "copies")),
                format.duration(row["span_ns"]) if row["span_ns"] else format.UNKNOWN,
                format.rate(row["rate"]) if row["rate"] else format.UNKNOWN,
                format.percent(row["concurrent_share"]),
            )
            for row in ranked[:LISTED]
        ],
    )
    if len(ranked) > LISTED:
        typer.echo(f"... and {len(ranked) - LISTED:,} more runs.")
    typer.echo()


def show(tables: Tables, run: str) -> None:
    """Print everything about one run."""
    from beforehand.pipeline import prose

    (row,) = _of(tables["runs"], run)
    print_text(prose.title(row))
    for sentence in prose.sentences(row, _of(tables["flags"], run)):
        print_text(f"  {sentence}")
    summaries = sorted(_of(tables["summaries"], run), key=lambda row: str(row["what"]))
    figures = ("min", "median", "mean", "p90", "p99", "max")
    print_table(
        ("distribution", "of", *figures),
        [
            (row["what"], f"{row['count']:,}", *(format.number(row[name]) for name in figures))
            for row in summaries
        ],
    )
    _show_table1(_of(tables["table1"], run))


def _show_table1(rows: Rows) -> None:
    """Print the formulas of the paper with the figures of this run, a row for each algorithm."""
    if not rows:
        return
    first = rows[0]
    print_text(
        f"Table 1 of Almeida's paper for n = {first['n']:,}; "
        f"i: mean {format.number(first['i_mean'])}, at most {first['i_max']:,}; "
        f"o: mean {format.number(first['o_mean'])}, at most {first['o_max']:,}"
    )
    print_text(
        "  orders of growth in integers and steps, with one message buffered (b = 1, p = u = 0)"
    )
    by_place = sorted(rows, key=lambda row: int(row["place"]))
    algorithms = list(dict.fromkeys((row["algorithm"], row["protocol"]) for row in by_place))
    quantities = list(dict.fromkeys(row["quantity"] for row in by_place))
    cells = {(row["algorithm"], row["quantity"]): _entry(row) for row in rows}
    print_table(
        ("algorithm", "protocol", *quantities),
        [
            (algorithm, protocol, *(cells[algorithm, quantity] for quantity in quantities))
            for algorithm, protocol in algorithms
        ],
    )


def _entry(row: dict[str, Any]) -> str:
    if row["formula"] == "1":
        return "1"
    most = "" if row["mean"] == row["max"] else f", at most {row['max']:,}"
    return f"{row['formula']}: {format.number(row['mean'])}{most}"
