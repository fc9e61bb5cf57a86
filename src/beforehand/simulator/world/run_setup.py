"""What a run starts with."""

from collections.abc import Sequence
from dataclasses import dataclass

from beforehand.simulator.measures.meters import Meters
from beforehand.simulator.overlays.dynamics import OverlayDynamics
from beforehand.simulator.workloads.message_sizes import MessageSizes
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.event_queue import TimingWheel
from beforehand.simulator.world.faults import FaultPlan
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Observer
from beforehand.simulator.world.processes import Population


@dataclass(frozen=True)
class RunSetup:
    """Shared by the parts of a run; each binds what it needs when it is created."""

    queue: TimingWheel
    population: Population
    meters: Meters
    observer: Observer | None
    workload: Workload
    sizes: MessageSizes
    network: Network
    faults: FaultPlan
    overlay: OverlayDynamics | None  # None: processes do not pass on each other's messages
    seed: int
    casts: Sequence[str]  # what the protocol can send: unicasts, multicasts, broadcasts
    keeps_dropped: bool  # what had arrived from a dropped process is still delivered
    split: bool  # a message to several receivers goes out as one to each
    flush_after: int  # nanoseconds, like the two below; negative: the cores postpone nothing
    tick_every: int  # 0: never
    sample_every: int  # 0: never
