"""JSON documents: the whole file is one value, or each line is."""

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
        where = "the file is truncated" if cut else f"line {problem.lineno}"
        raise FileError(f"not JSON ({problem.msg}: {where}); copy or export it again") from None
    except ValueError as problem:  # such as an integer with more digits than Python accepts
        raise FileError(f"not readable as JSON ({problem}); export it again") from None
    except RecursionError:
        raise FileError("nested too deeply; flatten it") from None


def canonical(value: Any) -> str:
    """A value as canonical JSON, for display and comparison."""
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        return "(nested too deeply to show)"
