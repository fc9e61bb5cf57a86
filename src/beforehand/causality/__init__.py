"""Order theory: happens-before between application messages, and the oracle that judges a run.

Everything here is about what the application observes, causal-sends and deliveries, and nothing about
how a protocol works. In reading order:

- `ids.py`: names of processes and messages; `clocks.py`: vector clocks over causal-sends.
- `history.py`: the events of each process, happens-before, and shortest chains between messages.
- `oracle.py`: judges deliveries as they happen, one clock comparison each.
- `violations.py`: what it reports: the kind, the witness, and a sentence.
"""

from beforehand.causality.clocks import VectorClock
from beforehand.causality.history import CausalSend, Delivery, History, HistoryEvent
from beforehand.causality.ids import MAX_PROCESS_NAME, MessageId, check_message, check_process
from beforehand.causality.oracle import Oracle
from beforehand.causality.violations import Violation, ViolationKind

__all__ = [
    "MAX_PROCESS_NAME",
    "CausalSend",
    "Delivery",
    "History",
    "HistoryEvent",
    "MessageId",
    "Oracle",
    "VectorClock",
    "Violation",
    "ViolationKind",
    "check_message",
    "check_process",
]
