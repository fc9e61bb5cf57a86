"""One violation in two runs, side by side: how it went wrong in one, and what the other did instead.

    pair = side_by_side(Run("fifo", fifo_events), Run("hybrid-sps", hybrid_events), violation)
    pair.svg            # one picture, for documents
    pair.left.svg       # or two, for pages that stack them on narrow screens
    pair.right.sentence # what the right one shows: "carol delivered alice#1, then bob#1."

Both runs must have the same workload, so that `alice#1` is the same message in both; events of real
nodes, which are named like `alice@9c017489ccba3459`, are matched without that suffix. Only the
messages of the violation's chain are drawn, and only where they matter: delivered at the sender of
the next one, and the first and the last of them at the process where the order broke. Nothing is
assumed about either run: each picture shows the deliveries as recorded and says whether causal order
was broken, kept, or not at stake because the messages were concurrent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from beforehand.errors import ReportError
from beforehand.report.diagram import panel
from beforehand.report.diagram.excerpt import Excerpt, Name, Verdict
from beforehand.report.diagram.logs import EventLike, process_labels

WIDTH: Final = 380  # pixels of one picture

_NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})


class OrderViolation(Protocol):
    """Where causal order broke; `beforehand.causality.Violation` is one."""

    @property
    def process(self) -> str:
        """Where the messages were delivered in the wrong order."""

    @property
    def chain(self) -> Sequence[Name]:
        """From the message that was delivered late to the one that was delivered too early."""


@dataclass(frozen=True)
class Run:
    """A run to compare: what to call it, such as its protocol, and its events."""

    title: str
    events: Iterable[EventLike]


@dataclass(frozen=True)
class RunPicture:
    """One of the two sides."""

    verdict: Verdict
    sentence: str  # what was delivered in which order
    svg: str


@dataclass(frozen=True)
class SideBySide:
    """Both sides, as two pictures and as one."""

    left: RunPicture
    right: RunPicture
    svg: str


def side_by_side(
    left: Run,
    right: Run,
    violation: OrderViolation,
    *,
    texts: Mapping[str, str] = _NO_TEXTS,
    width: int = WIDTH,
    themed: bool = False,
) -> SideBySide:
    """The violation, which happened in the left run, and the same messages in both.

    `texts` are the contents of messages by name, such as {"alice#1": "Where is the key?"}, to write
    next to the names. `width` is in pixels, of one picture. `themed`: use the colours of the page that
    embeds it (`assets/theme.css`). Raises `ReportError` if a run lacks one of the messages.
    """
    events = list(left.events)
    label = process_labels(events)
    process = label.get(violation.process, violation.process)
    chain = [(label.get(sender, sender), mid) for sender, mid in violation.chain]
    if len(chain) < 2:
        raise ReportError(
            "a violation without a chain of two messages or more cannot be compared; choose one of "
            "the kinds `causal` and `fifo`"
        )
    sides = [
        Excerpt(left.title, events, process, chain, texts),
        Excerpt(right.title, list(right.events), process, chain, texts),
    ]
    drawn = [side.contents() for side in sides]
    pictures = [
        RunPicture(side.verdict, side.sentence, panel.svg([contents], width, themed))
        for side, contents in zip(sides, drawn, strict=True)
    ]
    return SideBySide(pictures[0], pictures[1], panel.svg(drawn, width, themed))
