"""The names of runs, derived from their sources.

Our own traces name their runs. Each execution of a log and each causal graph is a run, named after its
file; spans and lists of one folder are one run, named after the folder. Where two names would clash,
both get longer: with the format, then with the parent folders.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

_BY_FILE: Final = frozenset({"shiviz", "graph"})
_SEPARATOR: Final = "\0"  # occurs in no path and in no label


class RunKey(NamedTuple):
    """The identity of a run: rows with equal keys belong to the same one."""

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
    """A name for each key, unique and otherwise as short as possible."""
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
    """Names from shortest to longest."""
    if not key.path:
        return [key.label]
    parts = [part for part in key.path.split("/") if part]
    last = parts[-1] if parts else key.format
    if key.format in _BY_FILE or key.format == "trace":
        names = [_stem(last), last]
    else:
        names = [last, f"{last}-{key.format}"]
    suffix = names[-1].removeprefix(last)
    for count in range(2, len(parts) + 1):
        names.append("/".join(parts[-count:]) + suffix)
    return [f"{name}/{key.label}" if key.label else name for name in names]


def _stem(name: str) -> str:
    """The name of a file without its extensions."""
    plain = name.removesuffix(".gz")
    return plain.rpartition(".")[0] or plain


def _numbered(names: dict[str, str]) -> dict[str, str]:
    """The last resort: equal paths on different file systems, or a trace with the name of a folder."""
    taken: set[str] = set()
    numbered = {}
    for key, name in names.items():
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name}-{number}"
        taken.add(unique)
        numbered[key] = unique
    return numbered
