"""Keeps Python's garbage collector from traversing, again and again, objects that will stay.

Every distinct state of a core is kept, and every copy that turns out to be known is dropped, often
with reference cycles in it. Left alone, the collector would traverse everything kept each time that some
more objects were allocated. So it runs by hand, on the young objects only.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_by_hand() -> Iterator[None]:
    """Switch automatic collection off for a while, and restore it afterwards."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def collect_and_freeze() -> None:
    """Free young garbage, and exempt all survivors from later collections."""
    gc.collect(0)
    gc.freeze()
