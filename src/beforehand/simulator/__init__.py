"""A deterministic simulator: any protocol, any network, any workload, from one seed.

    from beforehand.simulator import Scenario, run

    result = run(Scenario(processes=10, delay="5ms", loss="30%", seed=7), audit=True)
    print(result.metrics.latency.p99, result.violations)

Reading order:

    scenario.py            what to run; units.py and specs.py parse its fields
    overlay_setup.py       its overlay, checked against what the protocol needs
    program.py             a partial order of sends, to be replayed
    run.py                 builds a `Simulation` from a scenario and runs it
    world/                 the run itself: event queue, processes, transport, network, faults
    workloads/, overlays/  who sends what to whom; who is whose neighbour
    measures/, result.py   what is measured, and the figures of a finished run
"""

from beforehand.simulator.program import Program, Send
from beforehand.simulator.result import Metrics, Result
from beforehand.simulator.run import run
from beforehand.simulator.scenario import Scenario

__all__ = ["Metrics", "Program", "Result", "Scenario", "Send", "run"]
