"""The tables of a study as Arrow declares them."""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from beforehand.pipeline.engine import PipelineEngine
from beforehand.results.tables import study

PROTOCOLS: Final = study.PROTOCOLS.arrow()  # one row per ProtocolFigures
RECOMMENDATION: Final = study.RECOMMENDATION.arrow()


def write_rows(
    engine: PipelineEngine, rows: Sequence[dict[str, Any]], schema: pa.Schema, path: str
) -> None:
    """Write a table of few rows, over one that is there."""
    engine.table(pa.Table.from_pylist(list(rows), schema=schema)).write(path)
