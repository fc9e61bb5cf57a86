"""What the tables have in common: results that count, and fields of scenarios as columns."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from beforehand.simulator.units import BYTES, NANOSECONDS


def succeeded(results: DataFrame) -> DataFrame:
    """The results without failed runs."""
    return results.where(sf.col("error").isNull())


def scenario(name: str) -> Column:
    """A field of the scenario, as text; null if it is null there."""
    return sf.get_json_object("scenario", f"$.{name}")


def bytes_per_second(text: Column) -> Column:
    """Of a rate like 50kB/s."""
    return _amount(sf.regexp_replace(text, "/s$", ""), BYTES)


def nanoseconds(text: Column) -> Column:
    """Of a duration like 5ms; of a distribution like normal:25ms,5ms, what it has first: its middle."""
    return _amount(sf.regexp_extract(text, r"^(?:[a-z]+:)?([^,]*)", 1), NANOSECONDS)


def _amount(text: Column, units: Mapping[str, int]) -> Column:
    form = r"^\s*([0-9.]+)\s*([a-zA-Z]*)\s*$"
    table = sf.create_map(*[sf.lit(value) for pair in units.items() for value in pair])
    number = sf.nullif(sf.regexp_extract(text, form, 1), sf.lit("")).cast("double")
    return number * table[sf.regexp_extract(text, form, 2)]
