"""A sample report with one part of every kind and figures that are easy to distinguish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from beforehand.report.diagram.model import Arrow, Diagram, DiagramMessage, Flag, Mark
from beforehand.report.model import (
    AdviceView,
    AuditView,
    ClusterView,
    MissingPart,
    Provenance,
    ReportView,
    RunView,
    StudyView,
    SweepView,
    TableView,
    Value,
    ViolationView,
)
from beforehand.results.schema import Field

MADE: Final = Provenance(
    "beforehand study --out shop", "2026-11-16T18:05:30+00:00", {"Python": "3.11", "cores": "2"}
)
NETWORKS: Final = ("lan", "mobile")
PROTOCOLS: Final = ("hybrid", "rst", "fifo")
SIZES: Final = (8, 16, 32)


def table(name: str, columns: str, rows: list[tuple[Value, ...]], runs: bool = False) -> TableView:
    """Return a table whose columns are given as `name:unit`; the default unit is text."""
    units = [column.partition(":") for column in columns.split()]
    return TableView(
        name,
        f"the table {name}",
        tuple(Field(n, f"On {n}.", unit=unit or "text") for n, _, unit in units),  # type: ignore[arg-type]
        tuple(rows),
        tuple(f"{name}-{index}" for index in range(len(rows))) if runs else (),
    )


def protocols() -> TableView:
    """Return a study's table: on mobile, fifo violates 7 of 100 deliveries; one figure is unknown."""
    rows: list[tuple[Value, ...]] = []
    for network, slow in zip(NETWORKS, (1, 1000), strict=True):
        for index, protocol in enumerate(PROTOCOLS):
            broken = 7 if (protocol, network) == ("fifo", "mobile") else 0
            rows.append(
                (
                    protocol,
                    network,
                    protocol != "fifo",
                    "complete",
                    "violated" if broken else "clean",
                    broken,
                    broken,
                    100,
                    223389.89596015494 * slow + index,
                    461327.0 * slow * (index + 1),
                    3504.6043165467627 if protocol == "hybrid" else 0.0,
                    (8.58, 292.0, 8.63)[index],
                    (1.33, 0.0, 1.06)[index],
                    1584.97,
                    66 + index,
                    None if (protocol, network) == ("rst", "lan") else 3 * slow + index,
                    "",
                )
            )
    return table(
        "shop-protocols",
        "protocol network causal outcome verdict violations:count causal_violations:count "
        "deliveries:count latency_mean:time latency_p99:time held_mean:time "
        "metadata_per_message:bytes control_per_message:number wire_per_message:bytes "
        "integers_peak:count waiting_peak:count error",
        rows,
        runs=True,
    )


def runs_of(results: TableView) -> tuple[RunView, ...]:
    """Return a run for each row of a table."""
    return tuple(
        RunView(
            anchor or "",
            f"{index:016x}",
            f"{row[0]} on {row[1]}",
            replace(MADE, command=f"beforehand study --out shop --protocol {row[0]}"),
            table(
                f"{anchor}-figures",
                "figure value:number title unit meaning",
                [
                    ("latency_mean", row[8], "latency", "time", "Mean."),
                    ("outcome", "complete", "outcome", "text", "How it ended."),
                ],
            ),
            '{\n  "seed": 1\n}',
            "beforehand diagram shop --run 1",
        )
        for index, (row, anchor) in enumerate(zip(results.rows, results.runs, strict=True))
    )


def diagram(run: str = "run-1") -> Diagram:
    """Return a diagram in which bob delivers the second message of alice before the first."""
    return Diagram(
        run=run,
        processes=("alice@00aa", "bob@00bb"),
        labels=("alice", "bob"),
        marks=(
            Mark(0, 1, "send", 0, 0, 0, 1, "", 9, 3),
            Mark(0, 2, "send", 10, 1, 1, 1, "", 9, 3),
            Mark(1, 1, "deliver", 20, 2, 1, 0, "", 9, 3),
            Mark(1, 2, "deliver", 30, 3, 0, 0, "", 9, 3),
        ),
        messages=(DiagramMessage(0, 1, (1,), 0, 9), DiagramMessage(0, 2, (1,), 1, 9)),
        arrows=(Arrow("message", 0, 3, 0), Arrow("message", 1, 2, 1)),
        bars=(),
        flags=(Flag(3, "too late"),),
        axis="order",
        origin_ns=0,
        selected=None,
        note="a part",
    )


def violation(number: int = 1, kind: str = "causal", drawn: bool = True) -> ViolationView:
    """Return a violation in the run of fifo on mobile."""
    return ViolationView(
        run="0000000000000005",
        anchor="shop-protocols-5",
        title="fifo on mobile",
        kind=kind,
        sentence=f"bob@00bb delivered alice@00aa#2 before alice@00aa#1: violation {number}.",
        diagram=diagram() if drawn else None,
    )


def audit(violations: tuple[ViolationView, ...] = (), name: str = "shop-audit") -> AuditView:
    """Return an audit with the verdicts on two runs."""
    verdicts = table(
        f"{name}-verdicts",
        "run title verdict events:count causal:count",
        [
            ("0000000000000005", "fifo on mobile", "violated" if violations else "clean", 500, 7),
            ("0000000000000000", "hybrid on lan", "clean", 400, 0),
        ],
    )
    title = f"the audit {name}"
    return AuditView(
        name, title, f"shop/{name}", MADE, verdicts, violations, len(violations), ("noted",)
    )


def study() -> StudyView:
    """Return a study with all optional parts."""
    results = protocols()
    return StudyView(
        name="shop",
        title="shop: 16 processes, 1,687 messages",
        folder="demo/shop",
        made=MADE,
        replayed="Replayed: all of it.",
        sentences=("47 % of the messages are replies",),
        advice=(
            AdviceView(
                "in general", ("hybrid", "rst"), "hybrid: on every network close to the best."
            ),
            AdviceView("without causal order", (), "7 of 100 on mobile."),
        ),
        protocols=results,
        characteristics=(
            table("shop-processes", "process sent:count", [("mail", 12), ("web", 30)]),
        ),
        skipped=(("newtop", "only broadcasts"),),
        runs=runs_of(results),
        audit=audit((violation(), violation(2, "fifo"), violation(3, "lost", drawn=False))),
    )


def sweep() -> SweepView:
    """Return a sweep over sizes, where metadata grows as n^2 with rst and stays constant with hybrid."""
    rows: list[tuple[Value, ...]] = [
        (
            protocol,
            n,
            seed,
            float(n * n + seed if protocol == "rst" else 7),
            5e6 + n,
            30.0,
            2e-5,
            None,
        )
        for protocol in ("hybrid", "rst")
        for n in SIZES
        for seed in (1, 3)
    ]
    results = table(
        "growth-results",
        "protocol processes:count seed:count metadata_bytes_per_message:bytes latency_mean:time "
        "integers_mean:number seconds_per_message:seconds error",
        rows,
        runs=True,
    )
    table1 = table(
        "growth-table1",
        "protocol claimed_message_space claimed_process_space claimed_noncausal claimed_in_transit "
        "claimed_liveness runs:count stalled:count metadata_bytes:bytes metadata_exponent:exponent "
        "integers_mean:number state_exponent:exponent noncausal_ms:number most_in_transit:count extra",
        [
            (
                "hybrid",
                "O(1)",
                "O(i+o+b)",
                "sender, O(r)",
                "unlimited",
                "yes",
                6,
                0,
                7.0,
                0.0123,
                30.0,
                0.4,
                0.5,
                9,
                "x",
            ),
            (
                "rst",
                "O(n^2)",
                "O(n^2 b)",
                "no, 0",
                "unlimited",
                "yes",
                6,
                1,
                400.5,
                1.94,
                300.0,
                None,
                0.0,
                9,
                "y",
            ),
            (
                "mattern",
                "O(1)",
                "O(b)",
                "sender, O(b r)",
                "1",
                "yes",
                6,
                0,
                7.5,
                -0.01,
                12.0,
                -0.3,
                3.0,
                1,
                "z",
            ),
        ],
    )
    exponents = table(
        "growth-exponents",
        "protocol y x exponent:exponent r2:share",
        [("rst", "metadata", "n", 1.9400000000000002, 0.999), ("hybrid", "state", "n", 0.4, 0.5)],
    )
    made = replace(MADE, command="beforehand sweep --out growth")
    title = "growth: 12 runs of 2 protocols"
    runs = tuple(
        replace(runs_of(protocols())[0], anchor=anchor or "", figures=protocols_figures(anchor))
        for anchor in results.runs
    )
    return SweepView("growth", title, "demo/growth", made, results, table1, exponents, runs)


def protocols_figures(anchor: str | None) -> TableView:
    """Return the figures of one run of the sweep."""
    return table(f"{anchor}-figures", "figure value:number", [("sent", 4)])


def cluster() -> ClusterView:
    """Return a cluster of two processes."""
    made = replace(
        MADE, command="beforehand cluster --trace cluster", environment={"Python": "3.12"}
    )
    rows: list[tuple[Value, ...]] = [("n1", 20, 60, 2), ("n2", 40, 40, 3)]
    return ClusterView(
        name="cluster",
        title="cluster: hybrid-sps, 2 processes",
        folder="demo/cluster",
        made=made,
        clean=True,
        sentences=("The network was made bad.",),
        processes=table("cluster-processes", "name sent:count delivered:count lost:count", rows),
        diagram=diagram("cluster-run"),
        diagram_command="beforehand diagram demo/cluster",
    )


def everything() -> ReportView:
    """Return a report with one part of every kind."""
    return ReportView(
        "demo",
        replace(MADE, command="beforehand demo --out demo"),
        (cluster(),),
        (study(),),
        (sweep(),),
        (audit(name="cluster-audit"),),
        (MissingPart("the audit of another study", "it was not finished; run it again"),),
    )


# Fields with identifiers of the pipeline itself: names of tables and columns, anchors, kinds of values
# and marks. All others may hold any text.
TRUSTED: Final = {
    "TableView.name",
    "TableView.runs",
    "Field.name",
    "Field.type",
    "Field.unit",
    "RunView.anchor",
    "ViolationView.anchor",
    "StudyView.name",
    "SweepView.name",
    "AuditView.name",
    "ClusterView.name",
    "Mark.kind",
    "Arrow.kind",
    "Bar.kind",
    "Diagram.axis",
}


def poisoned(value: Any, text: str, where: str = "") -> Any:
    """Return a copy with `text` appended to every string from outside."""
    if where in TRUSTED:
        return value
    if isinstance(value, str):
        return value + text
    if isinstance(value, tuple):
        return tuple(poisoned(item, text) for item in value)
    if isinstance(value, Mapping):
        return {poisoned(k, text): poisoned(v, text) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        changed = {
            field.name: poisoned(getattr(value, field.name), text, f"{kind}.{field.name}")
            for field in fields(value)
        }
        return replace(value, **changed)
    return value
