"""The examples of every help page, and the page of the documentation that it links to.

A test parses all of them, so that none can go stale.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A command line, and what it does."""

    does: str
    command: str


FRONT: Final = (
    Example(
        "See everything once: a real cluster, its audit, a study, a report",
        "beforehand demo",
    ),
    Example(
        "What would causal order cost on your workload, and which protocol fits?",
        "beforehand study traces/*.json --out study",
    ),
    Example(
        "Eight processes on a network that loses every tenth packet",
        "beforehand cluster --nodes 8 --loss 0.1",
    ),
)
FRONT_PAGE: Final = "docs/command-line.md; each command explains itself with --help"

EXAMPLES: Final[dict[str, tuple[Example, ...]]] = {
    "demo": (
        Example("Everything, in the folder beforehand-demo", "beforehand demo"),
        Example("Another seed, another folder", "beforehand demo --seed 7 --out another-demo"),
    ),
    "protocols": (
        Example("A table of all protocols", "beforehand protocols"),
        Example("The same for programs", "beforehand protocols --json"),
    ),
    "study": (
        Example("The built-in workload", "beforehand study --out study"),
        Example(
            "Spans of your services, on two kinds of network",
            "beforehand study traces/*.json --out study --network lan,wan",
        ),
        Example(
            "A list of messages: who sent, who received, when (in milliseconds)",
            "beforehand study calls.csv --out study --map sender=1,receiver=2,time=3:ms",
        ),
    ),
    "ingest": (
        Example("OpenTelemetry, Jaeger or Zipkin files", "beforehand ingest spans/ --out messages"),
        Example(
            "A table with columns of your own",
            "beforehand ingest calls.csv --out messages --map sender=1,receiver=2",
        ),
    ),
    "characterise": (
        Example("The largest run", "beforehand characterise messages"),
        Example(
            "A certain run, for programs", "beforehand characterise messages --run day-1 --json"
        ),
    ),
    "sweep": (
        Example(
            "Two protocols, each with three sizes: six runs",
            "beforehand sweep --protocol hybrid,rst --processes 8,16,32 --out sweep",
        ),
        Example("Show the results that the folder already holds", "beforehand sweep --out sweep"),
        Example(
            "A grid from a file, and its tables", "beforehand sweep grid.toml --out sweep --tables"
        ),
    ),
    "audit": (
        Example("The traces of a cluster", "beforehand audit traces"),
        Example("Keep the verdicts as tables", "beforehand audit traces --out verdicts"),
    ),
    "node": (
        Example("In one terminal", "beforehand node bob --listen 127.0.0.1:7002"),
        Example(
            "In another; then type `bob: hello`",
            "beforehand node alice --peer bob=127.0.0.1:7002",
        ),
        Example(
            "From a script, with output for programs",
            "echo 'bob: hello' | beforehand node alice --peer bob=127.0.0.1:7002 --json",
        ),
    ),
    "cluster": (
        Example(
            "A network that loses, duplicates and reorders",
            "beforehand cluster --nodes 8 --loss 0.1 --duplicate 0.05 --reorder 0.1",
        ),
        Example(
            "Kill two processes and restart them; keep the traces",
            "beforehand cluster --kill 2 --restart --trace traces",
        ),
        Example(
            "A protocol that does not preserve causal order", "beforehand cluster --protocol fifo"
        ),
    ),
    "keygen": (
        Example("A new file that only you may read", "beforehand keygen --out cluster.key"),
    ),
    "diagram": (
        Example(
            "An interactive page to zoom and click through",
            "beforehand diagram traces --html --out diagram.html",
        ),
        Example(
            "The surroundings of one message, as a picture for a document",
            "beforehand diagram traces --around alice#3 --svg --out diagram.svg",
        ),
    ),
    "report": (Example("From the results of a study", "beforehand report study"),),
    "simulate": (
        Example("100 processes, each with 100 messages", "beforehand simulate"),
        Example(
            "A hot spot on a bad network, every delivery judged",
            "beforehand simulate --workload hotspot:0.1,0.8 --loss 0.05 --audit",
        ),
        Example(
            "Keep the trace, for audit and diagram",
            "beforehand simulate --processes 10 --messages 20 --out run",
        ),
    ),
    "check": (
        Example("Three processes, two messages each", "beforehand check --protocol mattern"),
        Example(
            "A protocol with a known error: the shortest run that shows it",
            "beforehand check --protocol cykas-unsafe --program 'a>b a>c b>a b>c c>b'",
        ),
        Example(
            "With up to one lost frame, for a minute at most",
            "beforehand check --sends 2,1,0 --faults loss=1 --time-limit 1m",
        ),
    ),
}

PAGES: Final = {
    "demo": "docs/report.md",
    "protocols": "docs/papers.md",
    "study": "docs/study.md",
    "ingest": "docs/ingest.md",
    "characterise": "docs/characterise.md",
    "sweep": "docs/sweep.md",
    "audit": "docs/audit.md",
    "node": "docs/cluster-command.md",
    "cluster": "docs/cluster-command.md",
    "keygen": "docs/security.md",
    "diagram": "docs/diagrams.md",
    "report": "docs/report.md",
    "simulate": "docs/simulator.md",
    "check": "docs/checker.md",
}
