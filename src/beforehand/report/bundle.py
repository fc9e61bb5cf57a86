"""Scripts, styles and data of a page, in one file without requests.

A Content-Security-Policy forbids every request, and every script but those whose hashes it lists. So
text from a trace cannot become a script, even if it were put into the page unescaped.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

# Characters that would end a script element, or a line of JavaScript.
_ESCAPES: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


@dataclass(frozen=True)
class Script:
    """The text of a script element."""

    text: str

    @property
    def source(self) -> str:
        """Its name in a policy."""
        return f"'sha256-{b64encode(sha256(self.text.encode()).digest()).decode()}'"


@cache
def asset(name: str) -> str:
    """A file from the folder `assets`."""
    return files("beforehand.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def script(*names: str) -> Script:
    """Scripts from the folder `assets`, as one."""
    return Script("\n".join(asset(name) for name in names))


@cache
def plotly() -> Script:
    """All of Plotly."""
    from plotly.offline import get_plotlyjs

    # A script element ends at the first of these, also inside of a string.
    return Script(str(get_plotlyjs()).replace("</script", "<\\/script"))


def policy(scripts: Iterable[Script]) -> str:
    """The Content-Security-Policy of a page with these scripts."""
    allowed = " ".join(script.source for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def as_json(value: Any) -> str:
    """JSON that can stand inside of a script element of type application/json."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be written as UTF-8; names from broken files may have them.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return (
        "".join(_ESCAPES.get(letter, letter) for letter in text)
        if set(text) & set(_ESCAPES)
        else text
    )
