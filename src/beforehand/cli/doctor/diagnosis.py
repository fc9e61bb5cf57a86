"""One line of the examination."""

from dataclasses import dataclass
from typing import Literal

# ok: nothing to do. limited: works, but not at its best. missing: what needs it does not work.
# broken: not even the base install works.
State = Literal["ok", "limited", "missing", "broken"]


@dataclass(frozen=True)
class Diagnosis:
    """What was looked at, its state, and, unless it is ok, what that costs and what helps."""

    name: str
    state: State
    detail: str  # what is there, such as a version
    cost: str = ""
    remedy: str = ""
