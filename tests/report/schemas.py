"""Arrow schemas of the pipeline's tables; as in Spark's files, all columns are nullable."""

from __future__ import annotations

import pyarrow as pa

from beforehand.results.schema import Schema
from beforehand.results.tables import (
    audit,
    characteristics,
    comparison,
    ingest,
    metrics,
    study,
    sweep,
)


def _nullable(table: Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in table.arrow()])


EVENTS = _nullable(ingest.EVENTS)
VERDICTS = _nullable(audit.VERDICTS)
VIOLATIONS = _nullable(audit.VIOLATIONS)
PROTOCOLS = _nullable(study.PROTOCOLS)
RECOMMENDATION = _nullable(study.RECOMMENDATION)
METRICS = _nullable(sweep.METRICS)
RESULTS = _nullable(sweep.RESULTS)
TABLE1 = _nullable(metrics.TABLE1)
EXPONENTS = _nullable(metrics.EXPONENTS)
RUNS = _nullable(characteristics.RUNS)
PROCESSES = _nullable(characteristics.PROCESSES)
SUMMARIES = _nullable(characteristics.SUMMARIES)
COMPARED = _nullable(comparison.RUNS)
