"""Two runs of the same workload: which deliveries come in another order, and what is wrong where.

Processes and messages of the two runs are matched by their labels, because real nodes have other full
names in each run. At each process, the deliveries that both runs have are two sequences of the same
messages. As few of them as possible are regarded as moved: all but a longest subsequence that both
sequences share.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from beforehand.report.diagram.model import Diagram
from beforehand.results.format import counted

Delivery = tuple[
    str, str, int
]  # of a message at a process: labels of the process and of its sender, number


@dataclass(frozen=True)
class RunComparison:
    """Two diagrams, with the deliveries marked that come in another order."""

    left: Diagram
    right: Diagram
    common: int  # deliveries that both show
    moved: int  # of these, in another order
    only_left: int  # deliveries that only one shows
    only_right: int
    wrong_left: tuple[str, ...]  # sentences on what is wrong in one and not in the other
    wrong_right: tuple[str, ...]

    @property
    def summary(self) -> str:
        """In a few sentences."""
        return " ".join(
            [
                f"{counted(self.moved, 'delivery', 'deliveries')} of {self.common:,} "
                f"{'comes' if self.moved == 1 else 'come'} in a different order.",
                f"Wrong only on the left: {_count(len(self.wrong_left))}; "
                f"only on the right: {_count(len(self.wrong_right))}.",
                *self._missing(),
            ]
        )

    def _missing(self) -> Iterator[str]:
        if self.only_left or self.only_right:
            left = counted(self.only_left, "delivery is", "deliveries are")
            yield f"{left} only on the left, and {_count(self.only_right)} only on the right."


def compare(left: Diagram, right: Diagram) -> RunComparison:
    """Compare two diagrams of the same workload."""
    deliveries = [_deliveries(diagram) for diagram in (left, right)]
    common = deliveries[0].keys() & deliveries[1].keys()
    moved = _moved(*(_by_process(diagram, common) for diagram in deliveries))
    wrong = [_wrong(diagram) for diagram in (left, right)]
    return RunComparison(
        left=_marked(left, deliveries[0], moved),
        right=_marked(right, deliveries[1], moved),
        common=len(common),
        moved=len(moved),
        only_left=len(deliveries[0]) - len(common),
        only_right=len(deliveries[1]) - len(common),
        wrong_left=tuple(text for key, text in wrong[0].items() if key not in wrong[1]),
        wrong_right=tuple(text for key, text in wrong[1].items() if key not in wrong[0]),
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else "none"


def _key(diagram: Diagram, mark: int) -> Delivery | None:
    about = diagram.marks[mark]
    if about.kind != "deliver" or about.message is None:
        return None
    message = diagram.messages[about.message]
    return diagram.labels[about.process], diagram.labels[message.sender], message.mid


def _deliveries(diagram: Diagram) -> dict[Delivery, int]:
    """Each delivery and its mark, in the order of each process; of duplicates the first."""
    marks: dict[Delivery, int] = {}
    for mark in range(len(diagram.marks)):
        if (key := _key(diagram, mark)) is not None:
            marks.setdefault(key, mark)
    return marks


def _wrong(diagram: Diagram) -> dict[Delivery, str]:
    """What is wrong with which delivery."""
    keys = ((_key(diagram, flag.mark), flag.sentence) for flag in diagram.flags)
    return {key: sentence for key, sentence in keys if key is not None}


def _by_process(
    deliveries: Mapping[Delivery, int], common: Iterable[Delivery]
) -> dict[str, list[Delivery]]:
    """The common deliveries of each process, in its order."""
    wanted = set(common)
    sequences: dict[str, list[Delivery]] = {}
    for key in sorted(wanted, key=deliveries.__getitem__):
        sequences.setdefault(key[0], []).append(key)
    return sequences


def _moved(
    left: Mapping[str, Sequence[Delivery]], right: Mapping[str, Sequence[Delivery]]
) -> set[Delivery]:
    moved: set[Delivery] = set()
    for process, sequence in left.items():
        rank = {key: index for index, key in enumerate(right[process])}
        kept = longest_increasing([rank[key] for key in sequence])
        moved.update(key for index, key in enumerate(sequence) if index not in kept)
    return moved


def longest_increasing(values: Sequence[int]) -> set[int]:
    """The indices of a longest increasing subsequence of different numbers."""
    tails: list[int] = []  # of each length, the index of the smallest last element
    before: list[int] = []  # of each index, the one before it in its subsequence
    for index, value in enumerate(values):
        length = bisect_left(tails, value, key=values.__getitem__)
        before.append(tails[length - 1] if length else -1)
        tails[length : length + 1] = [index]
    chosen: set[int] = set()
    last = tails[-1] if tails else -1
    while last >= 0:
        chosen.add(last)
        last = before[last]
    return chosen


def _marked(diagram: Diagram, deliveries: Mapping[Delivery, int], moved: set[Delivery]) -> Diagram:
    return replace(diagram, differs=tuple(sorted(deliveries[key] for key in moved)))
