"""What must have been seen at least once: an exploration in which nothing ever waited proves little."""

from __future__ import annotations

from typing import Final

from beforehand.checker.packed import buffers as findings
from beforehand.checker.packed import local_steps as local
from beforehand.checker.setting import Setting

_HOLDING: Final = {
    *("hybrid", "hybrid-sps", "mattern", "cykas", "cykas-unsafe"),
    *("rst", "ks", "newtop", "vector", "fifo"),
}
_PERMITTING: Final = {"hybrid", "hybrid-sps", "cykas", "cykas-unsafe"}


def sometimes(setting: Setting, seen: int) -> dict[str, bool]:
    """What there is to be seen in a setting, and whether it was, from the bits of a search."""
    faults = setting.faults
    expected = {
        "a message was held": (setting.protocol in _HOLDING, local.HOLD),
        "a message was sent eagerly": (setting.protocol in _PERMITTING, local.EAGER),
        "a permit was sent": (setting.protocol in _PERMITTING, local.PERMIT),
        "a frame overtook another": (not setting.fifo, findings.REORDERING),
        "a frame was lost": (faults.loss > 0, findings.LOSS),
        "a frame was duplicated": (faults.duplicate > 0, findings.DUPLICATION),
        "a timer went off": (faults.tick > 0, findings.TICK),
    }
    return {name: bool(seen & bit) for name, (wanted, bit) in expected.items() if wanted}
