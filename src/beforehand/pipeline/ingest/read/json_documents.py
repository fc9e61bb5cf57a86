"""JSON documents: the whole file is one value, or each line is."""

from __future__ import annotations

import json
from typing import Any, Final

from beforehand.pipeline.ingest.read.rows import FileError

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def document(data: bytes) -> Any:
    """The value of a file that is one JSON document."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise FileError(f"not UTF-8 ({problem.reason}); save the file as UTF-8") from None
    except json.JSONDecodeError as problem:
        cut = problem.pos >= len(problem.doc.rstrip()) or "Unterminated" in problem.msg
        where = "it ends too early, so it is cut off" if cut else f"line {problem.lineno}"
        raise FileError(f"not JSON ({problem.msg}: {where}); copy or write it again") from None
    except ValueError as problem:  # such as an integer with more digits than Python reads
        raise FileError(f"not JSON that can be read ({problem}); write it again") from None
    except RecursionError:
        raise FileError("nested too deeply to be read; flatten it") from None


def written(value: Any) -> str:
    """A value as text, to be shown and compared."""
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        return "(nested too deeply to be shown)"
