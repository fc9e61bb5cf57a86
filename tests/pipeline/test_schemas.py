"""Tables are declared once, without an engine, and match what the pipeline writes."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from beforehand.causality.violations import Violation
from beforehand.pipeline.engine.spark import arrow_schema, spark_schema
from beforehand.pipeline.metrics.claims import Claim
from beforehand.pipeline.study.figures import ProtocolFigures
from beforehand.results import violations
from beforehand.results.schema import Schema
from beforehand.results.tables import audit, characteristics, ingest, metrics, study, sweep
from beforehand.trace import Event
from beforehand.trace.parquet import TEXT

TABLES = {
    f"{module.__name__.rpartition('.')[2]}-{name}": table
    for module in (audit, characteristics, metrics, study, sweep, ingest)
    for name, table in vars(module).items()
    if isinstance(table, Schema)
}
TYPES = {str: "text", int: "integer", float: "real", bool: "boolean"}


@pytest.mark.parametrize("name", TABLES)
def test_spark_and_arrow_derive_the_same_columns(name: str) -> None:
    """What Spark writes is what the report expects, including which columns may be null."""
    declared = TABLES[name].arrow()
    assert arrow_schema(spark_schema(declared)) == declared


def test_the_events_table_has_the_trace_schema() -> None:
    """The pipeline reads what nodes and the simulator write."""
    assert ingest.EVENTS.names == list(Event._fields)
    assert {column.name for column in ingest.EVENTS if column.type == "text"} == set(TEXT)
    assert [column.name for column in ingest.EVENTS if column.type == "texts"] == ["to"]
    assert {column.name for column in ingest.EVENTS if column.nullable} == {"sender", "mid", "to"}


def test_the_protocols_table_of_a_study_has_every_figure() -> None:
    """The columns have the order and the types of the dataclass."""
    hints = get_type_hints(ProtocolFigures)
    declared = [(column.name, column.type) for column in study.PROTOCOLS]
    assert declared == [(field.name, TYPES[hints[field.name]]) for field in fields(ProtocolFigures)]


def test_table_1_has_a_column_for_every_claim() -> None:
    """Adding a claim from the paper requires adding a column."""
    claimed = [f"claimed_{field.name}" for field in fields(Claim) if field.name != "protocol"]
    assert [name for name in metrics.TABLE1.names if name.startswith("claimed_")] == claimed


def test_violation_kinds_match_the_oracle() -> None:
    """The auditor also reports lost messages, which the oracle does not judge."""
    assert {*get_args(get_type_hints(Violation)["kind"]), "lost"} == set(violations.KINDS)
