"""How an output came about, for its note: so that every figure can be made again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from beforehand._environment import provenance


def command(words: Sequence[str]) -> str:
    """What one would type; empty if nothing that can be typed does it."""
    return shlex.join(["beforehand", *words]) if words else ""


def made(spark: SparkSession, words: Sequence[str]) -> dict[str, Any]:
    """The command that does it again, where it was done, and when."""
    found = provenance(command(words))
    jvm: Any = spark.sparkContext._jvm
    found["environment"]["Java"] = str(jvm.java.lang.System.getProperty("java.version"))
    return found
