"""Output that appears when it is complete: written aside, then put in place of the old one."""

from collections.abc import Iterator
from contextlib import contextmanager

from beforehand.pipeline.storage.storage import Storage, absolute, is_near, join


@contextmanager
def replacing(storage: Storage, out: str) -> Iterator[str]:
    """A folder next to `out` to write into; at the end it takes the name `out`.

    If the block fails or is interrupted, `out` stays as it was and nothing else is left. Only a kill
    between the two renames leaves the old output under its temporary name. On an object store, where a
    rename is a copy, output that replaces nothing is written in place.
    """
    if not is_near(out) and not storage.exists(out):
        try:
            yield out
        except BaseException:
            storage.delete(out)
            raise
        return
    folder, _, name = absolute(out).rstrip("/").rpartition("/")
    new, old = (join(folder, f".{name}.{state}") for state in ("new", "old"))
    storage.delete(new)
    try:
        yield new
        storage.delete(old)
        if storage.exists(out):
            storage.rename(out, old)
        storage.rename(new, out)
    except BaseException:
        storage.delete(new)
        if storage.exists(old) and not storage.exists(out):
            storage.rename(old, out)
        raise
    storage.delete(old)
