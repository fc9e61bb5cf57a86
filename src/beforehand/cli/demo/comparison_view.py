"""A comparison for people: what the network did, what users saw, and what causal order cost."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, Final

import typer

from beforehand.cli.ui.output import print_table, print_text
from beforehand.results.format import counted, duration, listed, percent, size

Plain = dict[str, Any]

# Title, key of a run, and how it is written.
COSTS: Final = (
    ("median latency", "latency_p50_ns", duration),
    ("99 % of latencies", "latency_p99_ns", duration),
    ("metadata per message", "meta_bytes_per_message", size),
    ("on the wire per message", "wire_bytes_per_message", size),
    ("whole run", "seconds", lambda seconds: f"{seconds:.1f} s"),
)


def show(note: Plain) -> None:
    """Print what a new run adds: the setting and the first verdict, or the second and the comparison."""
    if len(note["runs"]) == 1:
        show_setting(note)
    print_text(f"  {verdict(note, note['runs'][-1])}")
    incident = note["incident"]
    if len(note["runs"]) == 1:
        if incident is not None:
            sentence = incident["sentence"]
            print_text(f"    {sentence[:1].upper()}{sentence[1:]}")
        return
    if incident is not None:
        typer.echo()
        _show_screens(incident)
    typer.echo()
    protocols = [run["protocol"] for run in note["runs"]]
    print_table(("cost", *protocols), cost_rows(note))
    typer.echo()


def show_all(note: Plain) -> None:
    """Print a comparison that has been run before."""
    for count in range(1, len(note["runs"]) + 1):
        show(note | {"runs": note["runs"][:count]})


def show_setting(note: Plain) -> None:
    """Print who took part, and what the network did to both runs."""
    lost, doubled, late = (percent(note[name]) for name in ("loss", "duplicate", "reorder"))
    messages = counted(note["runs"][0]["sends"], "message")
    print_text(
        f"{note['title']}: {listed(note['names'])}, {messages}. Real processes on loopback, encrypted. "
        f"{lost} of all datagrams are lost, {doubled} duplicated and {late} delayed; the seed is "
        f"{note['seed']} for both."
    )
    if note["attempts"] > 1:
        print_text(
            f"With {counted(note['attempts'] - 1, 'other seed')} nothing went wrong; this is run "
            f"{note['attempts']}."
        )


def verdict(note: Plain, run: Plain) -> str:
    """The oracle's verdict on a run, and what its users made of it."""
    deliveries = counted(run["deliveries"], "delivery", "deliveries")
    if run["clean"]:
        return (
            f"{run['protocol']}: all {deliveries} in causal order, none missing; 0 {note['harm']}."
        )
    more = "" if run["complete"] else "at least "
    broken = " A BROKEN PROMISE." if run["causal"] else ""
    return (
        f"{run['protocol']}: {more}{run['violations']:,} of {deliveries} out of causal order; "
        f"{run['harm']:,} {note['harm']}.{broken}"
    )


def cost_rows(note: Plain) -> list[tuple[str, ...]]:
    """What each run cost."""
    return [
        (title, *("not measured" if run[key] is None else write(run[key]) for run in note["runs"]))
        for title, key, write in COSTS
    ]


def _show_screens(incident: Plain) -> None:
    """The same two messages as they appeared to the same process in each run."""
    columns = [f"the screen of {incident['process']} with {name}" for name in incident["runs"]]
    screens = [_screen(run["screen"]) for run in incident["runs"].values()]
    print_table(columns, list(zip_longest(*screens, fillvalue="")))


def _screen(lines: list[Plain]) -> list[str]:
    first = lines[0]["time_ns"] if lines else 0
    return [
        f"{line['sender']}: {line['text']}"
        + (f" ({duration(line['time_ns'] - first)} later)" if index else "")
        for index, line in enumerate(lines)
    ]
