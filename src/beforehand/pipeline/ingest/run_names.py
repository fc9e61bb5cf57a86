"""The names of runs, from where their rows were found.

Our own traces name their runs. Each execution of a log and each causal graph is a run, named after its
file; spans and lists of one folder are one run, named after the folder. Where two would have one name,
both get longer ones: with the format, then with the folders above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

_BY_FILE: Final = frozenset({"shiviz", "graph"})
_SEPARATOR: Final = "\0"  # in no path and no label that a person wrote


class RunKey(NamedTuple):
    """What makes a run: rows with equal keys are of one."""

    format: str
    path: str  # of the file or folder; empty for a run that has a name of its own
    label: str = ""

    def __str__(self) -> str:
        return _SEPARATOR.join(self)


def key_of(format_name: str, file: str, label: str) -> RunKey:
    """The key of the run that a row belongs to."""
    label = label.replace(_SEPARATOR, " ")
    if format_name == "trace":
        return RunKey(format_name, "" if label else file, label)
    path = file if format_name in _BY_FILE else file.rpartition("/")[0]
    return RunKey(format_name, path, label)


def names_of(keys: Iterable[str]) -> dict[str, str]:
    """A name for each key, all different and as short as that allows."""
    ordered = sorted(keys)
    options = {key: _candidates(RunKey(*key.split(_SEPARATOR))) for key in ordered}
    level = dict.fromkeys(ordered, 0)
    while True:
        names = {key: options[key][min(level[key], len(options[key]) - 1)] for key in ordered}
        counts = Counter(names.values())
        longer = [
            key for key in ordered if counts[names[key]] > 1 and level[key] + 1 < len(options[key])
        ]
        if not longer:
            return _numbered(names)
        for key in longer:
            level[key] += 1


def _candidates(key: RunKey) -> list[str]:
    """Names from the shortest to the longest."""
    if not key.path:
        return [key.label]
    parts = [part for part in key.path.split("/") if part]
    last = parts[-1] if parts else key.format
    if key.format in _BY_FILE or key.format == "trace":
        found = [_stem(last), last]
    else:
        found = [last, f"{last}-{key.format}"]
    suffix = found[-1].removeprefix(last)
    for count in range(2, len(parts) + 1):
        found.append("/".join(parts[-count:]) + suffix)
    return [f"{each}/{key.label}" if key.label else each for each in found]


def _stem(name: str) -> str:
    """The name of a file without its endings."""
    plain = name.removesuffix(".gz")
    return plain.rpartition(".")[0] or plain


def _numbered(names: dict[str, str]) -> dict[str, str]:
    """The last resort: equal paths on different file systems, or a trace with the name of a folder."""
    taken: set[str] = set()
    found = {}
    for key, name in names.items():
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name}-{number}"
        taken.add(unique)
        found[key] = unique
    return found
