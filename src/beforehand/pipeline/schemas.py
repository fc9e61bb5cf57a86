"""The tables of `beforehand.results` that several stages share, as Arrow declares them."""

from typing import Final

import pyarrow as pa

from beforehand.results.tables import audit, ingest

EVENTS: Final = ingest.EVENTS.arrow()
MESSAGES: Final = ingest.MESSAGES.arrow()
REJECTS: Final = ingest.REJECTS.arrow()
FILES: Final = ingest.FILES.arrow()
VERDICTS: Final = audit.VERDICTS.arrow()
VIOLATIONS: Final = audit.VIOLATIONS.arrow()


def one_of(**tables: pa.Schema) -> pa.Schema:
    """A table whose rows are each a row of one of these: exactly one column isn't null."""
    return pa.schema([pa.field(name, pa.struct(list(table))) for name, table in tables.items()])
