"""Coverage: what must happen at least once. An exploration in which nothing ever waits proves little."""

from beforehand import protocols
from beforehand.checker.packed import buffers, local_steps
from beforehand.checker.setting import Setting
from beforehand.protocols.registry import EAGER, HOLD, PERMIT


def coverage(setting: Setting, bits: int) -> dict[str, bool]:
    """The conditions that a setting should meet, and whether the search met them."""
    faults = setting.faults
    protocol = protocols.find(setting.protocol)
    declared = () if protocol is None else protocol.coverage
    expected = {
        "a message was held": (HOLD in declared, local_steps.HOLD),
        "a message was sent eagerly": (EAGER in declared, local_steps.EAGER),
        "a permit was sent": (PERMIT in declared, local_steps.PERMIT),
        "a frame overtook another": (not setting.fifo, buffers.REORDERING),
        "a frame was lost": (faults.loss > 0, buffers.LOSS),
        "a frame was duplicated": (faults.duplicate > 0, buffers.DUPLICATION),
        "a timer went off": (faults.tick > 0, buffers.TICK),
    }
    return {name: bool(bits & bit) for name, (wanted, bit) in expected.items() if wanted}
