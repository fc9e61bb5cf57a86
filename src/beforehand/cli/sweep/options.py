"""The options of `beforehand sweep`: the axes of a grid, and what to do with its runs."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import typer

from beforehand.cli import options as shared
from beforehand.cli.options import OUTPUT, switch, value
from beforehand.cli.ui import completion

_GRID: Final = "Grid, each with one value or several"
_Values = list[str] | None
_axis = partial(value, panel=_GRID)


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What to simulate, and where to keep it."""

    grid: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A grid as TOML, with the options below as its keys; they override it.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        str | None,
        value("FOLDER", "The folder for the results; s3a:// and hdfs:// work too. Required."),
    ] = None
    protocol: Annotated[_Values, shared.protocols(panel=_GRID)] = None
    workload: Annotated[
        _Values,
        _axis(
            "WORKLOAD",
            "Who sends to whom, as for simulate: uniform, shop, hotspot:0.1,0.8; "
            "replay:PATH or replay:PATH#RUN for the output of ingest, or a trace. Repeatable.",
            autocompletion=completion.workload,
        ),
    ] = None
    network: Annotated[
        _Values,
        shared.networks(
            "Which networks: default, lan, wan, mobile, or one of the file's; with commas.", _GRID
        ),
    ] = None
    processes: Annotated[_Values, _axis("NUMBERS", "How many processes: 10,100 or repeated.")] = (
        None
    )
    seed: Annotated[
        _Values, _axis("NUMBERS", "The seeds of every random choice: 1,2,3 or repeated.")
    ] = None
    messages: Annotated[
        _Values, _axis("NUMBERS", "How many messages each process sends: 20,50 or repeated.")
    ] = None
    values: Annotated[
        _Values,
        _axis(
            "OPTION=VALUE",
            "Any other option of simulate: payload=1kB, loss=0.1. Repeatable, also with several "
            "values of one option.",
            "--set",
        ),
    ] = None
    traces: Annotated[
        bool, switch("--traces", "Write the events of each run too.", panel=OUTPUT)
    ] = False
    audit: Annotated[bool, switch("--audit", "Judge every delivery of each run.", panel=OUTPUT)] = (
        False
    )
    tables: Annotated[
        bool,
        switch(
            "--tables",
            "Write and print the measured Table 1 and growth exponents, and write the figures.",
            panel=OUTPUT,
        ),
    ] = False
    as_json: shared.Json = False
    engine: shared.Engine = None
    master: shared.Master = None
    conf: shared.Conf = None

    def arguments(self) -> tuple[str, ...]:
        """The grid as the user typed it, for the notes of its results."""
        words = [] if self.grid is None else [self.grid]
        for name in ("protocol", "network", "workload", "processes", "seed", "messages"):
            for given in getattr(self, name) or []:
                words += [f"--{name}", given]
        for given in self.values or []:
            words += ["--set", given]
        return tuple(words)
