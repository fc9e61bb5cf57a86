"""Coverage: what must happen at least once. An exploration in which nothing ever waits proves little."""

from __future__ import annotations

from typing import Final

from beforehand.checker.packed import buffers, local_steps
from beforehand.checker.setting import Setting

_HOLDING: Final = {
    *("hybrid", "hybrid-sps", "mattern", "cykas", "cykas-unsafe"),
    *("rst", "ks", "newtop", "vector", "fifo"),
}
_PERMITTING: Final = {"hybrid", "hybrid-sps", "cykas", "cykas-unsafe"}


def coverage(setting: Setting, bits: int) -> dict[str, bool]:
    """The conditions that a setting should meet, and whether the search met them."""
    faults = setting.faults
    expected = {
        "a message was held": (setting.protocol in _HOLDING, local_steps.HOLD),
        "a message was sent eagerly": (setting.protocol in _PERMITTING, local_steps.EAGER),
        "a permit was sent": (setting.protocol in _PERMITTING, local_steps.PERMIT),
        "a frame overtook another": (not setting.fifo, buffers.REORDERING),
        "a frame was lost": (faults.loss > 0, buffers.LOSS),
        "a frame was duplicated": (faults.duplicate > 0, buffers.DUPLICATION),
        "a timer went off": (faults.tick > 0, buffers.TICK),
    }
    return {name: bool(bits & bit) for name, (wanted, bit) in expected.items() if wanted}
