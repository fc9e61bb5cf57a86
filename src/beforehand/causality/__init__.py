"""Order theory: names, vector clocks, happens-before, and the oracle that judges a run.

Everything here is about what the application sees, causal-sends and deliveries, and nothing about
how a protocol gets there. It imports only `beforehand.errors`.
"""

from beforehand.causality.clocks import VectorClock
from beforehand.causality.history import CausalSend, Delivery, Event, History
from beforehand.causality.ids import MAX_PROCESS_NAME, MessageId, check_message, check_process
from beforehand.causality.oracle import Oracle
from beforehand.causality.violations import Kind, Violation

__all__ = [
    "MAX_PROCESS_NAME",
    "CausalSend",
    "Delivery",
    "Event",
    "History",
    "Kind",
    "MessageId",
    "Oracle",
    "VectorClock",
    "Violation",
    "check_message",
    "check_process",
]
