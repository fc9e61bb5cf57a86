"""The tables that the tests of the report make up have the columns and types of the real ones.

That the report equals the tables of a real study and a real sweep is tested where these are made:
tests/pipeline/study/test_study.py and tests/pipeline/metrics/test_metrics.py.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from beforehand.pipeline import schemas as real
from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.characterise import schemas as characteristics
from beforehand.pipeline.metrics.exponents import EXPONENTS
from beforehand.pipeline.metrics.table1 import TABLE1
from beforehand.pipeline.study.schemas import PROTOCOLS, RECOMMENDATION
from beforehand.pipeline.sweep import RESULTS
from beforehand.report.reading import columns
from tests.report import schemas

PAIRS = {
    "events": (schemas.EVENTS, real.EVENTS),
    "verdicts": (schemas.VERDICTS, real.VERDICTS),
    "violations": (schemas.VIOLATIONS, real.VIOLATIONS),
    "protocols": (schemas.PROTOCOLS, PROTOCOLS),
    "recommendation": (schemas.RECOMMENDATION, RECOMMENDATION),
    "results": (schemas.RESULTS, RESULTS),
    "table1": (schemas.TABLE1, TABLE1),
    "exponents": (schemas.EXPONENTS, EXPONENTS),
    "runs": (schemas.RUNS, characteristics.RUNS),
    "processes": (schemas.PROCESSES, characteristics.PROCESSES),
    "summaries": (schemas.SUMMARIES, characteristics.SUMMARIES),
}
MEANINGS = {
    "verdicts": columns.VERDICTS,
    "protocols": columns.PROTOCOLS,
    "results": columns.RESULTS,
    "table1": columns.TABLE1,
    "exponents": columns.EXPONENTS,
    **columns.CHARACTERISTICS,
}


@pytest.mark.parametrize("name", PAIRS)
def test_made_up_tables_are_like_the_real_ones(name: str) -> None:
    """Names, order and types; whether a column may be null is not told by files of Spark."""
    made_up, declared = PAIRS[name]
    found = arrow_schema(declared)
    assert made_up.names == found.names
    assert [str(each.type).replace(" not null", "") for each in made_up] == [
        str(each.type).replace(" not null", "") for each in found
    ]


@pytest.mark.parametrize("name", MEANINGS)
def test_every_column_has_a_meaning(name: str) -> None:
    """A new column of the pipeline needs a line in columns.py; no line is about nothing."""
    declared: StructType = PAIRS[name][1]
    shown = {each.name for each in declared if not isinstance(each.dataType, StructType)}
    extra = {"title", "seconds_per_message"}  # made by the report
    unexplained = shown - MEANINGS[name].keys() - {"series", "scenario"}
    assert not unexplained
    # Names that several tables share come from one place, and need not be in all of them.
    assert MEANINGS[name].keys() - shown - extra - columns.SHARED == set()


def test_arrow_knows_all_types() -> None:
    """The comparison above compares something."""
    assert pa.types.is_list(schemas.RESULTS.field("series").type)
