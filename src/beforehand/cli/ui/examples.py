"""The examples of every help page, and the page of the documentation that it links to.

Tests run all of them, in a folder with the files that they name, so that none can go stale.
"""

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A command line, and what it does."""

    does: str
    command: str


def _examples(text: str) -> tuple[Example, ...]:
    """Comments and command lines, in turn."""
    lines = text.strip().splitlines()
    comments = (line.removeprefix("# ") for line in lines[::2])
    return tuple(map(Example, comments, lines[1::2]))


FRONT: Final = _examples("""
# See it matter, in a quarter of a minute
beforehand demo --open
# What would causal order cost on your workload, and which protocol fits?
beforehand study spans/*.json --out study
# Eight processes on a network that loses every tenth packet
beforehand cluster --nodes 8 --loss 10%
""")
FRONT_PAGE: Final = "docs/command-line.md; each command explains itself with --help"

EXAMPLES: Final = {
    "demo": _examples("""
# A chat and a shop on a bad network, in the folder beforehand-demo
beforehand demo --open
# Everything: also an audit, two studies and a sweep on Spark
beforehand demo --full
# Another seed, another folder
beforehand demo --seed 7 --out another-demo
"""),
    "protocols": _examples("""
# A table of all protocols
beforehand protocols
# The same for programs
beforehand protocols --json
"""),
    "doctor": _examples("""
# What this machine has, what it lacks and what that costs
beforehand doctor
# The same for programs
beforehand doctor --json
"""),
    "study": _examples("""
# The built-in workload
beforehand study --out study
# Spans of your services, on two kinds of network
beforehand study spans/*.json --out study --network lan,wan
# A list of messages: who sent, who received, when (in milliseconds)
beforehand study calls.csv --out study --map sender=1,receiver=2,time=3:ms
"""),
    "ingest": _examples("""
# OpenTelemetry, Jaeger or Zipkin files
beforehand ingest spans/ --out messages
# A table with columns of your own
beforehand ingest calls.csv --out messages --map sender=1,receiver=2
"""),
    "characterise": _examples("""
# The largest run
beforehand characterise messages
# The same for programs
beforehand characterise messages --json
"""),
    "sweep": _examples("""
# Two protocols, each with three sizes: six runs
beforehand sweep --protocol hybrid,rst --processes 8,16,32 --out sweep
# Show the results that the folder already holds
beforehand sweep --out sweep
# A grid from a file, and its tables
beforehand sweep grid.toml --out sweep --tables
"""),
    "audit": _examples("""
# The traces of a cluster
beforehand audit traces
# Keep the verdicts as tables
beforehand audit traces --out verdicts
"""),
    "node": _examples("""
# In one terminal
beforehand node bob --listen 127.0.0.1:7002
# In another; then type `bob: hello`
beforehand node alice --peer bob=127.0.0.1:7002
# From a script, with output for programs
echo 'bob: hello' | beforehand node alice --peer bob=127.0.0.1:7002 --json
"""),
    "cluster": _examples("""
# A network that loses, duplicates and reorders
beforehand cluster --nodes 8 --loss 10% --duplicate 5% --reorder 10%
# Kill two processes and restart them; keep the traces
beforehand cluster --kill 2 --restart --trace traces
# A protocol that does not preserve causal order, on a network that reorders
beforehand cluster --protocol fifo --reorder 20%
"""),
    "keygen": _examples("""
# A new file that only you may read
beforehand keygen --out cluster.key
"""),
    "diagram": _examples("""
# An interactive page to zoom and click through
beforehand diagram traces --html --out diagram.html
# The surroundings of one message, as a picture for a document
beforehand diagram run --around p1#3 --svg --out diagram.svg
# Both runs of the demo's chat, side by side
beforehand diagram demo/chat/fifo --compare demo/chat/hybrid-sps
"""),
    "report": _examples("""
# From the results of a study
beforehand report study
"""),
    "simulate": _examples("""
# 100 processes, each with 100 messages
beforehand simulate
# A hot spot on a bad network, every delivery judged
beforehand simulate --workload hotspot:10%,80% --loss 5% --audit
# Keep the trace, for audit and diagram
beforehand simulate --processes 10 --messages 20 --out run
"""),
    "check": _examples("""
# Three processes, two messages each
beforehand check --protocol mattern
# A protocol with a known error: the shortest run that shows it
beforehand check --protocol cykas-unsafe --program 'a>b a>c b>a b>c c>b'
# With up to one lost frame, for a minute at most
beforehand check --sends 2,1,0 --faults loss=1 --time-limit 1m
"""),
}

PAGES: Final = {
    "demo": "docs/demo.md",
    "protocols": "docs/papers.md",
    "doctor": "docs/command-line.md",
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
