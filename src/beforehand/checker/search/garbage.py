"""Keeping the garbage collector from looking again and again at what will stay.

Every distinct state of a core is kept, and every copy that turns out to be known is thrown away, often
with cycles in it. The collector would walk over all that is kept, each time that some more was made. So
it is told when to look, and at what.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_by_hand() -> Iterator[None]:
    """The collector does nothing on its own; afterwards everything is as it was before."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def keep_from_collector() -> None:
    """Throw away what was made lately and is not used, and never look at the rest again."""
    gc.collect(0)
    gc.freeze()
