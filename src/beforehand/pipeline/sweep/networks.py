"""The built-in networks: named sets of fields of a scenario.

They are typical, not measured: a rack or building, different continents, and moving phones. Delays are
one-way. All but the default count the 28 bytes of UDP and IP headers for each frame.
"""

from collections.abc import Mapping
from typing import Any, Final

Network = Mapping[str, Any]  # fields of a scenario

DEFAULT: Final = "default"
_UDP: Final = 28

NETWORKS: Final[dict[str, Network]] = {
    # The defaults of the simulator.
    DEFAULT: {},
    "lan": {
        "delay": "lognormal:200us,0.3",
        "bandwidth": "125MB/s",  # a gigabit per second
        "header": _UDP,
    },
    "wan": {
        "delay": "lognormal:40ms,0.4",
        "jitter": "exponential:5ms",
        "loss": 0.001,
        "bandwidth": "12.5MB/s",
        "header": _UDP,
    },
    "mobile": {
        "delay": "lognormal:60ms,0.6",
        "jitter": "exponential:30ms",
        "loss": 0.05,
        "duplicate": 0.01,
        "bandwidth": "625kB/s",  # five megabits per second
        "header": _UDP,
    },
}

# The fields that a network may have.
NETWORK_FIELDS: Final = (
    "delay",
    "jitter",
    "bandwidth",
    "header",
    "fifo",
    "loss",
    "duplicate",
    "partitions",
    "link",
    "tick",
    "flush",
)
