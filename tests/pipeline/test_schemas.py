"""Tables are declared once, without Spark; what the pipeline puts into them agrees."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from beforehand.causality.violations import Violation
from beforehand.pipeline.metrics.table1 import CLAIMED
from beforehand.pipeline.schemas import arrow_schema, spark_schema
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
    """So what Spark writes is what the report expects, down to which columns may be null."""
    assert arrow_schema(spark_schema(TABLES[name])) == TABLES[name].arrow()


def test_events_are_the_trace_schema() -> None:
    """The pipeline reads what nodes and the simulator write."""
    assert ingest.EVENTS.names == list(Event._fields)
    assert {each.name for each in ingest.EVENTS if each.type == "text"} == set(TEXT)
    assert [each.name for each in ingest.EVENTS if each.type == "texts"] == ["to"]
    assert {each.name for each in ingest.EVENTS if each.nullable} == {"sender", "mid", "to"}


def test_the_comparison_of_a_study_has_all_its_figures() -> None:
    """In their order, and of their types."""
    hints = get_type_hints(ProtocolFigures)
    declared = [(each.name, each.type) for each in study.PROTOCOLS]
    assert declared == [(each.name, TYPES[hints[each.name]]) for each in fields(ProtocolFigures)]


def test_table_1_has_all_claims() -> None:
    """A claim of the paper that is added needs a column."""
    assert tuple(n for n in metrics.TABLE1.names if n.startswith("claimed_")) == CLAIMED


def test_kinds_of_violations_are_those_of_the_oracle() -> None:
    """The auditor also finds lost messages, which the oracle does not judge."""
    assert {*get_args(get_type_hints(Violation)["kind"]), "lost"} == set(violations.KINDS)
