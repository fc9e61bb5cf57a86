"""Small output folders of the pipeline, in the format of Spark but written without it.

The figures are arbitrary and all different, so that a misplaced one is noticed. `spark_files.py` has the
events of the runs; with `fifo` on `wan`, an answer is delivered before its question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beforehand import report
from beforehand.cli.report_commands import report_commands
from tests.report import schemas
from tests.report.spark_files import (
    MADE,
    NETWORKS,
    PEOPLE,
    PROTOCOLS,
    WAVE,
    broken,
    events,
    pairs,
    run_name,
    sample_row,
    write_note,
    write_table,
)

__all__ = [
    "MADE",
    "PEOPLE",
    "WAVE",
    "broken",
    "events",
    "read",
    "write_audit",
    "write_cluster",
    "write_comparison",
    "write_demo",
    "write_note",
    "write_study",
    "write_sweep",
    "write_table",
]


def read(folder: str | Path, made: report.Provenance | None = None) -> report.ReportView:
    """Read a report with the command lines of `beforehand`."""
    return report.read(folder, made, report_commands())


def write_audit(
    folder: Path, runs: Mapping[str, bool], people: Sequence[str] = PEOPLE, **note: Any
) -> Path:
    """Write the audit of some runs, given whether causal order was violated in each."""
    verdicts: list[dict[str, Any]] = [
        {
            "run": run,
            "verdict": "violated" if late else "clean",
            "complete": True,
            "processes": 3,
            "events": 11,
            "sends": 2,
            "deliveries": 3,
            "causal": int(late),
            **dict.fromkeys(("fifo", "duplicate", "invented", "lost"), 0),
            "notes": [],
        }
        for run, late in runs.items()
    ]
    violations = [broken(run, people) for run, late in runs.items() if late]
    write_table(folder / "verdicts", verdicts, schemas.VERDICTS, parts=2)
    write_table(folder / "violations", violations, schemas.VIOLATIONS)
    counts = {"runs": len(runs), "events": 11 * len(runs), "violated": sum(runs.values())}
    rest = {"not_audited": 0, "incomplete": 0, "unreadable": {}}
    command = {"command": f"beforehand audit traces --out {folder}"}
    write_note(folder / "_audit.json", {**counts, **rest, **MADE, **command, **note})
    return folder


def scenario(protocol: str, network: str) -> str:
    """Return a part of a scenario, for the column of that name."""
    return json.dumps(
        {"protocol": protocol, "workload": "replay", "delay": network}, sort_keys=True
    )


def write_study(folder: Path, people: Sequence[str] = PEOPLE) -> Path:
    """Write a complete study: two protocols on two networks, with a violation in one of the runs."""
    write_note(folder / "_source.json", {"version": 1, "sources": [], "seed": 1})
    runs = {run_name(*pair): pair == ("fifo", "wan") for pair in pairs()}
    results = [
        sample_row(
            schemas.RESULTS,
            index,
            run=run_name(protocol, network),
            protocol=protocol,
            workload="replay:talk",
            network=network,
            setting="",
            processes=3,
            messages=None,
            seed=1,
            scenario=scenario(protocol, network),
            wave=WAVE,
            outcome="complete",
            violations=None,
            series=[],
        )
        for index, (protocol, network) in enumerate(pairs())
    ]
    sweep = folder / "sweep"
    write_table(sweep / "results" / WAVE, results, schemas.RESULTS, parts=2)
    traced = [event for run, late in runs.items() for event in events(run, late, people)]
    write_table(sweep / "traces" / WAVE, traced, schemas.EVENTS)
    write_note(sweep / "_sweep.json", {"holds": "the results of beforehand sweep"})
    names = list(runs)
    wave = {"name": WAVE, "runs": names, "failed": [], "traced": names, "audited": False}
    write_note(sweep / "waves" / f"{WAVE}.json", {**wave, **MADE})
    write_audit(folder / "audit", runs, people, sources=[str(sweep / "traces" / WAVE)])
    _write_characteristics(folder / "characteristics", people)
    _write_findings(folder, runs)
    return folder


def _write_characteristics(folder: Path, people: Sequence[str]) -> None:
    write_table(
        folder / "runs",
        [
            sample_row(
                schemas.RUNS, 0, run="talk", processes=3, messages=2, concurrent_share=0.0, note=""
            )
        ],
        schemas.RUNS,
    )
    processes = [
        sample_row(schemas.PROCESSES, index, run="talk", process=name)
        for index, name in enumerate(people)
    ]
    write_table(folder / "processes", processes, schemas.PROCESSES)
    summaries = [
        sample_row(schemas.SUMMARIES, index, run="talk", what=what)
        for index, what in enumerate(("fan-out", "payload bytes"))
    ]
    write_table(folder / "summaries", summaries, schemas.SUMMARIES)
    tables = ["runs", "processes", "summaries", "distributions", "flags", "table1"]
    write_note(folder / "_characteristics.json", {"version": 1, "seed": 1, "tables": tables})


def _write_findings(folder: Path, runs: Mapping[str, bool]) -> None:
    protocols = [
        sample_row(
            schemas.PROTOCOLS,
            index,
            protocol=protocol,
            network=network,
            causal=protocol == "hybrid",
            metadata="O(1)",
            run=run_name(protocol, network),
            outcome="complete",
            verdict="violated" if runs[run_name(protocol, network)] else "clean",
            violations=int(runs[run_name(protocol, network)]),
            error="",
            deliveries=3,
            causal_violations=int(runs[run_name(protocol, network)]),
        )
        for index, (protocol, network) in enumerate(pairs())
    ]
    write_table(folder / "study" / "protocols", protocols, schemas.PROTOCOLS)
    situations = ("in general, at this size", "low latency on lan", "without causal order: fifo")
    advice = [
        {
            "place": index,
            "situation": situation,
            "sentence": f"{situation}: as measured.",
            "protocols": [] if "without" in situation else ["hybrid"],
        }
        for index, situation in enumerate(situations)
    ]
    write_table(folder / "study" / "recommendation", advice, schemas.RECOMMENDATION)
    note = {
        "version": 1,
        "sources": [],
        "seed": 1,
        "run": "talk",
        "runs": 1,
        "messages": 2,
        "replayed": 2,
        "quiet_ns": None,
        "processes": 3,
        "protocols": list(PROTOCOLS),
        "networks": list(NETWORKS),
        "left_out": {"vector": "only broadcasts"},
        "sound": True,
        "title": "talk: 3 processes, 2 messages, 3 copies within 5 µs",
        "sentences": ["0 % of all 1 pairs of messages are concurrent"],
        "told": "talk, the only run: all 2 messages, between 3 processes",
    }
    write_note(folder / "_study.json", {**note, **MADE})


SIZES = (4, 8, 16)


def write_sweep(folder: Path, waves: int = 2, *, tables: bool = True) -> Path:
    """Write a sweep of two protocols and three sizes; later waves repeat runs of the first."""
    from beforehand.simulator import Scenario

    rows = []
    for index, size in enumerate(SIZES):
        for protocol in PROTOCOLS:
            point = Scenario(protocol=protocol, processes=size, messages=2, loss=0.1)
            row = sample_row(
                schemas.RESULTS,
                10 * index + PROTOCOLS.index(protocol),
                run=point.digest(),
                protocol=protocol,
                workload="uniform",
                network="default",
                setting="messages=2, loss=0.1",
                processes=size,
                messages=2,
                seed=1,
                outcome="complete",
                violations=None,
                scenario=json.dumps(point.to_dict(), sort_keys=True),
                series=[],
            )
            rows.append(row)
    write_note(folder / "_sweep.json", {"holds": "the results of beforehand sweep"})
    for number in range(waves):
        wave = f"{number + 1:05}-0123abcd"
        # Runs that a later wave repeats have different figures in the first one.
        wave_rows = [{**row, "wave": wave} for row in (rows if not number else rows[number::waves])]
        if waves > 1 and not number:
            wave_rows = [{**row, "latency_mean": 0.5} for row in wave_rows]
        write_table(folder / "results" / wave, wave_rows, schemas.RESULTS)
        runs = [row["run"] for row in wave_rows]
        note = {"name": wave, "runs": runs, "failed": [], "traced": [], "audited": False}
        grid = f"beforehand sweep --out {folder}"
        commands: dict[str, Any] = {"command": f"{grid} --protocol hybrid,fifo"}
        commands |= {
            "commands": {row["run"]: f"{grid} --protocol {row['protocol']}" for row in wave_rows}
        }
        write_note(folder / "waves" / f"{wave}.json", {**note, **MADE, **commands})
    if tables:
        _write_metrics(folder / "metrics")
    return folder


def _write_metrics(folder: Path) -> None:
    claims = {name: "O(1)" for name in schemas.TABLE1.names if name.startswith("claimed_")}
    table1 = [
        sample_row(schemas.TABLE1, 0, protocol="hybrid", **claims, metadata_exponent=0.01),
        sample_row(schemas.TABLE1, 1, protocol="fifo", noncausal_ms=None, work_exponent=None),
    ]
    write_table(folder / "table1", table1, schemas.TABLE1)
    exponents = [
        sample_row(
            schemas.EXPONENTS,
            index,
            protocol=protocol,
            network="default",
            workload="uniform",
            setting="",
            processes=None,
            y=y,
            x="n",
            exponent=0.25 * index,
            r2=0.9,
        )
        for index, (protocol, y) in enumerate(
            (protocol, y) for protocol in PROTOCOLS for y in ("metadata", "state", "work")
        )
    ]
    write_table(folder / "exponents", exponents, schemas.EXPONENTS)


def write_cluster(folder: Path, people: Sequence[str] = PEOPLE, *, clean: bool = True) -> Path:
    """Write a cluster of three processes with its trace."""
    _write_traces(folder, "cluster-hybrid-sps-1", False, people)
    figures = (
        "sent",
        "delivered",
        "reactions",
        "held",
        "most_held",
        "lost",
        "doubled",
        "held_back",
    )
    processes = [
        {
            "name": name,
            "life": 1,
            "killed": False,
            **{figure: 100 * (index + 1) + column for column, figure in enumerate(figures)},
            "resent": index,
            "round_trip_ms": 0.5,
            "damaged": 0,
            "misbehaved": 0,
            "events": [],
        }
        for index, name in enumerate(people)
    ]
    plan = {"nodes": 3, "messages": 2, "protocol": "hybrid-sps", "payload": 32, "seed": 1}
    faults = {"loss": 0.1, "duplicate": 0.05, "reorder": 0.2, "kill": 0, "restart": False}
    verdict = {
        "clean": clean,
        "complete": True,
        "sends": 2,
        "deliveries": 3,
        "held": 1,
        "violations": {} if clean else {"causal": 1},
        "lost": 0,
        "damaged": 0,
        "sentences": [] if clean else ["carol delivered bob#1 before alice#1."],
    }
    write_note(
        folder / "_cluster.json",
        {
            "plan": plan | faults,
            "seconds": 1.25,
            "processes": processes,
            "verdict": verdict,
            "encrypted": True,
            **MADE,
            "command": f"beforehand cluster --trace {folder}",
        },
    )
    return folder


def _write_traces(folder: Path, run: str, late: bool, people: Sequence[str]) -> None:
    """Write the traces of real processes, a file for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in people:
        rows = [event for event in events(run, late, people) if event["process"] == name]
        table = pa.Table.from_pylist(rows, schema=schemas.EVENTS)
        table = table.replace_schema_metadata({"beforehand-trace": "1"})
        pq.write_table(table, folder / f"n{people.index(name) + 1}-00001.parquet")


def write_comparison(folder: Path, people: Sequence[str] = PEOPLE, **note: Any) -> Path:
    """Write a chat in which the third person gets the answer first, with fifo only."""
    runs = []
    for index, protocol in enumerate(("fifo", "hybrid-sps")):
        late = protocol == "fifo"
        _write_traces(folder / protocol, f"cluster-{protocol}-1", late, people)
        runs.append(
            sample_row(schemas.COMPARED, index)
            | {"protocol": protocol, "causal": not late, "clean": not late, "complete": True}
            | {"sends": 2, "deliveries": 3, "violations": int(late), "harm": int(late)}
        )
    question, answer = (f"{people[0]}#1", f"{people[1]}#1")
    incident = {
        "process": people[2],
        "sentence": f"{people[2]} read the answer of {people[1]} first.",
        "texts": ["Pizza?", "Pizza!"],
        "runs": {run["protocol"]: {"chain": [question, answer], "screen": []} for run in runs},
    }
    write_note(
        folder / "_comparison.json",
        {
            "program": "chat",
            "title": "A group chat",
            "harm": "answers read before what they answer",
            "names": list(people),
            "seed": 1,
            "attempts": 1,
            "loss": 0.05,
            "duplicate": 0.05,
            "reorder": 0.2,
            "runs": runs,
            "incident": incident,
            **MADE,
            "command": "beforehand demo",
            **note,
        },
    )
    return folder


def write_demo(folder: Path, people: Sequence[str] = PEOPLE) -> Path:
    """Write a complete demo: two comparisons, a cluster with its audit, a study, and a sweep."""
    for name in ("chat", "shop"):
        write_comparison(folder / name, people)
    write_cluster(folder / "cluster", people)
    runs = {"cluster-hybrid-sps-1": False}
    write_audit(folder / "cluster-audit", runs, people, sources=[str(folder / "cluster")])
    write_study(folder / "shop-study", people)
    write_sweep(folder / "growth")
    write_note(
        folder / "_demo.json", {"version": 1, "full": True, **MADE, "command": "beforehand demo"}
    )
    return folder
