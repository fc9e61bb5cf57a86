"""The tables of a sweep as Arrow declares them."""

from typing import Final

from beforehand.pipeline.schemas import EVENTS, one_of
from beforehand.results.tables import sweep

RESULTS: Final = sweep.RESULTS.arrow()

# What the tasks return: the events of a run, if they are kept, and its result.
BOTH: Final = one_of(result=RESULTS, event=EVENTS)
