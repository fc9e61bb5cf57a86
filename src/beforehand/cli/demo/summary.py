"""What a demo has shown, in a few sentences: made of the plain values that its steps returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from beforehand.results.format import listed

Told = dict[str, Any]

# How those situations begin that are told of a study: what to choose, and what the controls break.
CHOICES: Final = ("in general", "many processes")
WITHOUT: Final = "without causal order"
FLAT: Final = 0.1  # an exponent below this is no growth


def rows(told: Told) -> list[tuple[str, str]]:
    """A few words on what it is about, and a sentence."""
    return [
        ("a real cluster", cluster(told["cluster"])),
        ("its audit", audit(told["audit"])),
        *(("its traffic", sentence) for sentence in study(told["cluster study"])),
        *(("a shop's traffic", sentence) for sentence in study(told["shop study"])),
        *(("growth", sentence) for sentence in growth(told["growth"])),
    ]


def cluster(told: Told) -> str:
    """What happened to the processes, and what they made of it."""
    plan, verdict = told["plan"], told["verdict"]
    lost, doubled, late = (
        sum(each[figure] for each in told["processes"])
        for figure in ("lost", "doubled", "held_back")
    )
    network = (
        f"{plan['nodes']} processes, {verdict['sends']:,} messages, encrypted; of their datagrams "
        f"{lost:,} were lost, {doubled:,} doubled and {late:,} late"
    )
    if verdict["clean"]:
        return (
            f"{network}. {verdict['deliveries']:,} deliveries, each once and in causal order; "
            f"{verdict['held']:,} messages had to wait for that."
        )
    wrong = [f"{count:,} {kind}" for kind, count in verdict["violations"].items()]
    wrong += [f"{verdict[kind]:,} {kind}" for kind in ("lost", "damaged") if verdict[kind]]
    return f"{network}. BROKEN: {', '.join(wrong)}. {' '.join(verdict['sentences'][:1])}".rstrip()


def audit(told: Told) -> str:
    """The verdict of the pipeline."""
    what = f"{told['events']:,} events in {told['runs']:,} run{'s' if told['runs'] != 1 else ''}"
    if told["exit_code"] == 0:
        return f"{what}, judged on Spark: clean{_gaps(told)}."
    if told["violated"]:
        return f"{what}, judged on Spark: BROKEN in {told['violated']:,}; see {told['out']}."
    files = "".join(f"; {file}: {why}" for file, why in sorted(told["unreadable"].items()))
    return f"{what}: not all could be audited{files}; see {told['out']}."


def _gaps(told: Told) -> str:
    return f", {told['incomplete']:,} with gaps" if told["incomplete"] else ""


def study(told: Told) -> Iterator[str]:
    """What to choose, and what goes wrong without causal order."""
    advice = told["recommendation"]
    chosen = [each for each in advice if each["situation"].startswith(CHOICES)]
    # The first control is the one that people have: the order of each sender, as of TCP or a queue.
    controls = [each for each in advice if each["situation"].startswith(WITHOUT)]
    for each in (*chosen, *controls[:1]):
        situation = each["situation"]
        yield f"{situation[:1].upper()}{situation[1:]}: {each['sentence']}"
    if not told["sound"]:
        yield f"NOT SOUND: a run failed or a protocol broke its promise; see {told['out']}."


def growth(told: Told) -> Iterator[str]:
    """Whose metadata grows with the number of processes, as measured."""
    if told["failed"]:
        yield f"FAILED: {told['failed']:,} of {told['runs']:,} runs; see {told['out']}."
    fitted = [row for row in told["table1"] if row["metadata_exponent"] is not None]
    fitted.sort(key=lambda row: -row["metadata_exponent"])
    growing = [
        f"n^{row['metadata_exponent']:.2f} with {row['protocol']}"
        for row in fitted
        if row["metadata_exponent"] >= FLAT
    ]
    flat = [row["protocol"] for row in fitted if row["metadata_exponent"] < FLAT]
    what = f"From {told['processes'][0]} to {told['processes'][-1]} processes, metadata per message"
    if growing:
        yield f"{what} grows like {listed(growing)}."
    if flat:
        yield f"{what} does not grow with {listed(flat)}."
