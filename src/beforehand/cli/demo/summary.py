"""The results of a demo in a few sentences, from the plain values that its steps returned."""

from collections.abc import Iterator
from typing import Any, Final

from beforehand.results.format import counted, listed

StepResult = dict[str, Any]

# Beginnings of the situations that are quoted of a study: what to choose, and what controls break.
CHOICES: Final = ("in general", "many processes")
WITHOUT: Final = "without causal order"
FLAT: Final = 0.1  # an exponent below this counts as constant


def rows(results: StepResult) -> list[tuple[str, str]]:
    """A topic and a sentence in each row."""
    return [
        ("a real cluster", cluster(results["cluster"])),
        ("its audit", audit(results["audit"])),
        *(("its workload", sentence) for sentence in study(results["cluster study"])),
        *(("a shop's workload", sentence) for sentence in study(results["shop study"])),
        *(("growth", sentence) for sentence in growth(results["growth"])),
    ]


def cluster(result: StepResult) -> str:
    """What the network did, and the verdict."""
    plan, verdict = result["plan"], result["verdict"]
    lost, doubled, late = (
        sum(process[figure] for process in result["processes"])
        for figure in ("lost", "doubled", "held_back")
    )
    network = (
        f"{plan['nodes']} processes, {verdict['sends']:,} messages, encrypted; of their datagrams "
        f"{lost:,} were lost, {doubled:,} duplicated and {late:,} delayed"
    )
    if verdict["clean"]:
        return (
            f"{network}. {verdict['deliveries']:,} deliveries, each once and in causal order; "
            f"{verdict['held']:,} messages were held for that."
        )
    problems = [f"{count:,} {kind}" for kind, count in verdict["violations"].items()]
    problems += [f"{verdict[kind]:,} {kind}" for kind in ("lost", "damaged") if verdict[kind]]
    return (
        f"{network}. BROKEN: {', '.join(problems)}. {' '.join(verdict['sentences'][:1])}".rstrip()
    )


def audit(result: StepResult) -> str:
    """The verdict of the pipeline."""
    what = f"{result['events']:,} events in {counted(result['runs'], 'run')}"
    if result["exit_code"] == 0:
        return f"{what}, judged by the pipeline: clean{_gaps(result)}."
    if result["violated"]:
        return f"{what}, judged by the pipeline: BROKEN in {result['violated']:,}; see {result['out']}."
    files = "".join(f"; {file}: {why}" for file, why in sorted(result["unreadable"].items()))
    return f"{what}: not all could be audited{files}; see {result['out']}."


def _gaps(result: StepResult) -> str:
    return f", {result['incomplete']:,} with gaps" if result["incomplete"] else ""


def study(result: StepResult) -> Iterator[str]:
    """What to choose, and what goes wrong without causal order."""
    advice = result["recommendation"]
    chosen = [row for row in advice if row["situation"].startswith(CHOICES)]
    # The first control is what most people use: FIFO per sender, as with TCP or a queue.
    controls = [row for row in advice if row["situation"].startswith(WITHOUT)]
    for row in (*chosen, *controls[:1]):
        situation = row["situation"]
        yield f"{situation[:1].upper()}{situation[1:]}: {row['sentence']}"
    if not result["sound"]:
        yield f"NOT SOUND: a run failed or a protocol broke its promise; see {result['out']}."


def growth(result: StepResult) -> Iterator[str]:
    """Which protocols' metadata grows with the number of processes, as measured."""
    if result["failed"]:
        yield f"FAILED: {result['failed']:,} of {result['runs']:,} runs; see {result['out']}."
    fitted = [row for row in result["table1"] if row["metadata_exponent"] is not None]
    fitted.sort(key=lambda row: -row["metadata_exponent"])
    growing = [
        f"n^{row['metadata_exponent']:.2f} with {row['protocol']}"
        for row in fitted
        if row["metadata_exponent"] >= FLAT
    ]
    flat = [row["protocol"] for row in fitted if row["metadata_exponent"] < FLAT]
    what = f"From {result['processes'][0]} to {result['processes'][-1]} processes, metadata per message"
    if growing:
        yield f"{what} grows like {listed(growing)}."
    if flat:
        yield f"{what} does not grow with {listed(flat)}."
