"""A deterministic simulator: any protocol, any network, any workload, from one seed.

from beforehand.simulator import Scenario, run

result = run(Scenario(protocol="hybrid", processes=10, loss=0.3, seed=7), audit=True)
print(result.metrics.latency.p99, result.violations)
"""

from beforehand.simulator.program import Program, Send
from beforehand.simulator.result import Metrics, Result
from beforehand.simulator.run import run
from beforehand.simulator.scenario import Scenario

__all__ = ["Metrics", "Program", "Result", "Scenario", "Send", "run"]
